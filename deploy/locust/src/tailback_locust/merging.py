"""What all shards come to: their documents through `loadgen merge`, and the exit code."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from gevent import subprocess

from tailback_locust.program import Program
from tailback_locust.run import Run, ShardState

# The exit codes of loadgen that are given here.
UNMET = 1
USAGE = 2
UNREACHABLE = 69
OUTPUT = 74
INTERRUPTED = 130


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    exit: int
    # In a sentence or more.
    words: str


def merge(program: Program, run: Run, path: str, flags: list[str]) -> Outcome:
    """Writes what the shards wrote into a folder next to `path`, and what they come to into `path`."""
    folder = f"{path}.shards"
    try:
        # Those of an earlier run would be doubled shards for whoever merges this folder again.
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            if name.endswith((".json", ".broken")):
                os.unlink(os.path.join(folder, name))
        if os.path.exists(path):
            os.unlink(path)
        files = _write(run, folder)
    except OSError as error:
        return Outcome(OUTPUT, f"results cannot be written: {error}")
    lost = [f"shard {shard.index} of {len(run.shards)}: {why}" for shard in run.shards if (why := _lost(shard))]
    if not files:
        return Outcome(_exit_of_none(run), "; ".join(["nothing to merge", *lost]))
    # Of repeats the first ones may be there: why the rest is not, its loadgen has said.
    lost += [f"some runs of shard {shard.index} of {len(run.shards)}: {why}" for shard in run.shards if (why := _cut_short(shard))]
    partial = ["--partial"] if lost else []
    try:
        told = _loadgen_merge(program, [*partial, *files.values(), "-o", path, *flags])
        if told.returncode == USAGE and _distrust_unread(program, run, files):
            # Without them: each round has fewer files.
            return merge(program, run, path, flags)
    except OSError as error:
        return Outcome(USAGE, f"`{program.path} merge` cannot be run: {error}")
    words = "\n".join([*(f"lost: {words}" for words in lost), *_words(told)])
    return Outcome(_exit_of(told.returncode, run), words)


def _loadgen_merge(program: Program, arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program.path, "merge", *arguments], stdin=subprocess.DEVNULL, capture_output=True)


def _words(told: subprocess.CompletedProcess[bytes]) -> list[str]:
    return [line for line in (told.stderr + told.stdout).decode(errors="replace").splitlines() if line.strip()]


def _distrust_unread(program: Program, run: Run, files: dict[int, str]) -> bool:
    """Gives shards up whose documents `loadgen merge` refuses each alone, and says whether there are any. The rest is merged."""
    for index, file in files.items():
        told = _loadgen_merge(program, ["--partial", file, "-o", os.devnull, "--quiet"])
        if told.returncode == USAGE:
            run.shards[index].distrust(_reason("\n".join(_words(told))))
    return any(run.shards[index].is_distrusted for index in files)


def _write(run: Run, folder: str) -> dict[int, str]:
    """Writes each document, and returns the files that are to be merged by their shards."""
    files = {}
    for shard in run.shards:
        if shard.ended is None or shard.ended.document is None:
            continue
        # For who wants to see it; it is not merged.
        is_lost = shard.is_distrusted or _is_broken(shard)
        path = os.path.join(folder, f"{shard.index}.broken" if is_lost else f"{shard.index}.json")
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(shard.ended.document)
        if not is_lost:
            files[shard.index] = path
    return files


def _is_broken(shard: ShardState) -> bool:
    """Whether what came as the document of a shard is no JSON, or the document of another shard."""
    try:
        document = json.loads(shard.ended.document or "") if shard.ended else None
    except (ValueError, RecursionError):
        return True
    own = document.get("shard") if isinstance(document, dict) else None
    return not isinstance(own, dict) or own.get("index") != shard.index


def _lost(shard: ShardState) -> str:
    """Why there is nothing of a shard; empty when there is."""
    if shard.is_distrusted or shard.ended is None:
        return shard.lost or "nothing came of it"
    words = _reason(shard.ended.words)
    if shard.ended.document is None:
        return f"loadgen of worker {shard.worker} ended with {shard.ended.exit} and wrote nothing: {words}"
    if _is_broken(shard):
        return f"the document of worker {shard.worker} is broken, loadgen ended with {shard.ended.exit}: {words}"
    return ""


def _cut_short(shard: ShardState) -> str:
    """Why not all runs of a shard are there that is not lost; empty when they are."""
    if shard.is_distrusted or shard.ended is None or shard.ended.document is None or _is_broken(shard):
        return ""
    try:
        document = json.loads(shard.ended.document)
        done, planned = len(document["tasks"]), document["plan"]["tasks"]
    except (KeyError, TypeError, IndexError):
        # `merge` names what is none.
        return ""
    if done == planned:
        return ""
    return f"loadgen of worker {shard.worker} ended with {shard.ended.exit} after {done} of {planned}: {_reason(shard.ended.words)}"


def _reason(words: str) -> str:
    """The line of stderr that says what went wrong; help may follow it."""
    lines = [line for line in words.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error:")]
    return (errors or lines or ["no words"])[-1]


def _exit_of(merged: int, run: Run) -> int:
    """What a single loadgen would have ended with: `merge` judges the figures, and an interrupted run is one, however good. A run that
    could not be done is no more than missing to `merge`."""
    codes = [shard.ended.exit for shard in run.shards if shard.ended is not None]
    if merged == UNMET and UNREACHABLE in codes:
        return UNREACHABLE
    return INTERRUPTED if merged in (0, UNMET) and INTERRUPTED in codes else merged


def _exit_of_none(run: Run) -> int:
    """Of shards none of which wrote anything: why the first one failed that was not only stopped because of others."""
    codes = [shard.ended.exit for shard in run.shards if shard.ended is not None and shard.ended.exit > 0]
    own = [code for code in codes if code != INTERRUPTED]
    return (own or codes or [UNMET])[0]
