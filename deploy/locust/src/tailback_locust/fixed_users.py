"""The number of users is the number of clients of a run, and fixed: whoever wants to change it meanwhile is refused."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from locust.runners import STATE_RUNNING, STATE_SPAWNING, MasterRunner

logger = logging.getLogger(__name__)

REASON = "refused: the number of users is the number of clients, and fixed while a run is under way"


class Refused(Exception):
    """A run that cannot begin, with the reason."""


def has_users(runner: MasterRunner) -> bool:
    """Whether users are there, or come."""
    return runner.state in (STATE_SPAWNING, STATE_RUNNING)


def guard(
    runner: MasterRunner,
    is_under_way: Callable[[], bool],
    prepare: Callable[[int], None],
    on_refused: Callable[[str], None],
) -> None:
    """Puts itself before `runner.start`, through which all changes come: the form and Edit of the web UI, the keys w and s, a
    LoadTestShape, and Locust itself when it balances users among the workers that are left. `prepare` may refuse a new run."""
    start = runner.start

    def guarded(user_count: int, *args: Any, **kwargs: Any) -> None:
        if is_under_way():
            logger.warning("tailback: %s (%d to %d users)", REASON, runner.target_user_count, user_count)
            return
        try:
            prepare(user_count)
        except Refused as why:
            on_refused(str(why))
            return
        start(user_count, *args, **kwargs)

    # Locust calls it by this name, too.
    runner.start = guarded  # type: ignore[method-assign]
