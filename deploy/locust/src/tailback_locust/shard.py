"""One `loadgen` that does a shard: started, listened to, and ended as by Ctrl-C."""

from __future__ import annotations

import ctypes
import json
import logging
import os
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from typing import Any

import gevent
from gevent import subprocess

logger = logging.getLogger(__name__)

# Of prctl(2): the signal that a process gets when the one that started it is gone.
PR_SET_PDEATHSIG = 1

# The last lines of stderr that are kept.
LINES_KEPT = 20


class Shard:
    """A `loadgen` under way. `on_progress` hears every line of its progress, and `on_end` that it is over, last."""

    def __init__(
        self,
        command: list[str],
        on_progress: Callable[[dict[str, Any]], None],
        on_end: Callable[[Shard], None],
    ) -> None:
        self.folder = tempfile.mkdtemp(prefix="tailback-shard-")
        self.document_path = os.path.join(self.folder, "shard.json")
        self.words: deque[str] = deque(maxlen=LINES_KEPT)
        self.exit: int | None = None
        self._on_progress = on_progress
        self._interrupted = False
        parent = os.getpid()
        # In a session of its own a Ctrl-C in the terminal reaches it by its worker only, and once.
        self._process = subprocess.Popen(
            [*command, "--json", self.document_path, "--progress", "ndjson", "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: _die_with(parent),
        )
        self._readers = [gevent.spawn(self._read_progress), gevent.spawn(self._read_words)]
        self._waiter = gevent.spawn(self._wait, on_end)

    @property
    def pid(self) -> int:
        """Of its process."""
        return int(self._process.pid)

    def interrupt(self) -> None:
        """Stops it as Ctrl-C does: it sends nothing more, waits a moment for what is under way, and writes what there is."""
        # A second one would ask it not to wait.
        if not self._interrupted:
            self._interrupted = True
            self._signal(signal.SIGINT)

    def join(self, timeout: float) -> None:
        """Waits until all is over, `on_end` included; who is not ready by then is killed."""
        self._waiter.join(timeout)
        if not self._waiter.ready():
            logger.error("tailback: loadgen (process %d) does not end; killed", self.pid)
            self._signal(signal.SIGKILL)
            self._waiter.join(timeout)

    def document(self) -> str | None:
        """What it wrote, if it did."""
        try:
            with open(self.document_path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None

    def forget(self) -> None:
        """Removes what it wrote: somebody else has it."""
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        os.rmdir(self.folder)

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:
            self._process.send_signal(number)

    def _read_progress(self) -> None:
        for line in self._process.stdout or ():
            try:
                progress = json.loads(line)
                self._on_progress(progress)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                logger.warning("tailback: a line of progress cannot be read: %r (%s)", line[:200], error)

    def _read_words(self) -> None:
        for line in self._process.stderr or ():
            words = line.decode(errors="replace").rstrip()
            self.words.append(words)
            logger.warning("loadgen: %s", words)

    def _wait(self, on_end: Callable[[Shard], None]) -> None:
        # Everything it said is read before its end is told.
        gevent.joinall(self._readers)
        self.exit = self._process.wait()
        on_end(self)


def _die_with(parent: int) -> None:
    """In the new process: a worker that is killed can end nothing any more, so the kernel does. Linux has this, others do not."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
    if os.getppid() != parent:
        # It was gone before.
        os._exit(130)
