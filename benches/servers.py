#!/usr/bin/env python3
"""Servers side by side: nginx, a bare axum server and mockserver, each rejecting at once on one core; and what mockserver holds.

    benches/servers.py [--rounds 5] [--seconds 3] [--connections 50,1000] [--server PATH] [--only rejecting,held,crowd]

wrk on another core sends as fast as it can (its own core is the bound where a server is faster), one request at a time on each
connection. Every round runs each server once, in turn, so that drift of the machine hits all alike; printed are
medians over rounds, and ratios mockserver / peer of each round's pairs. CPU is what the server's processes took, from /proc.

Then what a request costs in memory while it is in service, over HTTP/1.1 and over HTTP/2, and whether fifty thousand connections that
are opened and closed at once cost a client beside them a request. `--server` may be given again to measure another build of mockserver
in the same rounds. Needs nginx and wrk (Debian packages) and Linux; a missing peer is an error, not a gap in the table.
"""

import argparse
import json
import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIST = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "dist")
# Debian keeps nginx where only root's path leads.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
SERVER_CORE, CLIENT_CORE = 0, 1
FIRST_PORT = 8530

# All slots are taken by one request that is served for an hour, so that everything else is rejected.
REJECTING = ["--max-busy", "1", "--service-time", "1h", "--network-delay", "0", "--reject-time", "0",
             "--rejects-occupy", "false", "--threads", "1", "--quiet"]
HOLDING = ["--max-busy", "100000", "--service-time", "1h", "--network-delay", "0", "--threads", "1", "--quiet"]

NGINX = """
worker_processes 1;
daemon off;
error_log /dev/null crit;
pid {folder}/nginx.pid;
worker_rlimit_nofile 20000;
events {{ worker_connections 10000; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 300;
    default_type text/plain;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{ add_header cache-control no-store always; return 503 "busy\\n"; }}
    }}
}}
"""

class Server:
    """A running server, pinned to its core."""

    def __init__(self, name, command, port):
        self.name, self.port = name, port
        self.process = subprocess.Popen(["taskset", "-c", str(SERVER_CORE), *command], stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"error: {name} did not start")
                time.sleep(0.02)
        sys.exit(f"error: {name} does not answer")

    def processes(self):
        """Its own process and those that it started."""
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(children) as file:
            return [self.process.pid, *map(int, file.read().split())]

    def cpu(self):
        """Processor seconds so far. Not from `stat`, which counts ticks of 10 ms."""
        nanoseconds = 0
        for pid in self.processes():
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                    nanoseconds += int(file.read().split()[0])
        return nanoseconds / 1e9

    def memory(self, kind):
        """Resident bytes now (VmRSS) or at most (VmHWM)."""
        total = 0
        for pid in self.processes():
            with open(f"/proc/{pid}/status") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith(kind + ":")) * 1024
        return total

    def stats(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_mock/stats", timeout=60) as answer:
            return json.load(answer)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def mockserver(name, program, port, flags):
    return Server(name, [program, "--listen", f"127.0.0.1:{port}", *flags], port)


def needed(*programs):
    for program in programs:
        if not shutil.which(program, path=PATH):
            sys.exit(f"error: {program} is missing: install it with `apt-get install {program}`")


def wrk(server, connections, seconds):
    """Requests and seconds of one run; every answer must be the rejection."""
    output = subprocess.run(
        ["taskset", "-c", str(CLIENT_CORE), "wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s",
         f"http://127.0.0.1:{server.port}/"], capture_output=True, text=True, check=True).stdout
    count, took, unit = re.search(r"(\d+) requests in ([\d.]+)(s|m)", output).groups()
    if "Socket errors" in output:
        print(f"note: {server.name}: {re.search('Socket errors.*', output)[0]}", file=sys.stderr)
    rejected = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    if not rejected or int(rejected[1]) != int(count):
        sys.exit(f"error: {server.name} did not reject everything: {output}")
    return int(count), float(took) * (60 if unit == "m" else 1)


def rejecting(options, folder):
    for connections in map(int, options.connections.split(",")):
        # Anew for each table: what is peak memory in it was reached in it.
        servers = start_all(options, folder)
        held = [socket.create_connection(("127.0.0.1", server.port)) for server in servers[2:]]
        for connection in held:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        rows = {server.name: [] for server in servers}
        try:
            for _ in range(options.rounds):
                for server in servers:
                    before = server.cpu()
                    count, took = wrk(server, connections, options.seconds)
                    rows[server.name].append((count / took, (server.cpu() - before) / count * 1e6))
            table(f"{connections} connections, {options.rounds} rounds of {options.seconds} s", servers, rows)
        finally:
            for server in servers:
                server.stop()


def start_all(options, folder):
    port = FIRST_PORT
    config = os.path.join(folder, "nginx.conf")
    with open(config, "w") as file:
        file.write(NGINX.format(folder=folder, port=port))
    nginx = shutil.which("nginx", path=PATH)
    servers = [Server("nginx", [nginx, "-c", config, "-p", folder, "-e", "/dev/null"], port),
               Server("bare axum", [f"{DIST}/examples/bare_axum_server", f"127.0.0.1:{port + 1}"], port + 1)]
    for number, (name, program) in enumerate(options.builds):
        servers.append(mockserver(name, program, port + 2 + number, REJECTING))
    return servers


def table(title, servers, rows):
    own = rows[servers[-1].name]
    print(f"\n{title} (medians; ratios: {servers[-1].name} / peer, round by round)\n")
    print("| server | requests/s | CPU µs per request | peak memory MiB | requests/s ratio | CPU ratio |")
    print("|---|---:|---:|---:|---:|---:|")
    for server in servers:
        samples = rows[server.name]
        rate, cpu = (statistics.median(column) for column in zip(*samples))
        rates = statistics.median(mine[0] / peer[0] for mine, peer in zip(own, samples))
        cpus = statistics.median(mine[1] / peer[1] for mine, peer in zip(own, samples))
        print(f"| {server.name} | {rate:,.0f} | {cpu:.2f} | {server.memory('VmHWM') / 2**20:.1f} | {rates:.2f} | {cpus:.2f} |",
              flush=True)


def held(options):
    """Memory of requests in service."""
    print("\nMemory of requests in service\n")
    print("| server | requests | over | memory before MiB | with them MiB | KiB per request |")
    print("|---|---:|---|---:|---:|---:|")
    for name, program in options.builds:
        for over, count in (("HTTP/1.1, a connection each", 13_000), ("HTTP/2, 128 on a connection", 20_000)):
            server = mockserver(name, program, FIRST_PORT, HOLDING)
            try:
                if over.startswith("HTTP/2") and not speaks_http2(server):
                    continue
                before = server.memory("VmRSS")
                connections = hold_http2(server, count) if over.startswith("HTTP/2") else hold_http1(server, count)
                waited = 0
                while (busy := server.stats()["busy"]) < count:
                    waited += 1
                    if waited > 300:
                        sys.exit(f"error: {name} has only {busy} of {count} requests in service")
                    time.sleep(0.1)
                after = server.memory("VmRSS")
                print(f"| {name} | {count:,} | {over} | {before / 2**20:.1f} | {after / 2**20:.1f} | "
                      f"{(after - before) / count / 1024:.2f} |", flush=True)
                for connection in connections:
                    connection.close()
            finally:
                server.stop()


def hold_http1(server, count):
    connections = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: servers.py\r\nAccept: */*\r\n\r\n")
        connections.append(connection)
    return connections


# With settings that change nothing.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"


def get_frame(stream):
    """HEADERS of `GET /` (RFC 7541: indexed method, scheme and path, and a literal name), which end head and stream."""
    block = b"\x82\x86\x84\x01\x09localhost"
    return len(block).to_bytes(3, "big") + b"\x01\x05" + stream.to_bytes(4, "big") + block


def speaks_http2(server):
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.settimeout(5)
        connection.sendall(PREFACE)
        answer = connection.recv(9)
        return len(answer) == 9 and answer[3] == 4


def hold_http2(server, count):
    connections = []
    while count:
        streams = min(count, 128)
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(PREFACE + b"".join(get_frame(2 * number + 1) for number in range(streams)))
        connections.append(connection)
        count -= streams
    return connections


def crowd(options):
    """Connects and closes, and a client beside them."""
    print("\n50 000 connections opened and closed at once, and a steady client beside them\n")
    print("| server | connections/s | requests of the steady client | lost |")
    print("|---|---:|---:|---:|")
    for name, program in options.builds:
        server = mockserver(name, program, FIRST_PORT, ["--service-time", "0", "--network-delay", "0", "--threads", "1", "--quiet"])
        over, counts = threading.Event(), [0, 0]

        def steadily():
            connection = socket.create_connection(("127.0.0.1", server.port), 10)
            while not over.is_set():
                connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                try:
                    good = connection.recv(65536).startswith(b"HTTP/1.1 200 ")
                except OSError:
                    good = False
                counts[not good] += 1
                if not good:
                    connection = socket.create_connection(("127.0.0.1", server.port), 10)

        client = threading.Thread(target=steadily)
        client.start()
        began = time.monotonic()
        for number in range(50_000):
            connection = socket.socket()
            if number % 2:
                # Half of them by a reset, and without a place in TIME_WAIT.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.connect(("127.0.0.1", server.port))
            connection.close()
        took = time.monotonic() - began
        over.set()
        client.join()
        received = server.stats()["received"]
        server.stop()
        lost = counts[1] + abs(received - sum(counts))
        print(f"| {name} | {50_000 / took:,.0f} | {counts[0]:,} | {lost} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", default="50,1000")
    parser.add_argument("--server", action="append", default=[], metavar="PATH", help="another build, measured before this one")
    parser.add_argument("--only", default="rejecting,held,crowd")
    parser.add_argument("--no-build", action="store_true", help="take the built programs as they are")
    options = parser.parse_args()
    needed("nginx", "wrk", "taskset")
    if not options.no_build:
        programs = ["--bin", "mockserver", "--example", "bare_axum_server"]
        subprocess.run(["cargo", "build", "--profile", "dist", *programs], cwd=ROOT, check=True)
    options.builds = [(path, path) for path in options.server] + [("mockserver", f"{DIST}/mockserver")]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    only = options.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        if "rejecting" in only:
            rejecting(options, folder)
        if "held" in only:
            held(options)
        if "crowd" in only:
            crowd(options)


if __name__ == "__main__":
    main()
