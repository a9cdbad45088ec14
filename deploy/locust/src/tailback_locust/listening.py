"""What the master receives of workers: bytes and messages that nobody can read must not end Locust's own listening."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from locust.exception import RPCError, RPCReceiveError
from locust.runners import MasterRunner

from tailback_locust.messages import is_number

# What Locust reads of its own messages without looking. It listens in one greenlet, which ends at the first exception.
LOCUSTS_OWN: dict[str, Callable[[Any], bool]] = {
    "client_ready": lambda data: not data or data == -1 or isinstance(data, str),
    "locustfile": lambda data: _has(data, version=str),
    "heartbeat": lambda data: _has(data, state=str) and is_number(data.get("current_cpu_usage")),
    "stats": lambda data: _has(data, stats=list, stats_total=dict, errors=dict),
    "spawning_complete": lambda data: _has(data, user_classes_count=dict),
    "exception": lambda data: _has(data, msg=str, traceback=str),
    "logs": lambda data: _has(data, worker_id=str, logs=list),
}


def _has(data: Any, **kinds: type) -> bool:
    return isinstance(data, dict) and all(isinstance(data.get(key), kind) for key, kind in kinds.items())


def why_broken(client: str, message: Any) -> str:
    """Why a message of Locust itself, or the envelope of any, cannot be read; empty when it can."""
    if not isinstance(message.type, str):
        return "it is of no type"
    if message.node_id != client:
        return f"`{message.type}` has another sender"
    is_whole = LOCUSTS_OWN.get(message.type)
    return "" if is_whole is None or is_whole(message.data) else f"`{message.type}` is not what Locust sends"


def guard(runner: MasterRunner, on_broken: Callable[[str, str], None]) -> None:
    """Puts itself before what Locust receives, also after it has opened its socket again: calls `on_broken` with the worker and the
    reason, and passes on what can be read."""
    _guard_server(runner.server, on_broken)
    reset = runner.reset_connection

    def guarded_reset() -> None:
        before = runner.server
        reset()
        if runner.server is not before:
            _guard_server(runner.server, on_broken)

    runner.reset_connection = guarded_reset  # type: ignore[method-assign]


def _guard_server(server: Any, on_broken: Callable[[str, str], None]) -> None:
    receive = server.recv_from_client

    def guarded() -> tuple[str, Any]:
        while True:
            try:
                client, message = receive()
            except RPCError:
                raise
            except Exception as error:
                # Locust writes this to its log and listens on.
                raise RPCReceiveError(f"a message cannot be read: {error!r:.200}") from error
            why = why_broken(client, message)
            if not why:
                return client, message
            on_broken(client, why)

    server.recv_from_client = guarded
