"""One run as the master knows it: which worker does which shard, and what came of each."""

from __future__ import annotations

import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from gevent.event import Event

from tailback_locust.messages import Ended, Gauges, Plan

# Lines of progress that are kept of a shard: half an hour.
LINES_KEPT = 1800


@dataclass
class ShardState:
    """A shard, and its worker by the id that Locust knows it by."""

    index: int
    worker: str
    ended: Ended | None = None
    # Why nothing is to be expected of it.
    lost: str = ""
    # Whether it is lost because of a message that could not be read. Then nothing more is taken of it.
    is_distrusted: bool = False
    missing_since: float | None = None
    gauges: deque[Gauges] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is to be waited for."""
        return self.ended is not None or bool(self.lost)

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.ended is not None:
            return "done" if self.ended.exit == 0 else f"ended with {self.ended.exit}"
        return "lost" if self.lost else "running" if self.gauges else "waiting"

    def distrust(self, why: str) -> None:
        """Gives the shard up because its worker sent a broken message."""
        self.lost, self.is_distrusted = f"worker {self.worker} sent a message that cannot be read: {why}", True

    def note_missing(self, missing: bool, patience: float) -> None:
        """Its worker does not answer, or does again. A moment's silence is none: a busy machine is late, too."""
        if not missing:
            self.missing_since = None
            return
        self.missing_since = self.missing_since or time.monotonic()
        if time.monotonic() - self.missing_since >= patience:
            self.lost = f"worker {self.worker} is gone"


class Run:
    """From the plan to the merged document."""

    def __init__(self, strategy: str, flags: list[str], start_in: float | None, workers: list[str]) -> None:
        self.id = secrets.token_hex(8)
        self.strategy = strategy
        self.start_in = start_in
        self.flags = flags
        # Numbered here: Locust's own numbers have holes when a worker has come twice.
        self.shards = [ShardState(index, worker) for index, worker in enumerate(workers)]
        # Set when it is merged, or known that it cannot be.
        self.over = Event()
        self.message = ""

    def plan_of(self, shard: ShardState) -> Plan:
        """What its worker is told."""
        of = len(self.shards)
        flags = [*self.flags, "--client-shard", f"{shard.index}/{of}", "--run-id", self.id]
        return Plan(self.id, shard.index, of, self.strategy, flags, self.start_in is not None)

    def shard(self, run: str, index: int) -> ShardState | None:
        """That a message is about; none when it is of another run."""
        if run != self.id or not 0 <= index < len(self.shards):
            return None
        return self.shards[index]

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is to be waited for."""
        return all(shard.is_settled for shard in self.shards)

    @property
    def cannot_begin(self) -> bool:
        """Whether a shard ended with nothing before any began: the others would wait for it at the barrier."""
        ended = [shard.ended for shard in self.shards if shard.ended is not None]
        return any(end.document is None for end in ended) and not any(shard.gauges for shard in self.shards)

    def view(self) -> dict[str, Any]:
        """For who looks on: shards now, and sums over all of them by line of progress."""
        series: list[dict[str, float | None]] = []
        for lines in zip_longest(*(shard.gauges for shard in self.shards)):
            there = [line for line in lines if line is not None]
            windows = [line.window for line in there if line.window is not None]
            series.append(
                {
                    "t_s": max(line.t_s for line in there),
                    "in_flight": sum(line.in_flight for line in there),
                    "waiting": sum(line.waiting for line in there),
                    "window": sum(windows) if windows else None,
                }
            )
        return {
            "strategy": self.strategy,
            "message": self.message,
            "over": self.over.is_set(),
            "shards": [_row(shard) for shard in self.shards],
            "series": series,
        }


def _row(shard: ShardState) -> dict[str, Any]:
    last = shard.gauges[-1] if shard.gauges and not shard.is_settled else None
    return {
        "shard": shard.index,
        "worker": shard.worker,
        "state": shard.state,
        "in_flight": last.in_flight if last else 0,
        "waiting": last.waiting if last else 0,
        "window": round(last.window, 1) if last and last.window is not None else None,
    }
