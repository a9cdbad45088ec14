"""What master and workers say to one another over Locust's connection, besides what Locust says itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeVar

# Of these messages; a worker that speaks another one is not given any work.
PROTOCOL = 1

# Worker to master.
HELLO = "tailback_hello"
GAUGES = "tailback_gauges"
ENDED = "tailback_ended"
# Master to worker.
WHO = "tailback_who"
PLAN = "tailback_plan"
START = "tailback_start"
STOP = "tailback_stop"

T = TypeVar("T", bound="Content")


class BrokenMessage(Exception):
    """What came is not what the other side should send."""


def is_count(value: Any) -> bool:
    """Whether it is a whole number from 0."""
    return type(value) is int and value >= 0


def is_number(value: Any) -> bool:
    """Whether it is a finite number."""
    return type(value) in (int, float) and math.isfinite(value)


def printable(text: str) -> str:
    """Replaces control characters other than line breaks, because terminals act on them."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)


# What the annotations of fields allow.
KINDS: dict[str, Callable[[Any], bool]] = {
    "bool": lambda value: type(value) is bool,
    "int": lambda value: type(value) is int,
    "float": is_number,
    "float | None": lambda value: value is None or is_number(value),
    "str": lambda value: type(value) is str,
    "str | None": lambda value: value is None or type(value) is str,
    "list[str]": lambda value: type(value) is list and all(type(word) is str for word in value),
}


@dataclass(frozen=True)
class Content:
    """What a message holds."""

    def data(self) -> dict[str, Any]:
        """As Locust sends it."""
        return asdict(self)

    @classmethod
    def read(cls: type[T], data: Any) -> T:
        """Of what came; more than is known is left out, as it may come from a later version."""
        if not isinstance(data, dict):
            raise BrokenMessage(f"{cls.__name__}: not a map")
        known = {}
        for field in fields(cls):
            if field.name in data:
                known[field.name] = data[field.name]
                if not KINDS[str(field.type)](data[field.name]):
                    raise BrokenMessage(f"{cls.__name__}: `{field.name}` is not {field.type}")
            elif field.default is MISSING:
                raise BrokenMessage(f"{cls.__name__}: `{field.name}` is missing")
        return cls(**known)


@dataclass(frozen=True)
class Hello(Content):
    """A worker is there, with this program or without any."""

    protocol: int
    # Of the package, and what `loadgen --version` says; with `error` there is none.
    package: str
    loadgen: str
    error: str = ""


@dataclass(frozen=True)
class Plan(Content):
    """Which shard a worker does."""

    # Tells the plans of two runs apart.
    run: str
    index: int
    of: int
    strategy: str
    # All flags but those of the start by the clock, and where the worker has the document written.
    flags: list[str]
    # Whether the start comes in a message of its own.
    by_clock: bool = False


@dataclass(frozen=True)
class Start(Content):
    """When shards start that have no barrier: seconds since 1970."""

    run: str
    at: float


@dataclass(frozen=True)
class Gauges(Content):
    """Where a shard stands now."""

    run: str
    index: int
    t_s: float
    in_flight: int
    waiting: int
    window: float | None = None


@dataclass(frozen=True)
class Ended(Content):
    """A shard is over."""

    run: str
    index: int
    # The exit code of its `loadgen`; negative when a signal killed it.
    exit: int
    # What it wrote with `--json`, if it did.
    document: str | None = None
    # The last of what it said on stderr.
    words: str = ""
