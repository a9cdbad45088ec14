"""Locust starts, watches and ends Tailback's load generators on many machines, and merges what they measured.

`register` is all that a locustfile needs besides the user class. From there on: `arguments` is what can be asked for, `master` and
`worker` are the two sides, `messages` what they say to one another.
"""

from __future__ import annotations

from typing import Any

from locust.env import Environment
from locust.event import Events
from locust.runners import MasterRunner, WorkerRunner

from tailback_locust import arguments
from tailback_locust.client import Client
from tailback_locust.master import Master
from tailback_locust.worker import Worker

__all__ = ["Client", "register"]


def register(events: Events) -> None:
    """Listens to what Locust tells, on whichever side this process turns out to be."""
    events.init_command_line_parser.add_listener(arguments.add)

    def on_init(environment: Environment, **_: Any) -> None:
        runner = environment.runner
        if isinstance(runner, MasterRunner):
            Master(environment, runner).listen()
        elif isinstance(runner, WorkerRunner):
            Worker(environment, runner).listen()
        else:
            # Nothing is done by a process alone: shards need somebody who numbers and merges them.
            raise SystemExit("tailback: give `--master`, `--worker` or `--processes N`; on one machine `--processes 1` will do")

    events.init.add_listener(on_init)
