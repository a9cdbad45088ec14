"""Messages of workers that nobody can read, sent to a master's real socket: they raise nothing, and cost their worker's share only."""

from __future__ import annotations

import logging
import math
import tempfile
import time
import unittest
from argparse import Namespace
from pathlib import Path
from typing import Any

import gevent
from locust.env import Environment
from locust.rpc import Message
from locust.rpc.zmqrpc import Client as Wire
from locust.stats import RequestStats
from scene import BIN

from tailback_locust import Client
from tailback_locust.master import Master
from tailback_locust.messages import ENDED, GAUGES, HELLO, STOP, Ended, Gauges, Hello
from tailback_locust.run import Run
from tailback_locust.tally import KEY

PATIENCE_S = 20

# The run that the master is told of; each message is made of one that could be read.
RUN = "0123456789abcdef"
GOOD_HELLO = Hello(1, "1", "loadgen 1").data()
GOOD_GAUGES = Gauges(RUN, 0, 1.0, 2, 3, 4.0).data()
GOOD_ENDED = Ended(RUN, 0, 0, "{}", "").data()
GOOD_ROW = {
    "requests": 2, "timed": 2, "sum_ms": 5.0, "times": {2.5: 2}, "by_s": {7: 2}, "failed_by_s": {}, "failures": {},
    "first": 7.0, "last": 7.5,
}  # fmt: skip
EMPTY_REPORT = {"stats": [], "stats_total": RequestStats().total.serialize(), "errors": {}}


def report(**changes: Any) -> dict[str, Any]:
    counts = {"name": "aimd", "rows": {"op": GOOD_ROW}, **changes}
    return {**EMPTY_REPORT, KEY: counts}


def row(**changes: Any) -> dict[str, Any]:
    return report(rows={"op": {**GOOD_ROW, **changes}})


BROKEN: dict[str, tuple[str, Any]] = {
    "a hello without anything": (HELLO, None),
    "a hello whose error is a list": (HELLO, {**GOOD_HELLO, "error": ["x"]}),
    "a hello whose protocol is a text": (HELLO, {**GOOD_HELLO, "protocol": "1"}),
    "gauges that are a list": (GAUGES, [RUN, 0]),
    "gauges without a time": (GAUGES, {key: value for key, value in GOOD_GAUGES.items() if key != "t_s"}),
    "gauges whose shard is a text": (GAUGES, {**GOOD_GAUGES, "index": "0"}),
    "gauges whose shard is a fraction": (GAUGES, {**GOOD_GAUGES, "index": 0.5}),
    "gauges of a shard that there is not": (GAUGES, {**GOOD_GAUGES, "index": 9}),
    "gauges of the shard of another": (GAUGES, {**GOOD_GAUGES, "index": 1}),
    "gauges whose time is no number": (GAUGES, {**GOOD_GAUGES, "t_s": math.nan}),
    "gauges whose window is a text": (GAUGES, {**GOOD_GAUGES, "window": "4"}),
    "an end without a shard": (ENDED, {"run": RUN, "exit": 0}),
    "an end whose shard is nothing": (ENDED, {**GOOD_ENDED, "index": None}),
    "an end whose exit code is a text": (ENDED, {**GOOD_ENDED, "exit": "0"}),
    "an end whose document is a map": (ENDED, {**GOOD_ENDED, "document": {}}),
    "an end whose words are a number": (ENDED, {**GOOD_ENDED, "words": 7}),
    "counts that are a list": ("stats", {**report(), KEY: []}),
    "counts without rows": ("stats", {**report(), KEY: {"name": "aimd"}}),
    "counts of a name that is a list": ("stats", report(name=["aimd"])),
    "a row without requests": ("stats", row(requests=None)),
    "a row whose failures are texts": ("stats", row(failures={"timeout": "2"})),
}

# What Locust itself reads without looking, and what is no message at all.
BROKEN_FOR_LOCUST: dict[str, bytes] = {
    "a heartbeat without anything": Message("heartbeat", None, "w0").serialize(),
    "a report that is a list": Message("stats", [], "w0").serialize(),
    "users that are a number": Message("spawning_complete", 7, "w0").serialize(),
    "an exception without words": Message("exception", {}, "w0").serialize(),
    "a message of another sender": Message(GAUGES, GOOD_GAUGES, "w1").serialize(),
    "a type that is a list": Message([], None, "w0").serialize(),
}
NO_MESSAGES: dict[str, bytes] = {"nothing": b"", "noise": b"\xc1\xff", "no three parts": b"\x91\x01", "a number": b"\x07"}


class Broken(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        options = Namespace(loadgen=str(BIN / "loadgen"), results=str(Path(folder.name) / "whole.json"), headless=False)
        self.environment = Environment(user_classes=[Client], parsed_options=options)
        self.runner = self.environment.create_master_runner("127.0.0.1", 0)
        self.addCleanup(self.runner.greenlet.kill, block=False)
        self.master = Master(self.environment, self.runner)
        self.master.listen()
        self.wires = [Wire("127.0.0.1", self.runner.server.port, worker) for worker in ("w0", "w1")]
        for wire in self.wires:
            self.addCleanup(wire.close)

    def eventually(self, what: str, is_so: Any) -> None:
        until = time.monotonic() + PATIENCE_S
        while not is_so():
            self.assertLess(time.monotonic(), until, f"not so in the end: {what}")
            gevent.sleep(0.01)

    def new_run(self) -> Run:
        run = Run("aimd", [], None, ["w0", "w1"])
        run.id = RUN
        self.master.run = run
        return run

    def is_listening(self) -> None:
        """Whoever hears the other worker's end has survived what came before."""
        run = self.new_run()
        self.wires[1].send(Message(ENDED, Ended(RUN, 1, 0, "{}").data(), "w1"))
        self.eventually("the master listens", lambda: run.shards[1].ended is not None)

    def test_what_can_be_read_is_taken(self) -> None:
        run = self.new_run()
        for kind, data in ((HELLO, GOOD_HELLO), (GAUGES, GOOD_GAUGES), ("stats", report()), (ENDED, GOOD_ENDED)):
            self.wires[0].send(Message(kind, data, "w0"))
        self.eventually("the shard has ended", lambda: run.shards[0].ended is not None)
        self.assertEqual((run.shards[0].lost, len(run.shards[0].gauges)), ("", 1))
        self.assertEqual(self.environment.stats.get("aimd", "op").num_requests, 2)

    def test_a_broken_message_costs_the_share_of_its_worker_and_raises_nothing(self) -> None:
        self.assertEqual(len(BROKEN), 21)
        for what, (kind, data) in BROKEN.items():
            with self.subTest(what), self.assertLogs(level=logging.INFO) as told:
                run = self.new_run()
                self.wires[0].send(Message(kind, data, "w0"))
                self.eventually(f"the share is lost after {what}", lambda run=run: run.shards[0].is_settled)
                self.assertRegex(run.shards[0].lost, "^worker w0 sent a message that cannot be read: ")
                self.assertEqual(self.wires[0].recv().type, STOP)
                # What it says afterwards is not taken, and the other is.
                self.wires[0].send(Message(ENDED, GOOD_ENDED, "w0"))
                self.wires[1].send(Message(ENDED, Ended(RUN, 1, 0, "{}").data(), "w1"))
                self.eventually("the other has ended", lambda run=run: run.shards[1].ended is not None)
                self.assertIsNone(run.shards[0].ended)
                self.assertNotRegex("\n".join(told.output), "Traceback|Uncaught")
        self.assertEqual(dict(self.environment.stats.entries), {})

    def test_locust_goes_on_listening_after_what_it_cannot_read(self) -> None:
        for what, sent in BROKEN_FOR_LOCUST.items():
            with self.subTest(what):
                run = self.new_run()
                self.wires[0].socket.send(sent)
                self.eventually(f"the share is lost after {what}", lambda run=run: run.shards[0].is_settled)
                self.is_listening()
        for what, sent in NO_MESSAGES.items():
            with self.subTest(what):
                self.wires[0].socket.send(sent)
                self.is_listening()

    def test_what_a_worker_says_reaches_the_log_without_control_characters(self) -> None:
        with self.assertLogs(level=logging.INFO) as told:
            run = self.new_run()
            self.wires[0].send(Message(GAUGES, {**GOOD_GAUGES, "run": RUN, "t_s": "\x1b]0;x\x07"}, "w0"))
            self.eventually("the share is lost", lambda: run.shards[0].is_settled)
            self.master._on_refused(self.master._unfit("w0"))
            self.master.hellos["w0"] = Hello(1, "\x1b]0;x\x07", "", "")
            self.master._on_refused(self.master._unfit("w0"))
        self.assertNotRegex("\n".join(told.output), "[\x1b\x07]")
