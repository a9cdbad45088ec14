"""Everything a test needs around it: a mockserver, a master and workers as processes of this machine, in a folder of their own."""

from __future__ import annotations

import contextlib
import http.cookiejar
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# As `check` has it.
BIN = Path(os.environ["TAILBACK_BIN"]).absolute()
LOCUSTFILE = Path(__file__).parent.parent / "locustfile.py"

# As a browser has them: the web page gives a cookie, and takes no form without it.
COOKIES = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

# Longer than anything here lasts on a machine that does nothing else.
PATIENCE_S = 300


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Scene(unittest.TestCase):
    """A test with processes; none of them outlives it."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tailback-check-"))
        self.port, self.web_port = free_port(), free_port()
        self._processes: list[subprocess.Popen[bytes]] = []
        self.addCleanup(self._clean_up)

    def _clean_up(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        outcome = self._outcome.result  # type: ignore[attr-defined]
        if any(test is self for test, _ in [*outcome.failures, *outcome.errors]):
            print(f"\nlogs are kept: {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder)

    def spawn(self, name: str, command: list[str], own_terminal: bool = False, **environment: str) -> subprocess.Popen[bytes]:
        with open(self.folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                # What is left behind by who was killed goes with the folder.
                env={**os.environ, "TMPDIR": str(self.folder), **environment},
                # Where Ctrl-C means it and all that it starts.
                start_new_session=own_terminal,
            )
        self._processes.append(process)
        return process

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def mockserver(self, *flags: str) -> str:
        url = f"http://127.0.0.1:{free_port()}"
        self.spawn("mockserver", [str(BIN / "mockserver"), "--listen", url.removeprefix("http://"), *flags])
        self.eventually("the mockserver answers", lambda: fetched(f"{url}/_mock/stats") is not None)
        return url

    def locust(
        self, name: str, *flags: str, loadgen: Path | None = None, locustfile: Path = LOCUSTFILE, own_terminal: bool = False
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "locust", "-f", str(locustfile), *flags]
        return self.spawn(name, command, own_terminal, TAILBACK_LOADGEN=str(loadgen or BIN / "loadgen"))

    def master(self, *flags: str, **more: Any) -> subprocess.Popen[bytes]:
        return self.locust("master", "--master", "--master-bind-port", str(self.port), *flags, **more)

    def headless(self, url: str, *flags: str, workers: int = 4, users: int = 4, **more: Any) -> subprocess.Popen[bytes]:
        plan = ["--headless", "--expect-workers", str(workers), "-u", str(users), "-r", "100", "-H", url, "--json-file", "stats"]
        return self.master(*plan, *flags, **more)

    def worker(self, number: int, *flags: str, **more: Any) -> subprocess.Popen[bytes]:
        return self.locust(f"worker{number}", "--worker", "--master-port", str(self.port), *flags, **more)

    def workers(self, count: int) -> list[subprocess.Popen[bytes]]:
        return [self.worker(number) for number in range(count)]

    def wrapped(self, script: str) -> Path:
        """A program in the place of loadgen; `$REAL` is the real one."""
        path = self.folder / "wrapped-loadgen"
        path.write_text(f"#!/bin/sh\nREAL='{BIN / 'loadgen'}'\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def ends(self, process: subprocess.Popen[bytes], name: str) -> int:
        """The exit code."""
        try:
            return process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.fail(f"{name} does not end:\n{self.log(name)}")

    def eventually(self, what: str, is_so: Callable[[], bool], patience: float = PATIENCE_S) -> None:
        until = time.monotonic() + patience
        while not is_so():
            if time.monotonic() > until:
                self.fail(f"not so in the end: {what}")
            time.sleep(0.05)

    def merged(self) -> dict[str, Any]:
        """The merged document."""
        return dict(json.loads((self.folder / "tailback.json").read_text()))

    def requests(self) -> dict[str, tuple[int, int]]:
        """Requests and failures that Locust counted, by type."""
        rows = json.loads((self.folder / "stats.json").read_text())
        return {row["method"]: (row["num_requests"], row["num_failures"]) for row in rows}

    def loadgen_of(self, worker: subprocess.Popen[bytes]) -> int:
        """The process of a worker's shard, when it is there."""
        found: list[int] = []

        def look() -> bool:
            found[:] = children_of(worker.pid)
            return bool(found)

        self.eventually("a worker has started loadgen", look)
        return found[0]


def children_of(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def is_alive(pid: int) -> bool:
    """Not counting those that have ended and nobody has asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def fetched(url: str, form: dict[str, Any] | None = None) -> str | None:
    """What is answered; none when nobody does."""
    data = None if form is None else urllib.parse.urlencode(form).encode()
    try:
        with COOKIES.open(url, data, timeout=10) as answer:
            return str(answer.read().decode())
    except (urllib.error.URLError, OSError):
        return None


def stats(url: str, run: str = "") -> dict[str, Any]:
    """The server's ledger."""
    return dict(json.loads(fetched(f"{url}/_mock/stats" + (f"?run={run}" if run else "")) or "{}"))


def shard_runs(folder: Path) -> Iterator[dict[str, Any]]:
    """The run that each shard's document holds."""
    for path in sorted((folder / "tailback.json.shards").glob("*.json")):
        for task in json.loads(path.read_text())["tasks"]:
            yield task["run"]


__all__ = ["BIN", "Scene", "children_of", "fetched", "free_port", "is_alive", "shard_runs", "signal", "stats"]
