"""What the command line and the form of the web UI ask for, and the flags of `loadgen` that this comes to."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from typing import Any

# What each worker is told on its own, or what would write where nobody looks.
RESERVED = (
    "--barrier", "--barrier-timeout", "--client-shard", "--clients", "--json", "--ops", "--progress", "--rate", "--run-id",
    "--shard", "--simulate", "--start-at", "--strategy", "--target", "-s",
)  # fmt: skip

# The arguments of this package that the form of the web UI may set. None of them can hold a path.
ON_THE_PAGE = ("strategy", "ops", "rate", "barrier", "barrier_timeout", "start_in")


def add(parser: Any, **_: Any) -> None:
    """Adds the arguments. Those of `ON_THE_PAGE` can be changed in the form of the web UI, too. The others name files and programs, or
    may hold flags that do."""
    parser.add_argument("--strategy", metavar="S", default="aimd", help="Strategy, as `loadgen strategies` has it")
    parser.add_argument("--ops", metavar="N", default="", help="Operations of all clients together [loadgen's default: 2000]")
    parser.add_argument("--rate", metavar="R", default="", help="Arrivals of all clients together [loadgen's default: 1000/s]")
    parser.add_argument(
        "--loadgen-flags",
        metavar="FLAGS",
        default="",
        include_in_web_ui=False,
        help="More flags of loadgen, set on the master: --loadgen-flags='--seed 7'",
    )
    parser.add_argument(
        "--merge-flags",
        metavar="FLAGS",
        default="",
        include_in_web_ui=False,
        help="Flags of `loadgen merge`: --merge-flags='--html a.html'",
    )
    parser.add_argument("--barrier", metavar="URL", default="", help="Mockserver where shards wait for one another [the host]")
    parser.add_argument("--barrier-timeout", metavar="TIME", default="60s", help="How long they wait there")
    parser.add_argument(
        "--start-in", metavar="SECONDS", default="", help="Instead of a barrier: so long after all users are there, by each worker's clock"
    )
    parser.add_argument(
        "--results", metavar="FILE", default="tailback.json", include_in_web_ui=False, help="The merged document, on the master"
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        include_in_web_ui=False,
        help="Further name of the web page's host, besides addresses and localhost; repeatable",
    )
    parser.add_argument(
        "--loadgen",
        metavar="PATH",
        default="loadgen",
        env_var="TAILBACK_LOADGEN",
        include_in_web_ui=False,
        help="The program, on this machine",
    )


class WrongArguments(Exception):
    """What was asked for cannot be done, with the reason."""


def flags_of_run(options: Namespace, host: str | None, clients: int) -> list[str]:
    """The flags that all shards share."""
    if not host:
        raise WrongArguments("no host: give the target with `-H URL`")
    more = _split("--loadgen-flags", options.loadgen_flags)
    for flag in more:
        name = flag.split("=", 1)[0]
        if name in RESERVED:
            raise WrongArguments(f"`{name}` cannot be among `--loadgen-flags`: it is the plan's; most have an argument of their own")
    # Flag and value in one word, so that no value is taken for a flag.
    flags = [f"--strategy={options.strategy}", f"--clients={clients}", f"--target={host}"]
    for name, value in (("--ops", options.ops), ("--rate", options.rate)):
        if value:
            flags.append(f"{name}={value}")
    return flags + more


def start_in(options: Namespace) -> float | None:
    """Seconds from the last user to the start; none with a barrier."""
    if not options.start_in:
        return None
    if options.barrier:
        raise WrongArguments("`--barrier` and `--start-in` are two ways to start together: take one")
    try:
        seconds = float(options.start_in)
    except ValueError:
        seconds = 0.0
    # Shorter than a second is over before every worker has heard of it.
    if not 1 <= seconds <= 3600:
        raise WrongArguments(f"`--start-in {options.start_in}` must be seconds, from 1 to 3600")
    return seconds


def flags_of_barrier(options: Namespace, host: str) -> list[str]:
    """The flags of a start at a barrier."""
    return [f"--barrier={options.barrier or host}", f"--barrier-timeout={options.barrier_timeout}"]


def flags_of_merge(options: Namespace) -> list[str]:
    """What `loadgen merge` is told besides the files."""
    return _split("--merge-flags", options.merge_flags)


def _split(name: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise WrongArguments(f"`{name} {text}` cannot be read: {error}") from error


def results_of(options: Namespace) -> str:
    """Where the merged document goes, as an absolute path: it is told in logs."""
    return os.path.abspath(str(options.results))
