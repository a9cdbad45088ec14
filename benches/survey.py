#!/usr/bin/env python3
"""Compares the costs of strategies on many random servers with the costs of a reference strategy.

    benches/survey.py [--strategies S,S] [--draw SEED] [--json FILE] [--plot FILE] [--explain]
    benches/survey.py --saved [--plot FILE] [--explain]

A setting is a server and a workload, as flags of `loadgen compare`. The settings are those of docs/tailback-survey.json, or
new ones with `--draw`. Each setting runs in virtual time: `loadgen compare --simulate --json -` with its flags. `--saved` prints
and draws the runs of docs/tailback-survey.json instead.

Ratios to the reference are paired by setting and seed, and means are geometric. An unfinished run counts as five times its
time, divided by its share of ops done. The script takes some minutes, and needs no package besides Python 3.
"""

import argparse
import html
import json
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from math import ceil, exp, floor, log, log10, sqrt

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAVED = os.path.join(ROOT, "docs", "tailback-survey.json")
STRATEGIES = "aimd,aimd:beta=0.8,cubic,bbr,full-jitter,aws-adaptive,preset:vector,hold+aimd,tailback,tailback:hold=off"

# Factor on the time of an unfinished run. Without it, a strategy that gives up early would look fast.
UNFINISHED = 5
# Ratio of times above which a strategy counts as slower in a setting.
SLOWER = 1.1


class Setting:
    """A server and a workload, and the runs of all strategies: one list each, in the order of seeds."""

    def __init__(self, number, flags, runs=None, is_advised=False):
        self.number, self.flags, self.runs, self.is_advised = number, flags, runs, is_advised
        words = flags.split()
        given = dict(zip(words[::2], words[1::2]))
        self.is_rate = "--policy" in given or "--preset" in given
        # Whether an answer states the limit, so that a client could know it before a rejection.
        self.is_advertised = "--preset" in given or "ietf" in given.get("--advice", "")
        self.rejected_count = ",own=yes" in given.get("--policy", "")
        self.clients = int(given["--clients"])
        self.slots = int(given.get("--max-busy", 0))


class Run(list):
    """Seconds until the last success (of an unfinished run: until its end), attempts, ops not done, ops, Jain's index, and attempts
    that were sent although the server had asked their client to wait."""

    @classmethod
    def of(cls, result):
        ops = result["ops"]["total"] if result["ops"]["offered"] is None else result["ops"]["offered"]
        end_s = result["makespan_s"] if result["stalled_at_s"] is None else result["stalled_at_s"]
        undone = max(ops - result["ops"]["succeeded"], 0)
        jain = (result["fairness"] or {}).get("jain")
        return cls([end_s or 0, result["attempts"]["total"], undone, ops, jain, result["advice"]["early_shared"]])

    def is_finished(self):
        return self[2] == 0

    def factor(self):
        return self[3] / max(self[3] - self[2], 1)

    def time_s(self):
        return self[0] * self.factor() * (1 if self.is_finished() else UNFINISHED)

    def attempts(self):
        return self[1] * self.factor()


# Name of a group of settings, whether it has a plot and is in the short text, and its settings.
GROUPS = [
    ("concurrency limits", True, lambda it, _: not it.is_rate),
    ("rate limits", True, lambda it, _: it.is_rate),
    ("limits with advice", True, lambda it, _: True),
    ("concurrency limits without advice", False, lambda it, _: not it.is_rate and "--retry-after" not in it.flags),
    ("concurrency limits whose rejections advise a wait", False, lambda it, _: not it.is_rate and "--retry-after" in it.flags),
    ("concurrency limits, one client", False, lambda it, _: not it.is_rate and it.clients == 1),
    ("concurrency limits, four clients, at least 4 slots each", False,
     lambda it, _: not it.is_rate and it.clients > 1 and it.slots >= 4 * it.clients),
    ("concurrency limits, four clients, fewer slots", False,
     lambda it, _: not it.is_rate and it.clients > 1 and it.slots < 4 * it.clients),
    ("rate limits, where the reference finishes", False,
     lambda it, reference: it.is_rate and all(map(Run.is_finished, it.runs[reference]))),
    ("rate limits, four clients", False, lambda it, _: it.is_rate and it.clients > 1),
    ("rate limits, rejected requests count", False, lambda it, _: it.rejected_count),
    ("rate limits, rejected requests are free", False, lambda it, _: it.is_rate and not it.rejected_count),
    ("limits with advice: rates, one client", False, lambda it, _: it.is_rate and it.clients == 1),
    ("limits with advice: rates, four clients", False, lambda it, _: it.is_rate and it.clients == 4),
    ("limits with advice: rates, 20 clients", False, lambda it, _: it.is_rate and it.clients == 20),
    ("limits with advice: rates in every answer, one client", False,
     lambda it, _: it.is_rate and it.is_advertised and it.clients == 1),
    ("limits with advice: slots, one client", False, lambda it, _: not it.is_rate and it.clients == 1),
    ("limits with advice: slots, 4 or 20 clients", False, lambda it, _: not it.is_rate and it.clients > 1),
]


def members(settings, reference):
    """Each group that has settings: its name, whether it has a plot, and its settings."""
    for name, is_whole, contains in GROUPS:
        chosen = [at for at in settings if at.is_advised == name.startswith("limits with advice") and contains(at, reference)]
        if chosen:
            yield name, is_whole, chosen


# --- draws --------------------------------------------------------------------------------------------------------------------

def drawn(seed, concurrency_limits, rate_limits, advised_limits):
    """Settings of a seed. A longer survey contains the settings of a shorter one."""
    counts = [(concurrency_limit, concurrency_limits), (rate_limit, rate_limits), (advised_limit, advised_limits)]
    kinds = [(kind, place) for kind, count in counts for place in range(count)]
    return [Setting(number, " ".join(kind(Draws(f"{seed} {kind.__name__} {place}"))), is_advised=kind is advised_limit)
            for number, (kind, place) in enumerate(kinds)]


class Draws(random.Random):
    """Sizes and times of unknown order of magnitude are log-uniform; three digits keep flags short."""

    def log_uniform(self, low, high):
        return float(f"{exp(self.uniform(log(low), log(high))):.2e}")

    def micros(self, low_ms, high_ms):
        return round(self.log_uniform(low_ms * 1e3, high_ms * 1e3))

    def happens(self, probability):
        return self.random() < probability


def concurrency_limit(draws):
    slots = round(draws.log_uniform(4, 400))
    service, flags = server(draws)
    advice = ["--retry-after", "1s"] if draws.happens(0.2) else []
    occupy = str(draws.happens(0.5)).lower()
    return ["--max-busy", str(slots), *flags, "--rejects-occupy", occupy, *advice, *workload(draws, slots / service * 1e6)]


def rate_limit(draws):
    rate = draws.log_uniform(2, 300)
    policy = rate_policy(draws, rate, draws.happens(0.3))
    advice = "none" if draws.happens(0.5) else "seconds"
    return ["--policy", policy, "--advice", advice, *server(draws)[1], *workload(draws, rate)]


def rate_policy(draws, rate, rejected_count):
    own = ",own=yes" if rejected_count else ""
    bucket = f"rate={rate:g}/s,burst={max(round(draws.log_uniform(0.1, 10) * rate), 1)}{own}"
    window = draws.choice([1, 10, 60])
    windowed = f"limit={max(round(rate * window), 1)},window={window}s{own}"
    return draws.choice([f"token-bucket:{bucket}", f"gcra:{bucket}", f"fixed-window:{windowed}", f"sliding-log:{windowed}"])


# Presets of servers whose answers state a limit, with the parameters of the limit that is drawn.
ADVERTISED = ["kong:minute.{window}", "ietf:burst.{window},daily=off", "envoy-ratelimit:minute.{window}",
              "github:primary.{window},concurrent=off,points=off,creations=off", "openai:requests.{bucket},tokens=off",
              "discord:route.{window},global=off,invalid=off"]


def advised_limit(draws):
    """A limit whose rejections advise a wait: slots, a rate, or a vendor's limit of another size."""
    service, flags = server(draws, longest_ms=1_500)
    if draws.happens(0.175):
        slots = round(draws.log_uniform(4, 200))
        limit = ["--max-busy", str(slots), "--retry-after", draws.choice(["1s", "2s", "5s"])]
        capacity_per_s = slots / service * 1e6
    else:
        capacity_per_s = draws.log_uniform(1, 100)
        if draws.happens(0.4):
            window = max(round(draws.log_uniform(1, 60)), 1)
            window = f"limit={max(round(capacity_per_s * window), 1)},{{}}window={window}s"
            burst = max(round(draws.log_uniform(0.1, 10) * capacity_per_s), 1)
            preset = draws.choice(ADVERTISED)
            stage = preset.split(":")[1].split(".")[0]
            limit = ["--preset", preset.format(window=window.format(f"{stage}."),
                                               bucket=f"rate={capacity_per_s:g}/s,{stage}.burst={burst}")]
        else:
            advice = draws.choice(["seconds", "date", "seconds+ietf", "seconds+ms"])
            limit = ["--policy", rate_policy(draws, capacity_per_s, draws.happens(0.3)), "--advice", advice]
    clients = draws.choice([1, 1, 4, 20])
    ops = float(f"{draws.uniform(300, 3_000):.2e}")
    times = draws.uniform(1.3, 6)
    if draws.happens(0.7):
        load = ["--rate", f"{float(f'{capacity_per_s * times:.2e}'):g}/s"]
    else:
        load = ["--in-flight", str(max(round(capacity_per_s * service / 1e6 * times), 2 * clients))]
    return [*limit, *flags, "--clients", str(clients), *load, "--ops", f"{ops:g}", "--seed", str(draws.randint(1, 999_999))]


def server(draws, longest_ms=3_000):
    """Mean service time in microseconds, and flags: service time, duration of rejections, network."""
    service, rejection, delay = draws.micros(20, longest_ms), draws.micros(1, 200), draws.micros(1, 200)
    mean = duration(service)
    service_time = draws.choice([mean, f"exp({mean})", f"lognormal({mean},{draws.choice([0.3, 0.6])})"])
    noise = draws.choice([200, round(delay * 0.05), round(delay * 0.2)])
    way = f"uniform({duration(max(delay - noise, 0))},{duration(delay + noise)})"
    back = ["--return-delay", way] if draws.happens(0.5) else []
    return service, ["--service-time", service_time, "--reject-time", duration(rejection), *back, "--network-delay", way]


def workload(draws, capacity_per_s):
    clients = 4 if draws.happens(1 / 3) else 1
    rate = float(f"{capacity_per_s * draws.uniform(1.5, 10):.2e}")
    ops = float(f"{draws.uniform(500, 6_000):.2e}")
    return ["--clients", str(clients), "--rate", f"{rate:g}/s", "--ops", f"{ops:g}", "--seed", str(draws.randint(1, 999_999))]


def duration(micros):
    return f"{micros}us" if micros % 1000 else f"{micros // 1000}ms"


# --- runs ---------------------------------------------------------------------------------------------------------------------

def run_all(loadgen, settings, strategies, repeats):
    def run(setting):
        words = ["compare", "--simulate", "--strategies", ",".join(strategies), "--repeats", str(repeats), "--threads", "1",
                 "--json", "-", "--quiet", *setting.flags.split()]
        done = subprocess.run([loadgen, *words], capture_output=True, text=True, check=False)
        # The exit code is 1 if a strategy gets no op done.
        if done.returncode not in (0, 1):
            raise SystemExit(f"error: setting {setting.number} ended with exit code {done.returncode}: {done.stderr}")
        runs = [Run.of(result) for result in json.loads(done.stdout)["runs"]]
        setting.runs = [runs[first:first + repeats] for first in range(0, len(runs), repeats)]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, _ in enumerate(pool.map(run, settings), 1):
            if sys.stderr.isatty():
                print(f"\r{number} of {len(settings)} settings", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def read(file):
    with open(file, encoding="utf-8") as opened:
        survey = json.load(opened)
    settings = [Setting(at["number"], at["flags"], [[Run(run) for run in runs] for runs in at["runs"]], at.get("advised", False))
                for at in survey["settings"]]
    return survey["repeats"], survey["strategies"], settings


def write(file, repeats, strategies, settings, groups):
    """A line for each setting and each group, so that differences between two surveys are short."""
    def lines(entries):
        return ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
    settings = [{"number": at.number, "flags": at.flags, **({"advised": True} if at.is_advised else {}), "runs": at.runs}
                for at in settings]
    groups = [{"name": name, "rows": rows} for name, _, rows in groups]
    with open(file, "w", encoding="utf-8") as opened:
        opened.write(f'{{"repeats":{repeats},"strategies":{json.dumps(strategies)},"settings":[\n{lines(settings)}\n],'
                     f'"groups":[\n{lines(groups)}\n]}}\n')


# --- figures ------------------------------------------------------------------------------------------------------------------

def ratio(setting, strategy, reference, figure):
    pairs = zip(setting.runs[strategy], setting.runs[reference])
    return exp(statistics.fmean(log(figure(run) / figure(other)) for run, other in pairs))


def mean_ratio(ratios):
    """Geometric mean with its 95 % interval, from Student's t on logarithms; no interval below five settings."""
    logs = [log(each) for each in ratios]
    mean, interval = statistics.fmean(logs), None
    if len(logs) >= 5:
        half = student_t(len(logs) - 1) * statistics.stdev(logs) / sqrt(len(logs))
        interval = [exp(mean - half), exp(mean + half)]
    return {"mean": exp(mean), "interval": interval}


def student_t(degrees):
    """97.5 % quantile, from its expansion in the reciprocal of the degrees of freedom (Abramowitz and Stegun, 26.7.5)."""
    z = statistics.NormalDist().inv_cdf(0.975)
    terms = [z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384]
    return sum(term / degrees**power for power, term in enumerate(terms))


def fastest_polite(setting, reference):
    """The least mean time over the reference's among the strategies that sent no early request in this setting; None without one."""
    polite = [index for index, runs in enumerate(setting.runs) if not any(run[5] for run in runs)]
    return min((ratio(setting, index, reference, Run.time_s) for index in polite), default=None)


def rows_of(settings, strategies, reference):
    """Figures of each strategy over these settings."""
    rows = []
    polite = [fastest_polite(at, reference) for at in settings]
    for index, strategy in enumerate(strategies):
        times = [ratio(at, index, reference, Run.time_s) for at in settings]
        unfinished = [at for at in settings if not all(map(Run.is_finished, at.runs[index]))]
        fairness = [run[4] for at in settings for run in at.runs[index]]
        rows.append({
            "strategy": strategy, "settings": len(settings), "time": mean_ratio(times),
            "attempts": mean_ratio([ratio(at, index, reference, Run.attempts) for at in settings]),
            "slower": sum(time > SLOWER for time in times),
            "worst": max(zip(times, (at.number for at in settings))),
            "unfinished": len(unfinished),
            "unfinished_alone": sum(all(map(Run.is_finished, at.runs[reference])) for at in unfinished),
            "fairness": None if None in fairness else statistics.fmean(fairness),
            "early": sum(run[5] for at in settings for run in at.runs[index]),
            "over_polite": exp(statistics.fmean(log(time / best) for time, best in zip(times, polite) if best)) if any(polite) else None})
    return rows


# --- text ---------------------------------------------------------------------------------------------------------------------

def significant(number):
    decimals = 0 if number >= 99.95 else 1 if number >= 9.995 else 2 if number >= 0.9995 else 3
    return f"{number:.{4 if 0 < number < 0.09995 else decimals}f}"


def short(number):
    """Three significant digits; whole and large numbers in full, with thousands apart."""
    whole = number == int(number) or number >= 999.5
    return f"{round(number):,}".replace(",", " ") if whole else significant(number)


def cell(figure):
    low_and_high = figure["interval"]
    return short(figure["mean"]) + (f" ({low_and_high[0]:.2f}–{low_and_high[1]:.2f})" if low_and_high else "")


# Titles and widths of the columns. Where all rejections advise a wait, early requests have a column, and the time of each strategy is
# also divided by that of the fastest strategy without any.
COLUMNS = (("time (95 %)", 19), ("attempts (95 %)", 19), ("slower", 8), ("worst", 7), ("undone", 8))
ADVISED_COLUMNS = (("time (95 %)", 18), ("attempts (95 %)", 19), ("undone", 7), ("early", 11), ("polite", 7))


def table(name, rows, reference):
    is_advised = name.startswith("limits with advice")
    columns = ADVISED_COLUMNS if is_advised else COLUMNS
    lines = [f"{short(rows[0]['settings'])} {name}, ÷ {reference}",
             " " * 17 + "".join(f"{title:>{width}}" for title, width in columns)]
    for row in rows:
        share = row["slower"] / row["settings"] * 100
        shown = {"time (95 %)": cell(row["time"]), "attempts (95 %)": cell(row["attempts"]),
                 "slower": f"{significant(share) if share % 100 else short(share)} %", "worst": short(row["worst"][0]),
                 "undone": short(row["unfinished"]) if row["unfinished"] else "–",
                 "early": short(row["early"]) if row["early"] else "–",
                 "polite": short(row["over_polite"]) if row["over_polite"] else "–"}
        if row["strategy"] == reference:
            shown |= {"time (95 %)": "1", "attempts (95 %)": "1", "slower": "–", "worst": "–"}
        cells = "".join(f"{shown[title]:>{width}}" for title, width in columns)
        lines += [f"{row['strategy']:<17}{cells}"] if len(row["strategy"]) <= 17 else [row["strategy"], " " * 17 + cells]
    if all(row["fairness"] is not None for row in rows):
        words = ", ".join(f"{row['strategy']} {short(row['fairness'])}" for row in rows)
        lines.append(wrapped(f"fairness (Jain): {words}"))
    if any(row["early"] for row in rows) and not is_advised:
        words = ", ".join(f"{row['strategy']} {short(row['early'])}" for row in rows)
        lines.append(wrapped(f"requests sent while the server had asked to wait: {words}"))
    return "\n".join(lines)


def wrapped(words):
    """Lines of at most 78 characters, without a break inside a number."""
    words = re.sub(r"(?<=\d) (?=\d{3})", "\u00a0", words)
    return re.sub(r"(.{1,78})(?: |$)", r"\1\n", words).rstrip("\n").replace("\u00a0", " ")


def text(repeats, strategies, settings, groups, reference, explain):
    for name, is_whole, rows in groups:
        if is_whole:
            best = min(rows, key=lambda row: row["time"]["mean"])
            cost = f": {cell(best['time'])} of {reference}'s, with {cell(best['attempts'])} of its attempts"
            print(wrapped(f"With {name}, {best['strategy']} takes the least time"
                          f"{'' if best['strategy'] == reference else cost}."))
    for name, is_whole, rows in groups:
        if is_whole or explain:
            print(f"\n{table(name, rows, reference)}")
    print(f"\n{len(settings)} settings, {repeats} seeds each, simulated")
    if not explain:
        print("Groups, worst settings, how to read it: --explain   --plot FILE.svg")
        return
    print("\nWorst settings")
    flags = {at.number: at.flags for at in settings}
    for name, is_whole, rows in groups:
        for row in rows:
            if is_whole and row["strategy"] != reference:
                time, number = row["worst"]
                print(f"{row['strategy']}: {short(time)} × the time in setting {number} ({name})")
                print(f"    loadgen compare --simulate --strategies {reference},{row['strategy']} --repeats {repeats} "
                      + shlex.join(flags[number].split()))
    print()
    print(wrapped(f"time, attempts: geometric mean of the ratio to {reference} over settings, with its 95 % interval "
                  "(Student's t)."))
    print(wrapped(f"slower: share of settings with more than {SLOWER} × the time. worst: the largest ratio of times."))
    print(wrapped("undone: settings with a run that left ops undone, because it stalled. Such a run counts as five times its "
                  "time, divided by its share of ops done."))
    if any(name.startswith("limits with advice") for name, _, _ in groups):
        print(wrapped("early: requests sent while the server had asked to wait. polite: time divided by that of the fastest strategy "
                      "that sends none in the setting, geometric mean."))


# --- picture ------------------------------------------------------------------------------------------------------------------

STYLE = """:root{color-scheme:light dark;--ink:#1c1c1c;--faint:#595959;--rule:#d9d9d9;--paper:#fff}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e8e8e8;--faint:#a8a8a8;--rule:#3d3d3d;--paper:#161616}}
text{fill:var(--faint);font:12px system-ui,sans-serif}.ink{fill:var(--ink)}.head{fill:var(--ink);font-weight:600;font-size:14px}
.axis{fill:none;stroke:var(--rule)}.mark{fill:var(--paper);stroke-width:1.6}"""
# Colours in light and in dark mode, and outlines of marks.
LOOKS = [("#0072b2", "#4da6e0", "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0Z"),
         ("#d55e00", "#f07b2a", "M-3.2 -3.2H3.2V3.2H-3.2Z"), ("#00815e", "#19b98c", "M0 -4.1L4 3.1H-4Z"),
         ("#b85f93", "#dc93bd", "M0 -4.5L4.5 0L0 4.5L-4.5 0Z"), ("#a86f00", "#e6a11a", "M0 4.1L4 -3.1H-4Z"),
         ("#2a8fc4", "#7cc8f0", "M-3.6 0h7.2M0 -3.6v7.2"),
         ("#333", "#d8d8d8", "M0 -5.8L1.4 -1.4L5.8 0L1.4 1.4L0 5.8L-1.4 1.4L-5.8 0L-1.4 -1.4Z"),
         ("#857a00", "#efe250", "M-3.6 -3.6l7.2 7.2M-3.6 3.6l7.2 -7.2"),
         ("#7b4fc0", "#b397f0", "M-3.9 -2.2L0 -4.4L3.9 -2.2V2.2L0 4.4L-3.9 2.2Z")]
LEFT, RIGHT, TOP, BOTTOM = 60, 462, 30, 256


def picture(strategies, settings, reference):
    marks = "".join(f'<path id="m{number}" d="{outline}"/>' for number, (_, _, outline) in enumerate(LOOKS))
    light = "".join(f".s{number}{{stroke:{colour}}}" for number, (colour, _, _) in enumerate(LOOKS))
    dark = "".join(f".s{number}{{stroke:{colour}}}" for number, (_, colour, _) in enumerate(LOOKS))
    compared = [index for index in range(len(strategies)) if index != reference]
    body, y = [], 0
    for name, is_whole, chosen in members(settings, reference):
        if is_whole:
            body.append(f'<text class="head" x="12" y="{y + 22}">{name}: each dot is one setting</text>')
            x, y = 12, y + 38
            for place, index in enumerate(compared):
                width = 44 + 7 * len(strategies[index])
                x, y = (x, y) if x + width <= RIGHT or x == 12 else (12, y + 17)
                body.append(mark(place, x + 15, y) + f'<text class="ink" x="{x + 30}" y="{y + 4}">'
                            f"{html.escape(strategies[index])}</text>")
                x += width
            y += 11
            body.append(f'<g transform="translate(0 {y})">{dots(chosen, compared, reference, strategies[reference])}</g>')
            y += 300
    body.append(f'<text x="12" y="{y + 16}">1 is the reference; left and below is better</text>')
    height = y + 30
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 {height}" width="720" height="{height * 1.5:g}">\n'
            f"<style>{STYLE}\n{light}\n"
            f"@media screen and (prefers-color-scheme:dark){{{dark}}}</style>\n<defs>{marks}</defs>\n"
            '<rect width="100%" height="100%" fill="var(--paper)"/>\n' + "\n".join(body) + "\n</svg>\n")


def mark(place, x, y):
    look = place % len(LOOKS)
    return f'<use href="#m{look}" class="mark s{look}" x="{x:.1f}" y="{y:.1f}"/>'


def dots(settings, compared, reference, name):
    """Axes with a line for each power of ten, and a dot for each strategy and setting."""
    series = [[(ratio(at, index, reference, Run.time_s), ratio(at, index, reference, Run.attempts)) for at in settings]
              for index in compared]
    ends = [[min(log10(dot[axis]) for dots in series for dot in dots), max(log10(dot[axis]) for dots in series for dot in dots)]
            for axis in (0, 1)]

    def at(value, axis, low, high):
        start, end = ends[axis][0] - 0.05, ends[axis][1] + 0.05
        return low + (log10(value) - start) / (end - start) * (high - low)

    parts = []
    for axis in (0, 1):
        for power in range(ceil(ends[axis][0]), floor(ends[axis][1]) + 1):
            label = short(10 ** power) if power >= 0 else f"{10.0 ** power:g}"
            if axis == 0:
                x = at(10 ** power, 0, LEFT, RIGHT)
                parts.append(f'<path class="axis" d="M{x:.1f} {BOTTOM}v4"/>'
                             f'<text x="{x:.1f}" y="275" text-anchor="middle">{label}</text>')
            else:
                y = at(10 ** power, 1, BOTTOM, TOP)
                parts.append(f'<path class="axis" d="M{LEFT} {y:.1f}H{RIGHT}"/>'
                             f'<text x="54" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    parts.append(f'<path class="axis" style="stroke:var(--faint)" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>'
                 f'<text class="ink" x="8" y="14">attempts ÷ {html.escape(name)}</text>'
                 f'<text class="ink" x="{RIGHT}" y="291" text-anchor="end">time ÷ {html.escape(name)}</text>')
    for place, of_strategy in enumerate(series):
        parts += [mark(place, at(time, 0, LEFT, RIGHT), at(attempts, 1, BOTTOM, TOP)) for time, attempts in of_strategy]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-s", "--strategies", default=STRATEGIES, help="strategies, separated by commas")
    parser.add_argument("--reference", default="aimd", help="strategy to which all others are compared")
    parser.add_argument("--draw", metavar="SEED", help="draw new settings instead of reading them")
    parser.add_argument("--concurrency-limits", type=int, default=400, metavar="N", help="how many concurrency limits to draw")
    parser.add_argument("--rate-limits", type=int, default=100, metavar="N", help="how many rate limits to draw")
    parser.add_argument("--advised-limits", type=int, default=0, metavar="N", help="how many limits with advice to draw")
    parser.add_argument("--settings", metavar="N,N", help="only the settings with these numbers")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="seeds of every strategy in every setting")
    parser.add_argument("--saved", action="store_true", help="print and draw the saved runs instead of new ones")
    parser.add_argument("--json", metavar="FILE", help="write settings, runs and figures")
    parser.add_argument("--plot", metavar="FILE", help="draw time against attempts as SVG, one dot for every setting")
    parser.add_argument("--explain", action="store_true", help="also print groups, worst settings, and how to read the tables")
    parser.add_argument("--programs", metavar="FOLDER", help="folder with an already built loadgen [default: build it]")
    given = parser.parse_args()
    repeats, strategies, settings = read(SAVED)
    if given.draw:
        settings = drawn(given.draw, given.concurrency_limits, given.rate_limits, given.advised_limits)
    if given.settings:
        numbers = {int(number) for number in given.settings.split(",")}
        settings = [at for at in settings if at.number in numbers]
    if not given.saved:
        # A comma separates strategies only before a name, as in the parameters of `exponential:base=1s,cap=9s`.
        repeats, strategies = given.repeats, re.split(r",(?![a-z-]+=)", given.strategies)
    if given.reference not in strategies or not settings:
        sys.exit("error: name the reference among the strategies, and at least one setting")
    if not given.saved:
        if not given.programs:
            subprocess.run(["cargo", "build", "--profile", "dist", "--bin", "loadgen"], cwd=ROOT, check=True)
        target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
        run_all(os.path.join(given.programs or os.path.join(target, "dist"), "loadgen"), settings, strategies, repeats)
    reference = strategies.index(given.reference)
    groups = [(name, is_whole, rows_of(chosen, strategies, reference)) for name, is_whole, chosen in members(settings, reference)]
    if given.json:
        write(given.json, repeats, strategies, settings, groups)
    if given.plot:
        with open(given.plot, "w", encoding="utf-8") as opened:
            opened.write(picture(strategies, settings, reference))
    text(repeats, strategies, settings, groups, given.reference, given.explain)


if __name__ == "__main__":
    main()
