"""A worker's side: it tells, when asked, which `loadgen` it has, gets a plan, and does its shard from `spawning_complete` on."""

from __future__ import annotations

import logging
import time
from typing import Any

import gevent
from locust.env import Environment
from locust.exception import RPCError
from locust.runners import WorkerRunner

from tailback_locust import package
from tailback_locust.messages import (
    ENDED,
    GAUGES,
    HELLO,
    PLAN,
    PROTOCOL,
    START,
    STOP,
    WHO,
    BrokenMessage,
    Content,
    Ended,
    Gauges,
    Hello,
    Plan,
    Start,
)
from tailback_locust.program import NoProgram, Program
from tailback_locust.shard import Shard
from tailback_locust.tally import KEY, Tally

logger = logging.getLogger(__name__)

# Longer than a loadgen waits for what is under way when it is interrupted.
END_WITHIN_S = 45

# A master beats every second. Locust would wait for a minute, in which nobody could stop the load.
MASTER_PATIENCE_S = 10

# What a loadgen would say that was stopped before it began.
INTERRUPTED = 130
USAGE = 2


class Worker:
    """What this worker has to do, and does."""

    def __init__(self, environment: Environment, runner: WorkerRunner) -> None:
        self.environment = environment
        self.runner = runner
        self.program: Program | None = None
        self._no_program = ""
        self.plan: Plan | None = None
        self.start: Start | None = None
        self.shard: Shard | None = None
        self.tally: Tally | None = None
        self._heard_at = time.monotonic()
        self._master_is_gone = False

    def listen(self) -> None:
        """Registers for all that concerns it."""
        self._find_program()
        for message, listener in ((WHO, self._on_who), (PLAN, self._on_plan), (START, self._on_start), (STOP, self._on_stop)):
            self.runner.register_message(message, listener)
        events = self.environment.events
        events.spawning_complete.add_listener(self._on_spawning_complete)
        events.report_to_master.add_listener(self._on_report)
        events.test_stopping.add_listener(self._on_test_stopping)
        # Those who came last are told first: before Locust says goodbye to the master.
        events.quitting.add_listener(self._on_test_stopping)
        events.heartbeat_received.add_listener(self._on_heartbeat)

    def _find_program(self) -> None:
        # Now: later the master's own path replaces this argument.
        name = self.environment.parsed_options.loadgen if self.environment.parsed_options else "loadgen"
        try:
            self.program = Program.find(name)
        except NoProgram as why:
            self._no_program = str(why)
            logger.error("tailback: %s", why)

    def _send(self, message: str, content: Content) -> None:
        try:
            self.runner.send_message(message, content.data())
        except RPCError as error:
            # Locust keeps what it can for a master that comes back; a shard goes on and ends in any case.
            logger.error("tailback: the master cannot be told: %s", error)

    def _on_who(self, **_: Any) -> None:
        version = self.program.version if self.program else ""
        self._send(HELLO, Hello(PROTOCOL, package.version(), version, self._no_program))

    def _on_plan(self, msg: Any, **_: Any) -> None:
        try:
            plan = Plan.read(msg.data)
        except BrokenMessage as error:
            logger.error("tailback: %s", error)
            return
        # Of a run that was broken off.
        self._end()
        self.plan, self.start, self._master_is_gone = plan, None, False
        self.tally = Tally(plan.strategy)
        logger.info("tailback: shard %d of %d", plan.index, plan.of)

    def _on_start(self, msg: Any, **_: Any) -> None:
        try:
            self.start = Start.read(msg.data)
        except BrokenMessage as error:
            logger.error("tailback: %s", error)

    def _on_spawning_complete(self, **_: Any) -> None:
        plan = self.plan
        if plan is None or self.shard is not None or self.program is None:
            return
        command = [self.program.path, *plan.flags]
        if plan.by_clock:
            if self.start is None or self.start.run != plan.run:
                self._give_up(USAGE, "the master did not say when to start")
                return
            command += ["--start-at", f"{self.start.at:.3f}"]
        try:
            self.shard = Shard(command, self._on_progress, self._on_end)
        except OSError as error:
            self._give_up(USAGE, f"`{self.program.path}` cannot be started: {error}")
            return
        self._heard_at = time.monotonic()
        gevent.spawn(self._watch_master, self.shard)

    def _on_progress(self, line: dict[str, Any]) -> None:
        plan, tally = self.plan, self.tally
        if plan is None or tally is None:
            return
        tally.add(line)
        gauges = Gauges(plan.run, plan.index, line["t_s"], line["in_flight"], line["waiting"], line["window"])
        self._send(GAUGES, gauges)

    def _on_report(self, data: dict[str, Any], **_: Any) -> None:
        if self.tally is not None:
            data[KEY] = self.tally.take()

    def _on_end(self, shard: Shard) -> None:
        plan = self.plan
        if plan is None or shard.exit is None:
            return
        # Counts first: when the master has all documents, it has all counts.
        self._report()
        document = shard.document()
        self._send(ENDED, Ended(plan.run, plan.index, shard.exit, document, "\n".join(shard.words)))
        if self._master_is_gone:
            logger.error("tailback: the document of shard %d is kept: %s", plan.index, shard.document_path)
        else:
            shard.forget()
        self.plan, self.shard = None, None

    def _report(self) -> None:
        """The report that Locust sends every three seconds, now."""
        data: dict[str, Any] = {}
        self.environment.events.report_to_master.fire(client_id=self.runner.client_id, data=data)
        try:
            self.runner.send_message("stats", data)
        except RPCError as error:
            logger.error("tailback: counts cannot be sent: %s", error)

    def _give_up(self, code: int, words: str) -> None:
        """A plan that comes to nothing."""
        plan, self.plan = self.plan, None
        if plan is not None:
            logger.error("tailback: shard %d of %d: %s", plan.index, plan.of, words)
            self._send(ENDED, Ended(plan.run, plan.index, code, None, words))

    def _on_stop(self, **_: Any) -> None:
        # Messages must go on being read while it ends.
        gevent.spawn(self._end)

    def _on_test_stopping(self, **_: Any) -> None:
        self._end()

    def _end(self) -> None:
        """Ends the shard as Ctrl-C does, and returns when the master has its document."""
        shard = self.shard
        if shard is None:
            self._give_up(INTERRUPTED, "stopped before it began")
            return
        shard.interrupt()
        shard.join(END_WITHIN_S)

    def _on_heartbeat(self, **_: Any) -> None:
        self._heard_at = time.monotonic()

    def _watch_master(self, shard: Shard) -> None:
        """Without a master nobody could end the load."""
        while self.shard is shard:
            gevent.sleep(1)
            if time.monotonic() - self._heard_at > MASTER_PATIENCE_S and not self._master_is_gone:
                logger.error("tailback: nothing heard of the master for %d s; stopping", MASTER_PATIENCE_S)
                self._master_is_gone = True
                shard.interrupt()
