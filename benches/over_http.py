#!/usr/bin/env python3
"""Runs the experiments of docs/tailback.toml over HTTP and in virtual time, and prints both figures side by side.

    benches/over_http.py [--repeats 5] [--only default]

All runs over HTTP are in real time, except those against the OpenAI preset, whose minutes are shortened to a tenth. That takes ten
minutes with five seeds. The exit status is 1 if a claim of the file does not come out as expected over HTTP or in virtual time.

The program uses real-time priority if it may (root may), so that other work on the machine does not delay attempts. Otherwise the
machine has to be quiet: the last column is the send lag, the 99th percentile of how late attempts were sent.
"""

import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIST = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "dist")
SCENARIO = os.path.join(ROOT, "docs", "tailback.toml")

# Experiment, its time scale over HTTP, and its number of seeds unless --repeats gives one.
EXPERIMENTS = [("default", 1, 5), ("caps", 1, 5), ("outage", 1, 5), ("openai", 0.1, 2)]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--repeats", type=int, metavar="N", help="seeds of each experiment over HTTP [default: 5, openai 2]")
    args.add_argument("--only", default="", metavar="WORDS", help="experiments whose names contain these words")
    args.add_argument("--programs", metavar="FOLDER", help="folder with an already built loadgen [default: build it]")
    args = args.parse_args()
    chosen = [experiment for experiment in EXPERIMENTS if args.only in experiment[0]]
    if not chosen:
        sys.exit(f"error: no experiment has `{args.only}` in its name: " + ", ".join(name for name, *_ in EXPERIMENTS))
    if not args.programs:
        subprocess.run(["cargo", "build", "--profile", "dist", "--bin", "loadgen"], cwd=ROOT, check=True)
    loadgen = os.path.join(args.programs or DIST, "loadgen")
    simulated, expected = reproduce(loadgen)
    request_real_time_priority()
    print("| experiment | strategy | seeds | ops done | HTTP | makespan s | HTTP | | attempts | HTTP | | send lag p99 ms |")
    print("|---|---|" + "---:|" * 10, flush=True)
    for name, scale, repeats in chosen:
        repeats = args.repeats or repeats
        over_http, as_expected = reproduce(
            loadgen, "--http", "--time-scale", str(scale), "--set", f'http.experiments=["{name}"]',
            "--set", f"http.repeats={repeats}")
        expected &= as_expected
        for key, cell in over_http.items():
            print(row(key, simulated[key], cell), flush=True)
    return 0 if expected else 1


def request_real_time_priority():
    """Takes precedence over other programs of this machine, for this program and for those that it starts."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except (AttributeError, PermissionError):
        print("warning: no real-time priority; other programs can delay attempts", file=sys.stderr)


def reproduce(loadgen, *more):
    """Returns the figures by experiment and strategy, and whether all claims came out as expected."""
    command = [loadgen, "reproduce", "--scenario", SCENARIO, "--json", "-", "--quiet", *more]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"error: `{' '.join(command)}` failed with status {done.returncode}")
    scenario = json.loads(done.stdout)["scenarios"][0]
    for claim in scenario["claims"]:
        if claim["as_expected"] is False:
            print(f"not as expected: {claim['says']}: {claim['ours']}", file=sys.stderr)
    cells = {(cell["experiment"], cell["label"]): cell["figures"] for cell in scenario["cells"]}
    return {key: figures for key, figures in cells.items() if figures.get("makespan_s")}, done.returncode == 0


def row(key, simulated, over_http):
    cells = [key[0], f"`{key[1]}`", over_http["makespan_s"]["count"]]
    if "ops.succeeded" in simulated:
        cells += [mean(simulated, "ops.succeeded", 0), mean(over_http, "ops.succeeded", 0)]
    else:
        cells += ["all", "all"]
    for figure, digits in (("makespan_s", 2), ("attempts.total", 0)):
        off = over_http[figure]["mean"] / simulated[figure]["mean"] - 1
        cells += [mean(simulated, figure, digits), mean(over_http, figure, digits), f"{off * 100:+.1f} %"]
    cells.append(mean(over_http, "generator.send_lag_ms.p99", 2))
    return "| " + " | ".join(map(str, cells)) + " |"


def mean(figures, figure, digits):
    """Returns the mean with the standard deviation over the seeds, if there are several."""
    stats = figures[figure]
    deviation = f" ± {stats['sd']:.{digits}f}" if stats["count"] > 1 and stats["sd"] else ""
    return f"{stats['mean']:.{digits}f}{deviation}"


if __name__ == "__main__":
    sys.exit(main())
