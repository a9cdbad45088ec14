"""The user that Locust spawns: it stands for one of the run's clients, and idles. The load is `loadgen`'s."""

from __future__ import annotations

from locust import User, constant, task

# A user that waits between tasks is stopped at once, also with `--stop-timeout`.
A_LONG_TIME_S = 10_000_000


class Client(User):
    """As many as `-u` says, shared among the workers by Locust; which of them is which client says the plan."""

    wait_time = constant(A_LONG_TIME_S)

    @task
    def idle(self) -> None:
        """Nothing."""
