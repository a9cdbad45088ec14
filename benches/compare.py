#!/usr/bin/env python3
"""Whole programs side by side against one mockserver that rejects at once: loadgen with its transports, bare loops on
reqwest and on hyper, oha, wrk, and h2load for HTTP/2.

    benches/compare.py [--rounds 5] [--requests 200000] [--connections 50,1000] [--skip looking,memory,lag,held]
                       [--before LOADGEN] [--no-build]
    benches/compare.py --instructions
    benches/compare.py --simulated --before LOADGEN

Every round runs each program once, in turn, so that drift of the machine hits all alike; printed are medians over
rounds, and ratios of each round's pairs. Needs wrk and h2load (Debian packages `wrk` and `nghttp2-client`) and oha
(`cargo install oha --locked`) on the PATH: a missing peer is an error, not a gap in the table. After the tables come the cost of looking (the
dashboard on a pseudo-terminal, in interleaved pairs), peak memory against the number of requests, send lag, and attempts held in
flight.

With two cores or more the server has the first for itself, and every client shares the others; with `--threads 2`, and in
the dashboard's table, clients may use all.

`--instructions` counts user instructions per attempt under valgrind's callgrind instead: the figure that is the same on
every run, for finding regressions.

`--simulated` compares attempts per second in virtual time, on one thread: of an older build and of this one, and of the default
server and the same server named by `--policy`.
"""

import argparse
import concurrent.futures
import json
import os
import pty
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIST = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "dist")
ADDRESS = "127.0.0.1:8519"
URL = f"http://{ADDRESS}/"


CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE = CORES[:1]
CLIENT_CORES = CORES[1:] or CORES


def on(cores):
    """Begins a command that is to run on these cores."""
    return ["taskset", "-c", ",".join(map(str, cores))]


def build():
    subprocess.run(["cargo", "build", "--profile", "dist", "--bins", "--example", "bare_reqwest_loop",
                    "--example", "bare_hyper_loop"], cwd=ROOT, check=True)
    installed_by = {"wrk": "apt-get install wrk", "h2load": "apt-get install nghttp2-client",
                    "oha": "cargo install oha --locked"}
    for peer, command in installed_by.items():
        if not shutil.which(peer):
            sys.exit(f"error: {peer} is missing: install it with `{command}`")


def serve(max_busy="1", service_time="10ms"):
    server = subprocess.Popen([
        *on(SERVER_CORE),
        f"{DIST}/mockserver", "--listen", ADDRESS, "--max-busy", max_busy, "--service-time", service_time,
        "--reject-time", "0", "--network-delay", "0", "--threads", "1", "--http2-max-streams", "200000", "--quiet",
    ])
    for _ in range(200):
        try:
            urllib.request.urlopen(f"{URL}_mock/stats", timeout=1).read()
            return server
        except OSError:
            if server.poll() is not None:
                sys.exit("error: the mockserver did not start")
            time.sleep(0.02)
    sys.exit("error: the mockserver does not answer")


def measured(command):
    """Runs a command; returns its stdout, processor seconds and peak memory in bytes."""
    return measured_with_own_pages(command)[:3]


def measured_with_own_pages(command):
    """The same, and how much of that was never a page of a file."""
    # Not `ru_maxrss`: it starts with the memory of this program, which forked.
    peak = own = 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    chunks = []
    reader = threading.Thread(target=lambda: chunks.append(process.stdout.read()))
    reader.start()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        peak, own = max(peak, held_now(process.pid, "VmHWM")), max(own, held_now(process.pid, "RssAnon"))
        time.sleep(0.05)
    reader.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: `{' '.join(command)}` ended with {process.returncode}")
    return chunks[0].decode(), usage.ru_utime + usage.ru_stime, peak, own


def held_now(pid, which):
    """What the system says that a process holds, in bytes; 0 when it is just ending."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith(f"{which}:")), 0)
    except OSError:
        return 0


def closed_loop(connections, requests, *more, cores=CLIENT_CORES, program=f"{DIST}/loadgen"):
    """The command of so many clients that ask again as soon as they are answered."""
    return [
        *on(cores),
        program, "--strategy", "none", "--in-flight", str(connections), "--ops", str(requests),
        "--target", URL, "--no-tui", "--quiet", "--json", "-", *more,
    ]


def loadgen(connections, requests, *more, **where):
    output, cpu, rss = measured(closed_loop(connections, requests, *more, **where))
    result = json.loads(output)
    if result["attempts"]["failed"]:
        sys.exit(f"error: {result['attempts']['failed']} attempts of loadgen failed")
    return result["attempts"]["total"], result["wall_s"], cpu, rss


def over(*flags):
    """loadgen with these flags."""
    return lambda connections, requests: loadgen(connections, requests, *flags)


def bare(library):
    def run(connections, requests):
        program = f"{DIST}/examples/bare_{library}_loop"
        output, cpu, rss = measured([*on(CLIENT_CORES), program, URL, str(connections), str(requests)])
        result = json.loads(output)
        return result["requests"], result["seconds"], cpu, rss
    return run


def oha(connections, requests):
    output, cpu, rss = measured([
        *on(CLIENT_CORES), "oha", "-n", str(requests), "-c", str(connections), "--no-tui", "--output-format", "json", URL,
    ])
    return requests, json.loads(output)["summary"]["total"], cpu, rss


def wrk(connections, requests):
    # wrk runs for a time, not for a number: about as long as the others need.
    seconds = max(2, round(requests / 60_000))
    output, cpu, rss = measured([*on(CLIENT_CORES), "wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", URL])
    count, took = re.search(r"(\d+) requests in ([\d.]+)s", output).groups()
    return int(count), float(took), cpu, rss


def h2load(connections, requests):
    output, cpu, rss = measured([
        *on(CLIENT_CORES), "h2load", "-n", str(requests), "-c", "1", "-m", str(connections), "-t", "1", URL,
    ])
    took, unit = re.search(r"finished in ([\d.]+)(ms|s)", output).groups()
    return requests, float(took) * (0.001 if unit == "ms" else 1), cpu, rss


PEERS = {
    "loadgen": over(),
    "loadgen, reqwest": over("--transport", "reqwest"),
    "bare reqwest loop": bare("reqwest"),
    "bare hyper loop": bare("hyper"),
    "oha": oha,
    "wrk": wrk,
}

PEERS_OVER_HTTP2 = {"loadgen --http2": over("--http2"), "h2load": h2load}


def compare(peers, connections, requests, rounds):
    rows = {name: [] for name in peers}
    own = rows[next(iter(peers))]
    for number in range(rounds):
        for name, peer in peers.items():
            count, seconds, cpu, rss = peer(connections, requests)
            rows[name].append((count / seconds, cpu / count * 1e6, rss))
            print(f"\rround {number + 1}/{rounds}: {name:<20}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"\n{connections} connections, {requests} requests, {rounds} rounds (medians; ratios: loadgen / peer, round by round)\n")
    print("| program | requests/s | CPU µs per request | peak memory MiB | requests/s ratio | CPU ratio |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, samples in rows.items():
        rate, cpu, rss = (statistics.median(column) for column in zip(*samples))
        rates = statistics.median(ours[0] / peer[0] for ours, peer in zip(own, samples))
        cpus = statistics.median(ours[1] / peer[1] for ours, peer in zip(own, samples))
        print(f"| {name} | {rate:,.0f} | {cpu:.1f} | {rss / 2**20:.1f} | {rates:.2f} | {cpus:.2f} |")


def on_a_terminal(requests):
    """Attempts per second of loadgen with its dashboard drawn."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (40, 120))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "result.json")
        process = subprocess.Popen([
            f"{DIST}/loadgen", "--strategy", "none", "--in-flight", "50", "--ops", str(requests), "--target", URL,
            "--json", file,
        ], stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm-256color"})
        os.close(slave)
        drawn = []
        reader = threading.Thread(target=swallow, args=(master, drawn))
        reader.start()
        if process.wait() != 0:
            sys.exit(f"error: loadgen on a terminal ended with {process.returncode}")
        reader.join()
        if sum(drawn) < 10_000:
            sys.exit("error: the dashboard was not drawn")
        with open(file) as written:
            result = json.load(written)
    return result["attempts"]["total"] / result["wall_s"]


def swallow(master, drawn):
    """Reads what is drawn, until the other side is closed, and notes how much it was."""
    try:
        while chunk := os.read(master, 65536):
            drawn.append(len(chunk))
    except OSError:
        pass


def looking(requests, most_pairs=30, claim=0.03):
    """The dashboard's cost: pairs of runs with and without, in turn, until what they leave open is less than the claim."""
    ratios = []
    while len(ratios) < most_pairs:
        count, seconds, *_ = loadgen(50, requests, cores=CORES)
        ratios.append(on_a_terminal(requests) / (count / seconds))
        # The middle of so many pairs is known to about this.
        quarters = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [0, 0, 1]
        spread = 1.25 * (quarters[2] - quarters[0]) / 1.35 / len(ratios) ** 0.5
        print(f"\rpair {len(ratios)}: {ratios[-1]:.3f}", end="", file=sys.stderr, flush=True)
        if len(ratios) >= 10 and spread < claim / 3:
            break
    print(file=sys.stderr)
    print(f"\nWith the dashboard loadgen sends {statistics.median(ratios):.3f} ± {spread:.3f} of the requests/s that it sends "
          f"without ({len(ratios)} pairs, from {min(ratios):.3f} to {max(ratios):.3f}).")


def threads(requests, rounds):
    """A second thread, and two programs with half of the connections each (clients sharded over threads would save no more than
    that), against one thread; on all cores but the server's where there are three, else on all."""
    cores = CLIENT_CORES if len(CLIENT_CORES) > 1 else CORES
    rows = []
    for _ in range(rounds):
        (_, took, cpu, _), (_, took_two, cpu_two, _) = (
            loadgen(50, requests, "--threads", number, cores=cores) for number in ("1", "2"))
        with concurrent.futures.ThreadPoolExecutor() as both:
            halves = list(both.map(lambda _: loadgen(25, requests // 2, cores=cores), range(2)))
        took_halves, cpu_halves = max(half[1] for half in halves), sum(half[2] for half in halves)
        rows.append((cpu_two / cpu, took / took_two, cpu_halves / cpu, took / took_halves))
    cpu, rate, cpu_halves, rate_halves = (statistics.median(column) for column in zip(*rows))
    print(f"\nOn {len(cores)} cores{'' if len(CLIENT_CORES) > 1 else ', one of them the server’s'}, of one thread's CPU per attempt and "
          f"requests/s: `--threads 2` {cpu:.2f} and {rate:.2f}, two programs {cpu_halves:.2f} and {rate_halves:.2f} ({rounds} rounds).")


def samples(requests, rounds):
    """Every attempt as a line of a file, at the highest rate of a closed loop."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "attempts.ndjson")
        for _ in range(rounds):
            count, took, *_ = loadgen(50, requests, cores=CORES)
            output, _, rss, own = measured_with_own_pages(closed_loop(50, requests, "--samples", file, cores=CORES))
            result = json.loads(output)
            with open(file) as lines:
                whole = sum(1 for line in lines if json.loads(line))
            if whole != result["attempts"]["total"]:
                sys.exit(f"error: {whole} lines for {result['attempts']['total']} attempts")
            rate = result["attempts"]["total"] / result["wall_s"]
            rows.append((rate, rate / (count / took), rss / 2**20, own / 2**20))
    rate, ratio, rss, own = (statistics.median(column) for column in zip(*rows))
    print(f"\nWith `--samples` {rate:,.0f} attempts/s, {ratio:.2f} of the rate without; every line whole; peak memory {rss:.1f} MiB, "
          f"{own:.1f} of them no pages of files ({rounds} rounds of {requests:,} attempts).")


def instructions():
    if not shutil.which("valgrind"):
        sys.exit("error: valgrind is missing: install it with `apt-get install valgrind`")

    def own(*flags):
        return lambda count: [f"{DIST}/loadgen", "--strategy", "none", "--in-flight", "50", "--ops", str(count),
                              "--target", URL, "--no-tui", "--quiet", *flags]

    def loop(library):
        return lambda count: [f"{DIST}/examples/bare_{library}_loop", URL, "50", str(count)]

    commands = {
        "loadgen": own(),
        "loadgen, reqwest": own("--transport", "reqwest"),
        "loadgen --http2": own("--http2"),
        "bare reqwest loop": loop("reqwest"),
        "bare hyper loop": loop("hyper"),
    }
    print("| program | user instructions per attempt |\n|---|---:|")
    for name, command in commands.items():
        few, many = (collected(command(count)) for count in (2_000, 12_000))
        print(f"| {name} | {(many - few) / 10_000:,.0f} |", flush=True)


def collected(command):
    """User instructions of a whole run."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    output = subprocess.run(valgrind, capture_output=True, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", output).group(1))


def simulated(before, rounds):
    """Attempts per second of virtual time as ratios of pairs in turn: this build / an older one, a policy / the default server."""
    now = f"{DIST}/loadgen"
    aimd = ["--strategy", "aimd", "--ops", "20000"]
    exponential = ["--strategy", "exponential", "--ops", "20000"]
    openai = ["--preset", "openai", "--strategy", "full-jitter:max-attempts=8", "--ops", "5000"]
    cap = ["--policy", "concurrency:cap=50"]
    pairs = [
        ("aimd, 20 000 ops, this build / before", (now, aimd, 100), (before, aimd, 100)),
        ("exponential, 20 000 ops, this build / before", (now, exponential, 5), (before, exponential, 5)),
        ("aimd, `--policy concurrency:cap=50` / default server", (now, [*aimd, *cap], 100), (now, aimd, 100)),
        ("exponential, `--policy concurrency:cap=50` / default server", (now, [*exponential, *cap], 5), (now, exponential, 5)),
        ("`--preset openai`, 5 000 ops, this build / before", (now, openai, 20), (before, openai, 20)),
    ]
    print("\nVirtual time, one thread: attempts per second of processor time\n")
    print(f"| pair | first | second | ratio ({rounds} rounds) |\n|---|---:|---:|---:|")
    for name, *pair in pairs:
        rows = [[simulated_rate(*side) for side in pair] for _ in range(rounds)]
        first, second = (statistics.median(column) for column in zip(*rows))
        ratios = [first / second for first, second in rows]
        print(f"| {name} | {first / 1e6:.2f} M/s | {second / 1e6:.2f} M/s | {statistics.median(ratios):.2f} "
              f"(from {min(ratios):.2f} to {max(ratios):.2f}) |", flush=True)


def simulated_rate(program, flags, repeats):
    output, cpu, *_ = measured([
        *on(CLIENT_CORES), program, "--simulate", *flags, "--repeats", str(repeats), "--threads", "1", "--quiet", "--json", "-",
    ])
    return sum(run["attempts"]["total"] for run in json.loads(output)["runs"]) / cpu


def memory(requests):
    print("\nPeak memory of loadgen\n")
    print("| connections | requests | peak memory MiB | of that no pages of files |")
    print("|---:|---:|---:|---:|")
    for connections, count in ((50, 100_000), (50, requests), (1000, 100_000)):
        _, _, rss, own = measured_with_own_pages(closed_loop(connections, count))
        print(f"| {connections:,} | {count:,} | {rss / 2**20:.1f} | {own / 2**20:.1f} |")


def lag():
    print("\nSend lag (scheduled to sent), open loop, cold start\n")
    print("| rate | p50 µs | p99 µs | failed attempts |")
    print("|---:|---:|---:|---:|")
    for rate, ops in ((1000, 10_000), (20_000, 200_000)):
        output, *_ = measured([
            *on(CLIENT_CORES),
            f"{DIST}/loadgen", "--strategy", "none", "--rate", f"{rate}/s", "--ops", str(ops), "--target", URL,
            "--no-tui", "--quiet", "--json", "-",
        ])
        result = json.loads(output)
        delay = result["generator"]["send_lag_ms"]
        print(f"| {rate:,}/s | {delay['p50'] * 1e3:.0f} | {delay['p99'] * 1e3:.0f} | {result['attempts']['failed']} |")


def held():
    """Attempts in flight at once in one process: a service that takes long, and everybody is let in."""
    print("\nAttempts held in flight\n")
    print("| over | in flight | failed | KiB each |")
    print("|---|---:|---:|---:|")
    for name, flags, most in (("HTTP/1.1", (), 13_000), ("HTTP/2", ("--http2",), 100_000)):
        rss = {}
        for count in (100, most):
            server = serve(max_busy="1000000", service_time="20s")
            try:
                output, _, rss[count] = measured([
                    *on(CLIENT_CORES),
                    f"{DIST}/loadgen", "--strategy", "none", "--in-flight", str(count), "--ops", str(count),
                    "--timeout", "120s", "--target", URL, "--no-tui", "--quiet", "--json", "-", *flags,
                ])
            finally:
                server.terminate()
                server.wait()
            result = json.loads(output)
        busy = result["server"]["max_accepted_seen"]
        print(f"| {name} | {busy:,} | {result['attempts']['failed']} | {(rss[most] - rss[100]) / (most - 100) / 1024:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--connections", default="50,1000")
    parser.add_argument("--before", metavar="LOADGEN", help="an older build, as a row of its own")
    parser.add_argument("--no-build", action="store_true", help="what is built is as it should be")
    parser.add_argument("--skip", default="", help="of: http1, http2, looking, samples, threads, memory, lag, held")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--simulated", action="store_true")
    options = parser.parse_args()
    skipped = options.skip.split(",")
    if options.simulated and not options.before:
        sys.exit("error: `--simulated` compares with an older build: name it with `--before LOADGEN`")
    if not options.no_build:
        build()
    if options.simulated:
        simulated(options.before, options.rounds)
        return
    if options.before:
        PEERS["loadgen before"] = lambda *of: loadgen(*of, program=options.before)
    server = serve()
    try:
        if options.instructions:
            instructions()
            return
        for connections in map(int, options.connections.split(",")):
            if "http1" not in skipped:
                compare(PEERS, connections, options.requests, options.rounds)
            if "http2" not in skipped:
                compare(PEERS_OVER_HTTP2, connections, options.requests, options.rounds)
        if "threads" not in skipped:
            threads(options.requests, options.rounds)
        if "looking" not in skipped:
            looking(options.requests * 2)
        if "samples" not in skipped:
            samples(options.requests * 5, options.rounds)
        if "memory" not in skipped:
            memory(2_000_000)
        if "lag" not in skipped:
            lag()
    finally:
        server.terminate()
        server.wait()
    if "held" not in skipped:
        held()


if __name__ == "__main__":
    main()
