#!/usr/bin/env python3
"""Whole programs side by side: loadgen, a bare reqwest loop, wrk and oha against one mockserver that rejects at once.

    benches/compare.py [--rounds 5] [--requests 200000] [--connections 50,1000]
    benches/compare.py --instructions

Every round runs each program once, in turn, so that drift of the machine hits all alike; printed are medians over
rounds, and ratios of each round's pairs. Needs wrk (Debian package `wrk`) and oha (`cargo install oha`) on the PATH:
a missing peer is an error, not a gap in the table. After the tables come the cost of the dashboard (on a
pseudo-terminal), peak memory against the number of requests, and send lag.

`--instructions` counts user instructions per attempt under valgrind's callgrind instead: the figure that is the same on
every run, for finding regressions.
"""

import argparse
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
RELEASE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release")
ADDRESS = "127.0.0.1:8519"
URL = f"http://{ADDRESS}/"


def build():
    subprocess.run(["cargo", "build", "--release", "--bins", "--example", "bare_reqwest_loop"], cwd=ROOT, check=True)
    for peer in ("wrk", "oha"):
        if not shutil.which(peer):
            sys.exit(f"error: {peer} is missing: install it with "
                     + ("`apt-get install wrk`" if peer == "wrk" else "`cargo install oha`"))


def serve():
    server = subprocess.Popen([
        f"{RELEASE}/mockserver", "--listen", ADDRESS, "--max-busy", "1", "--service-time", "10ms",
        "--reject-time", "0", "--network-delay", "0", "--quiet",
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
    # Not `ru_maxrss`: it starts with the memory of this program, which forked.
    peak = 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    chunks = []
    reader = threading.Thread(target=lambda: chunks.append(process.stdout.read()))
    reader.start()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        peak = max(peak, high_water(process.pid))
        time.sleep(0.05)
    reader.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: `{' '.join(command)}` ended with {process.returncode}")
    return chunks[0].decode(), usage.ru_utime + usage.ru_stime, peak


def high_water(pid):
    """The most memory that a process has held so far, in bytes; 0 when it is just ending."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


def loadgen(connections, requests, *more):
    output, cpu, rss = measured([
        f"{RELEASE}/loadgen", "--strategy", "none", "--in-flight", str(connections), "--ops", str(requests),
        "--target", URL, "--no-tui", "--quiet", "--json", "-", *more,
    ])
    result = json.loads(output)
    if result["attempts"]["failed"]:
        sys.exit(f"error: {result['attempts']['failed']} attempts of loadgen failed")
    return result["attempts"]["total"], result["wall_s"], cpu, rss


def bare(connections, requests):
    output, cpu, rss = measured([f"{RELEASE}/examples/bare_reqwest_loop", URL, str(connections), str(requests)])
    result = json.loads(output)
    return result["requests"], result["seconds"], cpu, rss


def oha(connections, requests):
    output, cpu, rss = measured([
        "oha", "-n", str(requests), "-c", str(connections), "--no-tui", "--output-format", "json", URL,
    ])
    return requests, json.loads(output)["summary"]["total"], cpu, rss


def wrk(connections, requests):
    # wrk runs for a time, not for a number: about as long as the others need.
    seconds = max(2, round(requests / 60_000))
    output, cpu, rss = measured(["wrk", "-t", "2", "-c", str(connections), "-d", f"{seconds}s", URL])
    count, took = re.search(r"(\d+) requests in ([\d.]+)s", output).groups()
    return int(count), float(took), cpu, rss


PEERS = {"loadgen": loadgen, "bare reqwest loop": bare, "oha": oha, "wrk": wrk}


def compare(connections, requests, rounds):
    rows = {name: [] for name in PEERS}
    for number in range(rounds):
        for name, peer in PEERS.items():
            count, seconds, cpu, rss = peer(connections, requests)
            rows[name].append((count / seconds, cpu / count * 1e6, rss))
            print(f"\rround {number + 1}/{rounds}: {name:<20}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"\n{connections} connections, {requests} requests, {rounds} rounds (medians; ratios: loadgen / peer, round by round)\n")
    print("| program | requests/s | CPU µs per request | peak memory MiB | requests/s ratio | CPU ratio |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, samples in rows.items():
        rate, cpu, rss = (statistics.median(column) for column in zip(*samples))
        rates = statistics.median(own[0] / peer[0] for own, peer in zip(rows["loadgen"], samples))
        cpus = statistics.median(own[1] / peer[1] for own, peer in zip(rows["loadgen"], samples))
        print(f"| {name} | {rate:,.0f} | {cpu:.1f} | {rss / 2**20:.1f} | {rates:.2f} | {cpus:.2f} |")


def on_a_terminal(requests):
    """Attempts per second of loadgen with its dashboard drawn."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (40, 120))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "result.json")
        process = subprocess.Popen([
            f"{RELEASE}/loadgen", "--strategy", "none", "--in-flight", "50", "--ops", str(requests), "--target", URL,
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


def dashboard(requests, rounds):
    ratios = []
    for _ in range(rounds):
        count, seconds, *_ = loadgen(50, requests)
        ratios.append(on_a_terminal(requests) / (count / seconds))
    print(f"\nWith the dashboard loadgen sends {statistics.median(ratios):.3f} of the requests/s that it sends without "
          f"({min(ratios):.3f} to {max(ratios):.3f} over {rounds} rounds).")


def instructions():
    if not shutil.which("valgrind"):
        sys.exit("error: valgrind is missing: install it with `apt-get install valgrind`")
    commands = {
        "loadgen": lambda count: [f"{RELEASE}/loadgen", "--strategy", "none", "--in-flight", "50", "--ops", str(count),
                                  "--target", URL, "--no-tui", "--quiet"],
        "bare reqwest loop": lambda count: [f"{RELEASE}/examples/bare_reqwest_loop", URL, "50", str(count)],
    }
    print("| program | user instructions per attempt |\n|---|---:|")
    for name, command in commands.items():
        few, many = (collected(command(count)) for count in (2_000, 12_000))
        print(f"| {name} | {(many - few) / 10_000:,.0f} |")


def collected(command):
    """User instructions of a whole run."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    output = subprocess.run(valgrind, capture_output=True, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", output).group(1))


def memory(requests):
    print("\nPeak memory of loadgen at 50 connections\n")
    print("| requests | peak memory MiB |")
    print("|---:|---:|")
    for count in (100_000, requests):
        _, _, _, rss = loadgen(50, count)
        print(f"| {count:,} | {rss / 2**20:.1f} |")


def lag():
    print("\nSend lag (scheduled to sent), open loop, cold start\n")
    print("| rate | p50 µs | p99 µs | failed attempts |")
    print("|---:|---:|---:|---:|")
    for rate, ops in ((1000, 10_000), (20_000, 200_000)):
        output, *_ = measured([
            f"{RELEASE}/loadgen", "--strategy", "none", "--rate", f"{rate}/s", "--ops", str(ops), "--target", URL,
            "--no-tui", "--quiet", "--json", "-",
        ])
        result = json.loads(output)
        delay = result["generator"]["send_lag_ms"]
        print(f"| {rate:,}/s | {delay['p50'] * 1e3:.0f} | {delay['p99'] * 1e3:.0f} | {result['attempts']['failed']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--connections", default="50,1000")
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    build()
    server = serve()
    try:
        if options.instructions:
            instructions()
            return
        for connections in options.connections.split(","):
            compare(int(connections), options.requests, options.rounds)
        dashboard(options.requests * 2, options.rounds)
        memory(2_000_000)
        lag()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
