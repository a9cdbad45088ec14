"""Recomputes the ratios and intervals of a comparison with SciPy, from the runs in its JSON document.

Usage: intervals.py DOCUMENT.json SCREEN.txt

Independent of loadgen: paired ratios to the best strategy, geometric mean, Student's t on the logarithms, each interval at
1 - 0.05 / m with m = 2 * pairs of ranked strategies. Exits with 1 if a figure of the document differs by more than 1e-9, or if
the screen does not show it.
"""

import json
import math
import sys
from itertools import combinations

from scipy import stats


def value(run, path):
    for key in path.split("."):
        run = run[key]
    return run


def ratio_and_interval(of, best, level):
    logs = [math.log(a / b) for a, b in zip(of, best, strict=True)]
    mean = sum(logs) / len(logs)
    error = stats.sem(logs)
    low, high = stats.t.interval(level, len(logs) - 1, mean, error)
    return math.exp(mean), math.exp(low), math.exp(high)


def decimals(low, high):
    if high >= 99.95:
        return 0
    if high >= 9.995:
        return 1
    return 2 if min(abs(low - 1), abs(high - 1)) >= 0.01 else 3


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        screen = file.read()
    comparison = document["comparison"]
    runs = {}
    for run in document["runs"]:
        runs.setdefault(run["strategy"], {})[run["seed"]] = run
    ranked = [one for one in comparison["strategies"] if one["place"] is not None]
    level = 1 - 0.05 / (2 * len(list(combinations(ranked, 2))))
    assert abs(level - comparison["level"]) < 1e-12, (level, comparison["level"])
    checked = 0
    for key in ["times_best", "attempts_times_best"]:
        compared = [one for one in ranked if one[key] is not None]
        path = compared[0][key]["figure"]
        values = {
            one["strategy"]: [value(run, path) for _, run in sorted(runs[one["strategy"]].items())] for one in compared
        }
        best = next(one["strategy"] for one in compared if one[key]["low"] is None)
        for one in compared:
            if one["strategy"] == best:
                continue
            found = ratio_and_interval(values[one["strategy"]], values[best], level)
            written = [one[key][part] for part in ["ratio", "low", "high"]]
            for mine, theirs in zip(found, written, strict=True):
                assert abs(mine - theirs) < 1e-9 * max(1, abs(mine)), (one["strategy"], key, found, written)
            checked += 1
            if key == "times_best":
                ratio, low, high = found
                digits = decimals(low, high)
                shown = [f"{ratio:.{digits}f}", f"{low:.{digits}f}–{high:.{digits}f}"]
                assert all(text in screen for text in shown), (one["strategy"], shown, screen)
    assert checked > 0
    print(f"{checked} ratios and intervals agree")


if __name__ == "__main__":
    main()
