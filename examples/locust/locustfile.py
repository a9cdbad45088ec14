"""Locust as the engine of Tailback: every worker runs one `loadgen`, and the master merges their documents.

    locust -f locustfile.py --worker --master-host MASTER
    locust -f locustfile.py --master --headless --expect-workers 2 -u 4 -r 4 -H http://SERVER:8503
"""

import copy
import ctypes
import functools
import ipaddress
import json
import logging
import os
import shlex
import signal
import sys
import tempfile
import time
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import gevent
from flask import request
from gevent import subprocess
from gevent.event import Event
from locust import User, events, task
from locust.env import Environment
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner
from locust.stats import RequestStats, StatsError, bucket_response_time

logger = logging.getLogger("tailback")

# Messages between the master and its workers.
SHARE, STOP, RESULT = "tailback_share", "tailback_stop", "tailback_result"
# Exit codes of `loadgen`.
FAILED, USAGE, INTERRUPTED = 1, 2, 130
# Time after which a worker is lost that Locust reports as missing, and maximum time for which an interrupted `loadgen` ends.
LOST_AFTER_S, END_WITHIN_S = 6, 60
# Lets the kernel of Linux end `loadgen` with a worker that is killed (`PR_SET_PDEATHSIG`).
END_WITH_PARENT = functools.partial(ctypes.CDLL(None).prctl, 1, signal.SIGKILL) if sys.platform == "linux" else None


class Client(User):
    """Idle user, because `loadgen` sends the requests of all clients."""

    @task
    def idle(self) -> None:
        gevent.sleep(3600)


@events.init_command_line_parser.add_listener
def add_options(parser: Any, **_: Any) -> None:
    """Adds the options of this file. The form of the web page shows only those that name no files."""
    for flag, default, is_on_page, text in (
        ("--strategy", "aimd", True, "Strategy, see `loadgen strategies`"),
        ("--ops", "2000", True, "Number of ops of all workers; empty if --loadgen-flags has --duration"),
        ("--rate", "1000/s", True, "Rate of arrivals at all workers"),
        ("--in-flight", "", True, "Instead of a rate: maximum number of unfinished ops of all workers"),
        ("--seed", "1", True, "Seed of the first worker; worker I uses seed + I"),
        ("--loadgen-flags", "", False, "Further flags of every loadgen, such as --loadgen-flags='--timeout 5s'"),
        ("--merge-flags", "", False, "Further flags of `loadgen merge`, such as --merge-flags='--html all.html'"),
        ("--results", "tailback.json", False, "Merged document on the master; those of the workers are beside it"),
        ("--loadgen", os.environ.get("TAILBACK_LOADGEN", "loadgen"), False, "Program `loadgen` on this machine"),
        ("--allow-host", "", False, "Further names of the web page's host, separated by commas"),
    ):
        parser.add_argument(flag, default=default, help=text, include_in_web_ui=is_on_page)


@events.init.add_listener
def init(environment: Environment, runner: Any, web_ui: Any, **_: Any) -> None:
    """Starts the side of this process. The options are copied, because a form of the web page can set all of them."""
    options = copy.copy(environment.parsed_options)
    if web_ui is not None:
        guard_page(web_ui, options.allow_host)
    if isinstance(runner, MasterRunner):
        Master(environment, runner, options)
    elif isinstance(runner, WorkerRunner):
        Worker(environment, runner, options)
    else:
        logger.error("a master and workers are needed: `--master` and `--worker`, or `--processes N`")
        sys.exit(USAGE)


def split(total: int, weights: list[int]) -> list[int]:
    """Divides a total in proportion to the weights. The sum of the parts is the total."""
    ends = [total * sum(weights[: index + 1]) // sum(weights) for index in range(len(weights))]
    return [end - start for start, end in zip([0, *ends], ends)]


def shares(options: Namespace, more: list[str], target: str | None, clients: int, workers: int) -> list[list[str]]:
    """Returns the flags of each worker's `loadgen`. Ops, rate and in-flight ops are divided like the clients."""
    if not target:
        raise ValueError("no target: `-H URL` is missing")
    own = split(clients, [1] * workers)
    ops, in_flight = split(int(options.ops or 0), own), split(int(options.in_flight or 0), own)
    number, slash, unit = options.rate.partition("/")
    rates = [f"{float(number or 0) * count / clients:.12g}{slash}{unit}" for count in own]
    every = []
    for index, count in enumerate(own):
        flags = [f"--target={target}", f"--strategy={options.strategy}", f"--clients={count}", f"--seed={int(options.seed) + index}"]
        flags += [f"--ops={ops[index]}"] if options.ops else []
        flags += [f"--in-flight={in_flight[index]}"] if options.in_flight else [f"--rate={rates[index]}"] if number else []
        every.append([*flags, *more])
    return every


@dataclass
class Part:
    """Share of one worker, and its result."""

    worker: str
    file: Path
    code: int | None = None  # exit code of `loadgen`
    silent_s: float = 0.0


class Master:
    """Sends every worker its share, collects their documents and merges them."""

    def __init__(self, environment: Environment, runner: MasterRunner, options: Namespace) -> None:
        self.environment, self.runner, self.options = environment, runner, options
        self.parts: list[Part] = []
        self.is_stopping = False
        self.is_over: Any = None  # until a run begins
        runner.register_message(RESULT, self.on_result)
        environment.events.test_start.add_listener(self.on_test_start)
        environment.events.spawning_complete.add_listener(self.on_spawning_complete)
        environment.events.test_stopping.add_listener(self.on_test_stopping)

    def on_test_start(self, **_: Any) -> None:
        if self.is_over is None or self.is_over.is_set():
            self.is_over, self.is_stopping = None, False

    def on_spawning_complete(self, user_count: int, **_: Any) -> None:
        """Begins the run. Later changes of the number of users do not change it."""
        if self.is_over is not None:
            return
        self.is_over, self.parts = Event(), []
        workers = [node.id for node in self.runner.clients.all if node.state != STATE_MISSING][:user_count]
        results = Path(self.options.results)
        try:
            more = shlex.split(self.options.loadgen_flags)
            flags = shares(self.environment.parsed_options, more, self.environment.host, user_count, len(workers))
            self.parts = [Part(worker, results.with_suffix(f".{index}.json")) for index, worker in enumerate(workers)]
            for path in (results, *(part.file for part in self.parts)):
                path.unlink(missing_ok=True)
        except (ValueError, ArithmeticError, OSError) as error:
            return self.end(USAGE, f"refused: {error}")
        for part, words in zip(self.parts, flags):
            logger.info("worker %s: %s", part.worker, shlex.join(words))
            self.runner.send_message(SHARE, {"flags": words}, part.worker)
        gevent.spawn(self.watch)

    def on_result(self, msg: Any, **_: Any) -> None:
        """Stores the document of a worker."""
        for part in self.parts:
            if part.worker == msg.node_id and part.code is None:
                part.code = int(msg.data["code"])
                if msg.data["document"] is not None:
                    part.file.write_text(msg.data["document"], encoding="utf-8")
                for line in msg.data["errors"].splitlines():
                    logger.warning("worker %s: %s", part.worker, line.encode("ascii", "backslashreplace").decode())

    def watch(self) -> None:
        """Waits until every worker has sent its result or is lost, and merges the documents."""
        while pending := [part for part in self.parts if part.code is None]:
            gevent.sleep(0.25)
            for part in pending:
                node = self.runner.clients.get(part.worker)
                part.silent_s = part.silent_s + 0.25 if node is None or node.state == STATE_MISSING else 0
                if part.silent_s > LOST_AFTER_S and part.code is None:
                    part.code = FAILED
                    logger.error("worker %s is lost", part.worker)
        codes = [part.code or 0 for part in self.parts]
        present = [part.file.exists() for part in self.parts]
        if not any(present):
            return self.end(max(codes) or FAILED, "no worker has written a document")
        command = [self.options.loadgen, "merge", "--together", "-o", self.options.results, *(str(part.file) for part in self.parts)]
        try:
            command += ([] if all(present) else ["--partial"]) + shlex.split(self.options.merge_flags)
            merged = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except (ValueError, OSError) as error:
            return self.end(USAGE, f"the documents cannot be merged: {error}")
        code = merged.returncode or (INTERRUPTED if INTERRUPTED in codes else 0)
        self.end(code, f"{merged.stdout.decode(errors='replace').strip()}\nresult: {Path(self.options.results).absolute()}")

    def end(self, code: int, text: str) -> None:
        """Reports the outcome and ends the test. With a web page Locust goes on, without one it quits."""
        self.environment.process_exit_code = code
        for line in f"{text}\nexit code: {code}".splitlines():
            logger.log(logging.ERROR if code else logging.INFO, "%s", line)
        self.is_over.set()
        if not self.is_stopping:
            gevent.spawn(self.runner.quit if self.environment.web_ui is None else self.runner.stop)

    def on_test_stopping(self, **_: Any) -> None:
        """Interrupts a run that is not over, and waits for the merged document, because Locust may quit next."""
        if self.is_over is not None and not self.is_over.is_set():
            self.is_stopping = True
            self.runner.send_message(STOP)
            self.is_over.wait(END_WITHIN_S + 2 * LOST_AFTER_S)


class Worker:
    """Runs the `loadgen` of a share, counts its progress in Locust's statistics, and sends its document."""

    def __init__(self, environment: Environment, runner: WorkerRunner, options: Namespace) -> None:
        self.environment, self.runner, self.options = environment, runner, options
        self.process, self.reader = None, gevent.spawn(lambda: None)
        runner.register_message(SHARE, self.on_share)
        runner.register_message(STOP, lambda **_: self.interrupt())
        environment.events.test_stopping.add_listener(self.end)
        environment.events.quitting.add_listener(self.end)

    def on_share(self, msg: Any, **_: Any) -> None:
        folder = tempfile.TemporaryDirectory(prefix="tailback-")
        document = Path(folder.name, "part.json")
        command = [self.options.loadgen, *msg.data["flags"], f"--json={document}", "--progress=ndjson", "--quiet"]
        pipes = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            # In a session of its own, the program receives only the worker's SIGINT, not also that of the terminal.
            self.process = subprocess.Popen(command, start_new_session=True, preexec_fn=END_WITH_PARENT, **pipes)
        except OSError as error:
            return self.runner.send_message(RESULT, {"code": USAGE, "document": None, "errors": f"`{command[0]}`: {error}"})
        self.reader = gevent.spawn(self.read, self.process, folder, document)

    def read(self, process: Any, folder: Any, document: Path) -> None:
        errors = gevent.spawn(process.stderr.read)
        for line in process.stdout:
            try:
                add_progress(self.environment.stats, self.environment.parsed_options.strategy, json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                logger.warning("unreadable line of progress: %r", error)
        code = process.wait()
        text = document.read_text(encoding="utf-8") if document.exists() else None
        folder.cleanup()
        # The master must have all counts when it receives the document.
        self.runner._send_stats()
        self.runner.send_message(RESULT, {"code": code, "document": text, "errors": errors.get().decode(errors="replace")})

    def interrupt(self) -> None:
        """Interrupts the program like Ctrl-C, once. A second signal would keep it from waiting for answers."""
        process, self.process = self.process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)

    def end(self, **_: Any) -> None:
        self.interrupt()
        self.reader.join(END_WITHIN_S)


def add_progress(stats: RequestStats, strategy: str, line: dict[str, Any]) -> None:
    """Adds a line of `--progress ndjson` to Locust's statistics. `Aggregated` counts attempts, which are Locust's requests."""
    failures = {str(each.get("status") or each.get("kind")): each["attempts"] for each in line["failures"]}
    failures |= {"rejected": line["attempts_rejected"], "cancelled": line["attempts_cancelled"]}
    attempts, ops = stats.get(strategy, "attempt"), stats.get(strategy, "op")
    add_requests(stats, [attempts, stats.total], line["attempts_succeeded"], failures, line["attempt_latency"])
    add_requests(stats, [ops], line["ops_succeeded"], {"given up": line["ops_given_up"]}, line["op_latency"])


def add_requests(stats: RequestStats, entries: list[Any], succeeded: int, failures: dict[str, int], latency: Any) -> None:
    """Adds many requests at once, because Locust's event for one request is too slow for the rates of `loadgen`."""
    now, failed = time.time(), sum(failures.values())
    for entry in entries:
        entry.num_requests += succeeded + failed
        entry.num_none_requests += succeeded + failed - latency["count"]
        entry.num_failures += failed
        entry.total_response_time += latency["sum_ms"]
        entry.last_request_timestamp = now
        entry.num_reqs_per_sec[int(now)] += succeeded + failed
        entry.num_fail_per_sec[int(now)] += failed
        for ms, count in latency["counts"]:
            entry.response_times[bucket_response_time(ms)] += count
            entry.min_response_time = min(ms, entry.min_response_time or ms)
            entry.max_response_time = max(ms, entry.max_response_time)
    kind, name = entries[0].method, entries[0].name
    for why, count in ((why, count) for why, count in failures.items() if count):
        error = stats.errors.setdefault(StatsError.create_key(kind, name, why), StatsError(kind, name, why))
        error.occurrences += count
        error.first_seen, error.last_seen = error.first_seen or now, now


def guard_page(web_ui: Any, allowed: str) -> None:
    """Rejects foreign hosts, because the name of another site can resolve to this machine (DNS rebinding), and forms of other sites."""
    names = ["localhost", *filter(None, allowed.lower().split(","))]

    @web_ui.app.before_request
    def refuse() -> tuple[str, int] | None:
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in names or ipaddress.ip_address(name).is_loopback:
                return None if origin is None or urlsplit(origin).netloc == host else ("another site sent this\n", 403)
        except ValueError:
            pass
        return "this host is neither loopback nor an `--allow-host`\n", 403
