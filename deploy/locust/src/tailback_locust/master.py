"""The master's side: it numbers the workers, sends each its plan, waits for what comes of it, and merges."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import Any

import gevent
from locust.env import Environment
from locust.runners import STATE_MISSING, MasterRunner

from tailback_locust import arguments, listening, package, page_guard, tab
from tailback_locust.arguments import WrongArguments
from tailback_locust.fixed_users import Refused, guard, has_users
from tailback_locust.merging import USAGE, Outcome, merge
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
    Ended,
    Gauges,
    Hello,
    Start,
    printable,
)
from tailback_locust.program import NoProgram, Program
from tailback_locust.run import Run, ShardState
from tailback_locust.tally import KEY, add_to

logger = logging.getLogger(__name__)

# Locust counts a worker as ready a little before it listens, and one that has a slow machine answers late.
HELLO_WITHIN_S = 30
ASK_EVERY_S = 1
LOOK_EVERY_S = 0.25
# Beyond Locust's own four seconds.
LOST_AFTER_S = 6
# Longer than a worker waits for its loadgen.
DOCUMENTS_WITHIN_S = 100


class Master:
    """Who is there, and the run under way or the last one."""

    def __init__(self, environment: Environment, runner: MasterRunner) -> None:
        self.environment = environment
        self.runner = runner
        assert environment.parsed_options is not None, "a locustfile is run from the command line"
        self.options = environment.parsed_options
        self.hellos: dict[str, Hello] = {}
        self.run: Run | None = None
        self._is_stopping = False
        # First: whatever lets other greenlets run lets Locust wait for the next message.
        listening.guard(runner, self._on_broken)
        try:
            self.program = Program.find(self.options.loadgen)
        except NoProgram as error:
            logger.error("tailback: %s; it merges what the workers send", error)
            sys.exit(USAGE)

    def listen(self) -> None:
        """Registers for all that concerns it."""
        for message, handle in ((HELLO, self._on_hello), (GAUGES, self._on_gauges), (ENDED, self._on_ended)):
            self.runner.register_message(message, self._listener(handle))
        events = self.environment.events
        events.test_start.add_listener(self._on_test_start)
        events.spawning_complete.add_listener(self._on_spawning_complete)
        events.worker_report.add_listener(self._on_report)
        events.test_stopping.add_listener(self._on_test_stopping)
        guard(self.runner, self._is_under_way, self._prepare, self._on_refused)
        if self.environment.web_ui is not None:
            page_guard.add(self.environment.web_ui)
            tab.add(self.environment.web_ui, self._is_under_way, lambda: self.run.view() if self.run else None)

    def _is_under_way(self) -> bool:
        """From the first user to the merged document."""
        return has_users(self.runner) or (self.run is not None and not self.run.over.is_set())

    def _prepare(self, user_count: int) -> None:
        """Plans a run, or says why there can be none."""
        if self.environment.shape_class is not None:
            raise Refused("a LoadTestShape changes the number of users, and the clients of a run are fixed: leave it out")
        workers = [client.id for client in self.runner.clients.ready]
        if not workers:
            raise Refused("no worker is ready")
        self._refuse_unfit(workers)
        if user_count < len(workers):
            raise Refused(f"{user_count} users cannot be divided among {len(workers)} workers: give at least as many (-u)")
        options, host = self.options, self.environment.host
        try:
            flags = arguments.flags_of_run(options, host, user_count)
            arguments.flags_of_merge(options)
            start_in = arguments.start_in(options)
        except WrongArguments as error:
            raise Refused(str(error)) from error
        if start_in is None:
            flags += arguments.flags_of_barrier(options, str(host))
        self.run = Run(options.strategy, flags, start_in, workers)

    def _refuse_unfit(self, workers: list[str]) -> None:
        """Every worker must say hello when it is asked, with the same program as here."""
        self.hellos.clear()
        until = time.monotonic() + HELLO_WITHIN_S
        asked_at = 0.0
        while silent := [worker for worker in workers if worker not in self.hellos]:
            now = time.monotonic()
            if now >= until:
                break
            if now >= asked_at + ASK_EVERY_S:
                asked_at = now
                for worker in silent:
                    self.runner.send_message(WHO, None, worker)
            gevent.sleep(LOOK_EVERY_S)
        unfit = [words for worker in workers if (words := self._unfit(worker))]
        if unfit:
            raise Refused("; ".join(unfit))

    def _unfit(self, worker: str) -> str:
        hello = self.hellos.get(worker)
        if hello is None:
            return f"worker {worker} does not know this locustfile"
        if hello.protocol != PROTOCOL or hello.package != package.version():
            return f"worker {worker} has tailback-locust {printable(hello.package)}, and the master {package.version()}"
        if hello.error:
            return f"worker {worker}: {printable(hello.error)}"
        if hello.loadgen != self.program.version:
            return f"worker {worker} has `{printable(hello.loadgen)}`, and the master `{self.program.version}`"
        return ""

    def _on_refused(self, why: str) -> None:
        logger.error("tailback: refused: %s", why)
        self.environment.process_exit_code = USAGE
        self._leave()

    def _listener(self, handle: Callable[[str, Any], None]) -> Callable[..., None]:
        """Passes on who sent a message and what it holds. What cannot be read costs its worker's share, and raises nothing here."""

        def listener(msg: Any, **_: Any) -> None:
            worker = msg.node_id if isinstance(msg.node_id, str) else ""
            try:
                handle(worker, msg.data)
            except BrokenMessage as error:
                self._on_broken(worker, str(error))

        return listener

    def _on_broken(self, worker: str, why: str) -> None:
        why = printable(why)
        logger.error("tailback: worker %s sent a message that cannot be read: %s", printable(worker), why)
        # For who waits for it to say hello.
        self.hellos[worker] = Hello(PROTOCOL, package.version(), "", f"sent a message that cannot be read: {why}")
        run = self.run
        if run is None or run.over.is_set():
            return
        for shard in run.shards:
            if shard.worker == worker and not shard.is_settled:
                shard.distrust(why)
                logger.error("tailback: shard %d of %d is lost: %s", shard.index, len(run.shards), shard.lost)
                self.runner.send_message(STOP, None, worker)

    def _shard_of(self, worker: str, content: Gauges | Ended) -> ShardState | None:
        """The shard that a message is about; none when it is of another run, or nothing more is taken of this shard."""
        run = self.run
        if run is None or content.run != run.id:
            return None
        shard = run.shard(content.run, content.index)
        if shard is None or shard.worker != worker:
            raise BrokenMessage(f"it is about shard {content.index}, which is not the one of this worker")
        return None if shard.is_distrusted else shard

    def _on_hello(self, worker: str, data: Any) -> None:
        self.hellos[worker] = Hello.read(data)

    def _on_test_start(self, **_: Any) -> None:
        run = self.run
        if run is None or run.over.is_set():
            return
        for shard in run.shards:
            self.runner.send_message(PLAN, run.plan_of(shard).data(), shard.worker)
        logger.info("tailback: run %s, %d shards, each worker has its plan", run.id, len(run.shards))
        gevent.spawn(self._watch, run)

    def _on_spawning_complete(self, **_: Any) -> None:
        """Locust tells the workers after this, so that they know by then when to start."""
        if self.run is not None and self.run.start_in is not None:
            self.runner.send_message(START, Start(self.run.id, time.time() + self.run.start_in).data())

    def _on_gauges(self, worker: str, data: Any) -> None:
        gauges = Gauges.read(data)
        shard = self._shard_of(worker, gauges)
        if shard is not None:
            shard.gauges.append(gauges)

    def _on_report(self, client_id: str, data: Any, **_: Any) -> None:
        try:
            if isinstance(data, dict) and KEY in data:
                add_to(self.environment.stats, data[KEY])
        except BrokenMessage as error:
            self._on_broken(client_id, str(error))

    def _on_ended(self, worker: str, data: Any) -> None:
        ended = Ended.read(data)
        shard = self._shard_of(worker, ended)
        if shard is not None and shard.ended is None:
            shard.ended = ended
            logger.info("tailback: shard %d of %d %s", shard.index, len(self.run.shards) if self.run else 0, shard.state)

    def _watch(self, run: Run) -> None:
        """Until every shard has ended or is lost; then all is merged."""
        stopped = False
        while not run.is_settled:
            gevent.sleep(LOOK_EVERY_S)
            for shard in run.shards:
                client = self.runner.clients.get(shard.worker)
                if not shard.is_settled:
                    shard.note_missing(client is None or client.state == STATE_MISSING, LOST_AFTER_S)
                    if shard.lost:
                        logger.error("tailback: shard %d of %d is lost: %s", shard.index, len(run.shards), shard.lost)
            if run.cannot_begin and not stopped:
                stopped = True
                self._stop_shards(run)
        self._finish(run)

    def _stop_shards(self, run: Run) -> None:
        for shard in run.shards:
            if not shard.is_settled:
                self.runner.send_message(STOP, None, shard.worker)

    def _finish(self, run: Run) -> None:
        outcome = merge(self.program, run, arguments.results_of(self.options), arguments.flags_of_merge(self.options))
        self._tell(run, outcome)
        run.over.set()
        if not self._is_stopping:
            self._leave()

    def _tell(self, run: Run, outcome: Outcome) -> None:
        self.environment.process_exit_code = outcome.exit
        run.message = outcome.words
        say = logger.info if outcome.exit == 0 else logger.error
        for line in printable(outcome.words).splitlines():
            say("tailback: %s", line)
        say("tailback: exit code %d; %s", outcome.exit, arguments.results_of(self.options))

    def _leave(self) -> None:
        """As Locust does at the end of `--run-time`: without a web UI it quits, else the test stops and the UI stays."""
        gevent.spawn(self._leave_now)

    def _leave_now(self) -> None:
        web_ui = self.environment.web_ui
        if web_ui is None:
            self.runner.quit()
            return
        self.runner.stop()
        if self.options.autostart and self.options.autoquit != -1:
            gevent.sleep(self.options.autoquit)
            self.runner.quit()
            web_ui.stop()

    def _on_test_stopping(self, **_: Any) -> None:
        """Somebody stops the test, or it is over. Returns when all is merged: after this Locust may quit."""
        run = self.run
        if run is None or run.over.is_set():
            return
        self._is_stopping = True
        try:
            self._stop_shards(run)
            if not run.over.wait(DOCUMENTS_WITHIN_S):
                for shard in run.shards:
                    if not shard.is_settled:
                        shard.lost = f"worker {shard.worker} did not answer"
                run.over.wait(DOCUMENTS_WITHIN_S)
        finally:
            self._is_stopping = False
