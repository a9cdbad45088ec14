"""The program `loadgen` on this machine: where it is, and which version."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from gevent import subprocess

# A program that answers `--version` later than this is none of ours.
PATIENCE_S = 20


class NoProgram(Exception):
    """There is none, or it is another one."""


@dataclass(frozen=True)
class Program:
    """A `loadgen` that answers."""

    path: str
    version: str

    @classmethod
    def find(cls, name: str) -> Program:
        """By its path, or on the path."""
        path = shutil.which(name)
        if path is None:
            raise NoProgram(f"`{name}` is not installed here; name it with `--loadgen PATH` or TAILBACK_LOADGEN")
        try:
            told = subprocess.run([path, "--version"], capture_output=True, timeout=PATIENCE_S, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise NoProgram(f"`{path} --version` cannot be run: {error}") from error
        version = told.stdout.decode(errors="replace").strip()
        if not version.startswith("loadgen "):
            raise NoProgram(f"`{path}` is no loadgen: it says `{version[:80]}`")
        return cls(path, version)
