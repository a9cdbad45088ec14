"""Does a Job of `job.yaml` as processes of this machine: what a cluster would do of it, as far as a shard can tell.

as_processes.py JOB.yaml LOADGEN FOLDER
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

VARIABLE = re.compile(r"\$\(([A-Z_]+)\)")


def container_of(job: dict[str, Any]) -> dict[str, Any]:
    """The only one of its pods."""
    [container] = job["spec"]["template"]["spec"]["containers"]
    return dict(container)


def command_of(job: dict[str, Any], environment: dict[str, str], loadgen: str, results: Path) -> list[str]:
    """As the kubelet makes it: `$(NAME)` is what the environment says, and the volume lies where it is mounted."""
    container = container_of(job)
    [program] = container["command"]
    assert program == "loadgen", program
    [mount] = container["volumeMounts"]
    words = [VARIABLE.sub(lambda found: environment[found[1]], word) for word in container["args"]]
    return [loadgen, *(word.replace(mount["mountPath"] + "/", f"{results}/") for word in words)]


def run_all(commands: list[tuple[list[str], dict[str, str]]]) -> None:
    """At the same time, as with `parallelism`."""
    running = [subprocess.Popen(command, env={**os.environ, **environment}) for command, environment in commands]
    codes = [process.wait() for process in running]
    if any(codes):
        sys.exit(f"exit codes {codes}")


def main() -> None:
    """Shards, merge, and the whole in one."""
    path, loadgen, folder = sys.argv[1:]
    jobs = {job["metadata"]["name"]: job for job in yaml.safe_load_all(Path(path).read_text()) if job["kind"] == "Job"}
    shards, merge = jobs["tailback-shards"], jobs["tailback-merge"]
    results = Path(folder) / "results"
    results.mkdir()

    assert shards["spec"]["completionMode"] == "Indexed"
    count = shards["spec"]["completions"]
    environments = [{"JOB_COMPLETION_INDEX": str(index)} for index in range(count)]
    run_all([(command_of(shards, environment, loadgen, results), environment) for environment in environments])
    run_all([(command_of(merge, {}, loadgen, results), {})])

    alone = Path(folder) / "alone.json"
    of_first = command_of(shards, environments[0], loadgen, results)
    whole = [word for word in of_first if not word.startswith(("--shard=", "--json="))]
    run_all([([*whole, f"--json={alone}"], {})])
    merged = (results / "sweep.json").read_bytes()
    if merged != alone.read_bytes():
        sys.exit("what is merged differs from the command without `--shard`")
    assert "</html>" in (results / "sweep.html").read_text()
    print(f"{count} shards as processes, merged: the {len(merged)} bytes of one process")


main()
