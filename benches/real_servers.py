#!/usr/bin/env python3
"""Debian's nginx-light and haproxy beside our policies: the same load, and whether the same comes of it.

    benches/real_servers.py [--seeds 1] [--ops 1000] [--rate 200/s] [--only nginx-limit_req]

Every case is a limit of nginx or HAProxy before a slow server (a mockserver that serves everybody, 500 ms each), and the
policy of ours that should do the same. `loadgen` runs the same load (equal seeds, arrivals and back-off draws, in real time)
against the real server, against a `mockserver` with the policy, and in virtual time. Held against each other are attempts, and
what was accepted by each whole second: both within 3 % (of the attempts, of all that was accepted), else it exits with 1.

What is missing is installed with `apt-get` where that may be done (as root); no service of it is started. Where it cannot be
installed, its cases are left out: `SKIPPED: nginx is missing`. Configurations and what the servers write are in a temporary folder,
and all of them listen on free ports of 127.0.0.1. It takes seven minutes a seed, and prints
the table of docs/servers.md. Whoever may (root) measures with real-time priority, so that other work on the machine does not
delay what comes every few milliseconds; without it the machine has to be quiet.
"""

import argparse
import bisect
import collections
import datetime
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIST = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "dist")
# Debian keeps both where only root's path leads.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"

# How far apart two of the same may lie.
BAND = 0.03

# One stall of the machine by some milliseconds can make another run of it, at the real server as at ours: what differs is
# measured again, and the table says so. What differs by its rules does so at every try.
TRIES = 3

SERVICE = "500ms"
# All that takes time is the service itself, as it is behind nginx; a rejection of nginx holds no place.
OURS = ["--network-delay", "0", "--reject-time", "0", "--rejects-occupy", "false", "--service-time", SERVICE]
# A real server tells no wait; ours could.
NO_ADVICE = ["--advice", "none"]

BACKING_OFF = "full-jitter:base=500ms,cap=5s"

# Name, what the real server is told, our policy, strategies. `aimd` is not held against a rate without a burst: its window falls
# to one there, and in virtual time alone its attempts differ by a quarter from seed to seed.
#
# `tailback` is measured there, but not judged: it sends as evenly as the limit demands, so an attempt that is a millisecond late is
# rejected and lowers its rate. In virtual time, a delay noise of 2 ms costs it 0.9 s of 16.5 s.
UNJUDGED = {("nginx-limit_req", "tailback")}
Case = collections.namedtuple("Case", "name directive policy strategies")
CASES = [
    Case("nginx-limit_conn", "limit_conn conn 50;", "concurrency:cap=50", ["aimd", "tailback", BACKING_OFF, "none"]),
    Case("nginx-limit_req", "limit_req zone=plain;", "leaky-queue:rate=100/s", ["tailback", BACKING_OFF, "none"]),
    Case("nginx-limit_req-burst", "limit_req zone=burst burst=20;", "leaky-queue:rate=100/s,burst=20",
         ["aimd", "tailback", BACKING_OFF, "none"]),
    Case("nginx-limit_req-nodelay", "limit_req zone=nodelay burst=20 nodelay;",
         "leaky-queue:rate=100/s,burst=20,delay=unlimited", ["aimd", BACKING_OFF, "none"]),
    Case("haproxy-maxconn", "maxconn 50, timeout queue 1s", "concurrency:cap=50,queue=1000000,queue-timeout=1s",
         ["aimd", BACKING_OFF, "none"]),
]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--seeds", type=int, default=1, metavar="N", help="runs of every case, with the seeds 1, 2, … N")
    args.add_argument("--ops", type=int, default=1000)
    args.add_argument("--rate", default="200/s", help="at which ops arrive")
    args.add_argument("--only", default="", metavar="WORDS", help="cases whose names have these words")
    args.add_argument("--programs", metavar="FOLDER", help="folder with loadgen and mockserver [default: build them]")
    args = args.parse_args()
    cases = [case for case in CASES if args.only in case.name]
    if not cases:
        sys.exit(f"error: no case has `{args.only}` in its name: " + ", ".join(case.name for case in CASES))
    missing = install(sorted({server_of(case) for case in cases}, reverse=True))
    for server in missing:
        print(f"SKIPPED: {server} is missing", flush=True)
    cases = [case for case in cases if server_of(case) not in missing]
    if not cases:
        return 0
    if not args.programs:
        subprocess.run(["cargo", "build", "--profile", "dist", "--bins"], cwd=ROOT, check=True)
    global DIST
    DIST = args.programs or DIST
    be_punctual()
    print_head(args, sorted({server_of(case) for case in cases}, reverse=True))
    within = True
    with tempfile.TemporaryDirectory(prefix="real-servers-") as folder, Started() as started:
        behind = started.mockserver("--max-busy", "1000000")
        ports = {}
        for server in {server_of(case) for case in cases}:
            ports |= {"nginx": started.nginx, "haproxy": started.haproxy}[server](folder, behind)
        for seed in range(1, args.seeds + 1):
            for case, strategy in ((case, strategy) for case in cases for strategy in case.strategies):
                load = ["-s", strategy, "--ops", str(args.ops), "--rate", args.rate, "--seed", str(seed)]
                for tries in range(1, TRIES + 1):
                    row = Row(case, strategy, seed, tries, *three(started, load, case, ports[case.name], behind))
                    if row.within() or not row.is_judged():
                        break
                    print(f"differs, try {tries} of {TRIES}: {row}", file=sys.stderr, flush=True)
                print(row, flush=True)
                within &= row.within() or not row.is_judged()
    return 0 if within else 1


def server_of(case):
    """Returns the program that enforces a case's limit."""
    return case.name.split("-")[0]


def install(servers):
    """Installs the servers that are missing, and returns those that cannot be installed."""
    packages = {"nginx": "nginx-light", "haproxy": "haproxy"}

    def missing():
        return [server for server in servers if not shutil.which(server, path=PATH)]

    if not missing():
        return []
    command = ["apt-get", "install", "-y", "--no-install-recommends", *(packages[server] for server in missing())]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"on Debian, install what is missing with `sudo {' '.join(command)}`; elsewhere, put nginx (with limit_conn and"
              " limit_req) and haproxy on the PATH", file=sys.stderr)
        return missing()
    print(f"installing {' '.join(command[4:])}", file=sys.stderr)
    # In runlevel 1 Debian's packages start no service.
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive", RUNLEVEL="1")
    subprocess.run(["apt-get", "update"], env=environment, stdout=sys.stderr, check=False)
    if subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode != 0:
        print(f"warning: `{' '.join(command)}` failed", file=sys.stderr)
    return missing()


def be_punctual():
    """Goes before other programs of this machine, with all that is started from now on."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except (AttributeError, PermissionError):
        print("without real-time priority (root has it): what other programs do shows in the figures", file=sys.stderr)


class Started:
    """Programs that end with the measurement."""

    def __enter__(self):
        self.children = []
        # Whoever stops this stops them, too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return self

    def __exit__(self, *_):
        for child in list(self.children):
            self.end(child)

    def end(self, child):
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self.children.remove(child)

    def start(self, command, port, **more):
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, **more)
        self.children.append(child)
        for _ in range(500):
            if child.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return child
            except OSError:
                time.sleep(0.02)
        sys.exit(f"error: `{' '.join(command)}` does not listen on port {port}")

    def mockserver(self, *flags):
        port = free_port()
        self.start([f"{DIST}/mockserver", "--listen", f"127.0.0.1:{port}", "--quiet", *OURS, *flags], port)
        return port

    def nginx(self, folder, behind):
        """All its cases; the port of each by name."""
        cases = [case for case in CASES if case.name.startswith("nginx")]
        ports = {case.name: free_port() for case in cases}
        # loadgen is to take it for a foreign server, so what it would know a mockserver by is not there: then it neither sends
        # nor reads headers of ours.
        servers = "\n".join(
            f"  server {{ listen 127.0.0.1:{ports[case.name]} backlog=4096; server_name limited;\n"
            f"    location / {{ {case.directive} proxy_pass http://behind; }}\n"
            f"    location /_mock/ {{ return 404; }} }}" for case in cases)
        temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("proxy", "fastcgi", "uwsgi", "scgi"))
        config = f"""daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 8000; }}
http {{
  access_log off; client_body_temp_path {folder}/body; {temporary}
  keepalive_requests 1000000; tcp_nodelay on;
  limit_conn_zone $server_name zone=conn:1m;
  limit_req_zone $server_name zone=plain:1m rate=100r/s;
  limit_req_zone $server_name zone=burst:1m rate=100r/s;
  limit_req_zone $server_name zone=nodelay:1m rate=100r/s;
  upstream behind {{ server 127.0.0.1:{behind}; keepalive 2000; keepalive_requests 1000000; }}
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering on;
{servers}
}}
"""
        written(f"{folder}/nginx.conf", config)
        command = [shutil.which("nginx", path=PATH), "-p", folder, "-c", "nginx.conf", "-e", "error.log"]
        self.start(command, ports[cases[0].name])
        return ports

    def haproxy(self, folder, behind):
        port = free_port()
        config = f"""global
  maxconn 8000
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout queue 1s
frontend limited
  bind 127.0.0.1:{port} backlog 4096
  default_backend slow
backend slow
  http-request return status 404 if {{ path_beg /_mock/ }}
  server behind 127.0.0.1:{behind} maxconn 50
"""
        written(f"{folder}/haproxy.cfg", config)
        self.start([shutil.which("haproxy", path=PATH), "-q", "-db", "-f", f"{folder}/haproxy.cfg"], port)
        return {"haproxy-maxconn": port}


def written(path, text):
    with open(path, "w") as file:
        file.write(text)


def free_port():
    """Free now; whoever listens says so when it is not any more."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# What a run came to: attempts, and when each success ended, in order.
Came = collections.namedtuple("Came", "attempts ends")


def three(started, load, case, port, behind):
    """The same load against the real server, against ours, and in virtual time."""
    before = received(behind)
    real = run([*load, "--target", f"http://127.0.0.1:{port}/"])
    let_through = received(behind) - before
    if let_through != len(real.ends):
        sys.exit(f"error: {let_through} requests came through {case.name}, but loadgen counts {len(real.ends)} as accepted")
    policy = ["--policy", case.policy, *NO_ADVICE]
    own = started.mockserver(*policy)
    over_http = run([*load, "--target", f"http://127.0.0.1:{own}/"])
    started.end(started.children[-1])
    return real, over_http, run([*load, "--simulate", "--delay-noise", "0", *OURS, *policy])


def received(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/_mock/stats", timeout=10) as answer:
        return json.load(answer)["received"]


def run(args):
    with tempfile.TemporaryDirectory() as folder:
        samples = f"{folder}/samples.ndjson"
        command = [f"{DIST}/loadgen", *args, "--quiet", "--json", "-", "--samples", samples]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            sys.exit(f"error: `{' '.join(command)}` ended with {done.returncode}")
        attempts = json.loads(done.stdout)["attempts"]
        with open(samples) as lines:
            ended = (json.loads(line) for line in lines)
            ends = sorted(line["ended_s"] for line in ended if line["outcome"] == "succeeded")
    if attempts["failed"]:
        sys.exit(f"error: {attempts['failed']} attempts of `{' '.join(command)}` failed: nobody rejects them")
    return Came(attempts["total"], ends)


class Row:
    """A case, a strategy and a seed, and what came of it in all three."""

    def __init__(self, case, strategy, seed, tries, real, over_http, simulated):
        self.case, self.strategy, self.seed, self.tries = case, strategy, seed, tries
        self.real, self.ours = real, (over_http, simulated)

    def attempts_apart(self):
        """Of ours, each as a share of the real server's."""
        return [ours.attempts / self.real.attempts - 1 for ours in self.ours]

    def accepted_apart(self):
        """The widest gap between what was accepted by a whole second there and here, as a share of all that was there."""
        return [gap(ours.ends, self.real.ends) / len(self.real.ends) for ours in self.ours]

    def is_judged(self):
        return (self.case.name, self.strategy) not in UNJUDGED

    def within(self):
        return max(map(abs, self.attempts_apart() + self.accepted_apart())) <= BAND

    def __str__(self):
        attempts = [f"{ours.attempts} ({percent(apart)})" for ours, apart in zip(self.ours, self.attempts_apart())]
        accepted = [len(came.ends) for came in (self.real, *self.ours)]
        verdict = ("within 3 %" if self.within() else "**differs**") + f", try {self.tries}" * (self.tries > 1)
        if not self.is_judged():
            verdict = "not judged"
        cells = [self.case.name, f"`{self.strategy}`", self.seed, self.real.attempts, *attempts, *accepted,
                 *map(percent, self.accepted_apart()), verdict]
        return "| " + " | ".join(map(str, cells)) + " |"


def percent(share):
    # Without the minus of a share that rounds to zero.
    return f"{round(share * 100, 1) + 0.0:+.1f} %"


def gap(ours, real):
    """The widest, in successes, with its sign."""
    seconds = range(1, int(max(ours[-1], real[-1])) + 2)
    gaps = [bisect.bisect_right(ours, second) - bisect.bisect_right(real, second) for second in seconds]
    return max(gaps, key=abs)


def print_head(args, servers):
    print(f"{versions(servers)}, {datetime.date.today()}; {args.ops} ops, Poisson {args.rate}, service of {SERVICE}\n")
    print("| server | strategy | seed | attempts there | HTTP | virtual time | accepted there | HTTP | virtual time"
          " | widest gap, HTTP | virtual time | |")
    print("|---|---|" + "---:|" * 9 + "---|", flush=True)


def versions(servers):
    def said(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (done.stdout + done.stderr).strip().splitlines()[0]

    def version(server):
        return said(shutil.which(server, path=PATH), "-v").removeprefix("nginx version: ").split(" - ")[0]

    return "; ".join(map(version, servers))


if __name__ == "__main__":
    sys.exit(main())
