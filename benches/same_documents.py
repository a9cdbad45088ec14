#!/usr/bin/env python3
"""Two builds of the programs side by side: every document, text and exit code must be the same.

    benches/same_documents.py OLD NEW [--only WORD] [--without WORD,WORD] [--keep DIR]

OLD and NEW are folders with `loadgen` and `mockserver`, such as `target/release` of two checkouts. Each command below runs
with both, in a folder of its own; compared are the exit code, stdout, stderr and every file that was written, byte for
byte. Simulated runs have no clock in them, so nothing is left out there. Of runs over HTTP the keys and types are compared.
Of pages counts what a browser makes of them: white space between tags and the way in which something is quoted do not. Of
help and completions, the order of flags does not count. Each build merges its own shards. Afterwards NEW reads what OLD
wrote: reports, pictures and baselines must come out as OLD's own. The names of commands, strategies and presets are OLD's;
a command that NEW does not have is a difference, unless `--without` leaves it out.

For redesigns, which must change nothing that anybody can see. Exits 1 when anything differs.
"""

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

SCENARIO = """
name = "mine"
title = "two strategies of one's own"
source = "nobody's"
repeats = 4

[workload]
ops = 200
rate = "200/s"

[server]
max_busy = 20

[strategies]
aimd = "aimd"
full = "full-jitter:base=50ms,cap=5s"

[experiment.small]
title = "Who asks how often"
columns = [{ title = "attempts", figure = "attempts.total" }]

[[claim]]
says = "aimd needs fewer attempts"
experiment = "small"
figure = "attempts.total"
of = "aimd"
against = "full"
below = 1.0
"""

RECORDINGS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "real_clients")
SHARDED = [("run", ["-s", "aimd", "--simulate", "--ops", "200", "--repeats", "5"]),
           ("compare", ["compare", "--simulate", "--ops", "200", "--repeats", "5", "-s", "aimd,full-jitter"]),
           ("sweep", ["sweep", "--simulate", "--vary", "ops=50,100", "-s", "aimd,full-jitter", "--repeats", "3"])]

# Name, arguments. Files are written into the folder in which the command runs. Names from `mockserver` on are commands of
# `mockserver`.
SMALL = ["--simulate", "--ops", "400"]
STRATEGIES = "exponential:jitter=0.5,full-jitter,aimd,oracle"
COMMANDS = [
    ("run", ["-s", "aimd", *SMALL, "--json", "run.json", "--html", "run.html", "--csv", "run.csv", "--hdr", "run.hdr",
             "--samples", "run.ndjson"]),
    ("run-stdout", ["-s", "aimd:variant=tahoe", *SMALL, "--json", "-"]),
    ("run-repeats", ["-s", "full-jitter", *SMALL, "--repeats", "7", "--json", "runs.json", "--html", "runs.html", "--csv",
                     "runs.csv", "--hdr", "runs.hdr"]),
    ("run-clients", ["-s", "aimd", *SMALL, "--clients", "5", "--deadline", "3s", "--json", "clients.json"]),
    ("run-closed", ["-s", "fixed-window:window=20", *SMALL, "--in-flight", "80", "--repeats", "3", "--json", "c.json"]),
    ("run-queue", ["-s", "exponential:jitter=1", *SMALL, "--policy", "overwhelmed-queue", "--json", "q.json"]),
    ("run-pool", ["-s", "ethernet", "--simulate", "--ops", "60", "--policy", "descriptor-pool", "--json", "p.json"]),
    ("run-writes", ["-s", "full-jitter:base=10ms", *SMALL, "--kind", "read-modify-write", "--in-flight", "10",
                    "--json", "w.json"]),
    ("run-stalls", ["-s", "immediate", *SMALL, "--json", "stall.json"]),
    ("run-gives-up", ["-s", "full-jitter", *SMALL, "--max-attempts", "2", "--json", "g.json"]),
    ("run-loss", ["-s", "aimd", *SMALL, "--loss", "5%", "--timeout", "2s", "--json", "l.json"]),
    ("run-caps", ["-s", "aimd", *SMALL, "--caps", "1s=10,3s=60", "--json", "caps.json"]),
    ("run-duration", ["-s", "aimd", "--simulate", "--duration", "3s", "--rate", "100/s", "--warm-up", "1s", "--json",
                      "d.json"]),
    ("run-budgets", ["-s", "aimd+full-jitter:base=50ms+retry-budget", *SMALL, "--json", "b.json"]),
    ("print-config", ["-s", "aimd", "--simulate", "--print-config"]),
    *[(f"recommend-{name}", ["recommend", *arguments, "--ops", "200", "--json", "r.json", "--html", "r.html"])
      for name, arguments in [
          ("known", ["-s", "full-jitter", "--in-flight", "40", "--unsure", "none"]),
          ("unsure", ["-s", "preset:openai", "--in-flight", "20", "--unsure", "max-busy=40..60"]),
          ("within", ["-s", "preset:urllib3-usual", "--rate", "20/s", "--within", "2s", "--unsure", "none"])]],
    ("judge", ["judge", "--strategy", "preset:openai", "--json", "j.json", "--junit", "j.xml"]),
    ("judge-fails", ["judge", "--strategy", "immediate:max-attempts=5", "--json", "j.json", "--junit", "j.xml"]),
    ("judge-list", ["judge", "--list"]),
    ("check", ["strategies", "--check", os.path.join(RECORDINGS, "backoff.json"), os.path.join(RECORDINGS, "curl.json"),
               "--json", "c.json"]),
    *[(f"shard-{shard}-{name}", [*arguments, "--shard", f"{shard}/2", "--json", "s.json"])
      for name, arguments in SHARDED for shard in (0, 1)],
    ("schema", ["schema"]),
    ("compare", ["compare", "--simulate", "--ops", "300", "--repeats", "10", "-s", STRATEGIES, "--json", "c.json",
                 "--html", "c.html", "--csv", "c.csv", "--hdr", "c.hdr"]),
    ("compare-sensitivity", ["compare", "--simulate", "--ops", "200", "--repeats", "6", "-s", "aimd,full-jitter",
                             "--sensitivity", "--json", "s.json", "--html", "s.html"]),
    ("compare-p99", ["compare", "--simulate", "--ops", "200", "--repeats", "6", "-s", "aimd,full-jitter,equal-jitter",
                     "--by", "p99", "--json", "p.json"]),
    ("compare-incomplete", ["compare", "--simulate", "--ops", "200", "--repeats", "3", "-s", "aimd,none,immediate",
                            "--json", "i.json"]),
    ("sweep-one", ["sweep", "--simulate", "--vary", "ops=50,100,200", "-s", "aimd,full-jitter", "--repeats", "4",
                   "--json", "s.json", "--html", "s.html", "--csv", "s.csv"]),
    ("sweep-two", ["sweep", "--simulate", "--vary", "aimd.beta=0.5..0.9/3", "--vary", "max-busy=10,20", "-s", "aimd",
                   "--ops", "150", "--repeats", "3", "--json", "s.json", "--html", "s.html"]),
    ("reproduce-occ", ["reproduce", "occ", "--repeats", "4", "--json", "o.json", "--html", "o.html"]),
    ("reproduce-sync", ["reproduce", "sync-musings", "--repeats", "2", "--json", "m.json"]),
    ("reproduce-backoff", ["reproduce", "exploring-backoff", "--repeats", "2", "--json", "e.json"]),
    ("reproduce-delays", ["reproduce", "retry-delays", "--repeats", "2", "--json", "r.json", "--html", "r.html"]),
    ("reproduce-ethernet", ["reproduce", "ethernet", "--repeats", "2", "--json", "t.json"]),
    ("reproduce-set", ["reproduce", "occ", "--repeats", "3", "--set", 'server.network_delay="10ms"', "--json", "o.json"]),
    ("reproduce-own", ["reproduce", "--scenario", "mine.toml", "--json", "mine.json"]),
    ("reproduce-list", ["reproduce", "--list"]),
    ("check-holds", ["-s", "aimd", *SMALL, "--fail-if", "amplification > 1.01", "--fail-if", "ops.given_up > 0"]),
    ("refused-check", ["-s", "aimd", *SMALL, "--fail-if", "amplificaton > 1.01"]),
    ("check-compare", ["compare", "--simulate", "--ops", "200", "--repeats", "3", "-s", "aimd,full-jitter", "--fail-if",
                       "amplification of aimd > 1.01"]),
    ("baseline-saved", ["-s", "aimd", *SMALL, "--repeats", "5", "--save-baseline", "b.json"]),
    ("baseline-compared", ["compare", "--simulate", "--ops", "200", "--repeats", "3", "-s", "aimd,full-jitter",
                           "--save-baseline", "b.json"]),
    *[("-".join(["strategies", *flags]), ["strategies", *flags])
      for flags in ([], ["--explain"], ["--presets"], ["--advice"])],
    *[(f"print-settings-{library}", ["strategies", "preset:urllib3-usual,max-attempts=5", "--print-settings", library])
      for library in ("urllib3", "envoy", "grpc", "aws", "polly", "resilience4j", "tailback")],
    *[(f"{program}{name}", arguments) for program in ("", "mockserver-")
      for name, arguments in (("help-run", ["--help"]), ("short-help", ["-h"]), ("version", ["--version"]), ("man", ["man"]))],
    *[(f"{program}completions-{shell}", ["completions", shell])
      for program in ("", "mockserver-") for shell in ("bash", "zsh", "fish")],
    ("mockserver-presets", ["presets"]),
    ("plot-list", ["plot", "--list"]),
    *[(f"refused-{number}", arguments) for number, arguments in enumerate([
        ["-s", "amid", "--simulate"], ["-s", "aimd:betta=1", "--simulate"], ["-s", "aimd", "--simulate", "--ops", "0x"],
        ["-s", "aimd", "--simulate", "--time-scale", "0.1"], ["-s", "aimd", "--simulate", "--policy", "overwhelmed-que"],
        ["-s", "oracle", "--simulate", "--loss", "5%"], ["compare", "-s", "aimd", "--simulate"],
        ["compare", "-s", "aimd,aimd", "--simulate"], ["sweep", "--simulate", "--vary", "opps=1,2"],
        ["sweep", "--simulate", "--vary", "seed=1,2"], ["sweep", "--simulate", "--vary", "ops=1,2", "--ops", "3"],
        ["reproduce", "nobody"], ["reproduce", "occ", "--set", "server.max_bussy=1"], ["report", "no.json", "-o", "x.html"],
        ["-s", "aimd", "--simulate", "--json", "a", "--html", "a"], ["-s", "aimd", "--simulate", "--json", "/no/where"],
        ["-s", "aimd", "--simulate", "--baseline", "absent"], ["-s", "aimd", "--simulate", "--rate", "0"],
        ["-s", "aimd", "--simulate", "--deadline", "0s"],
    ])],
]

# What a build makes of its own shards.
MERGES = [(f"merge-{name}", ["merge", f"../shard-1-{name}/s.json", f"../shard-0-{name}/s.json", "-o", "m.json", "--html",
                             "m.html", "--csv", "m.csv"]) for name, _ in SHARDED]

# What OLD wrote, and what is made of it: by OLD itself and by NEW.
READINGS = [
    ("report-run", "run/run.json", ["report", "FILE", "-o", "again.html"]),
    ("report-repeats", "run-repeats/runs.json", ["report", "FILE", "-o", "again.html"]),
    ("report-compare", "compare/c.json", ["report", "FILE", "-o", "again.html"]),
    ("report-sweep", "sweep-one/s.json", ["report", "FILE", "-o", "again.html"]),
    ("report-sweep-two", "sweep-two/s.json", ["report", "FILE", "-o", "again.html"]),
    ("report-reproduce", "reproduce-occ/o.json", ["report", "FILE", "-o", "again.html"]),
    ("report-http", "http/h.json", ["report", "FILE", "-o", "again.html"]),
    *[(f"plot-{plot}", "compare/c.json", ["plot", "FILE", "-f", plot, *more])
      for plot, more in (("rate", []), ("rate-log", []), ("outcomes", []), ("done", ["-o", "done.svg"]), ("window", []),
                         ("latency", []), ("latency-cdf", []), ("pareto", ["-o", "pareto.svg"]))],
    *[(f"plot-{plot}", f"reproduce-{scenario}/{file}.json", ["plot", "FILE", "-f", plot, "-o", "plot.svg"])
      for plot, scenario, file in (("clients", "occ", "o"), ("completion", "occ", "o"), ("calls", "occ", "o"),
                                   ("summary", "backoff", "e"), ("service", "backoff", "e"), ("delays", "delays", "r"),
                                   ("submitters", "ethernet", "t"), ("ops", "sync", "m"))],
    ("baseline", "baseline-saved/b.json", ["-s", "aimd", *SMALL, "--repeats", "5", "--baseline", "FILE", "--json", "r.json"]),
    ("refused-baseline", "baseline-saved/b.json", ["-s", "aimd", *SMALL, "--repeats", "5", "--max-busy", "40", "--baseline",
                                                "FILE"]),
    ("refused-strategy", "baseline-saved/b.json", ["-s", "full-jitter", *SMALL, "--baseline", "FILE"]),
    ("baseline-worse", "baseline-saved/better.json",
     ["-s", "aimd", *SMALL, "--repeats", "5", "--baseline", "FILE", "--noise", "1%"]),
    ("baseline-compare", "baseline-compared/b.json",
     ["compare", "--simulate", "--ops", "200", "--repeats", "3", "-s", "aimd,full-jitter", "--baseline", "FILE"]),
]

HTTP = ("http", ["-s", "aimd", "--ops", "60", "--max-busy", "10", "--time-scale", "0.05", "--json", "h.json", "--no-tui"])

# Lines that tell how far a long command is, by the clock.
PROGRESS = re.compile(rb"^(.*\beta\b.*|.* runs   about .* left|(fresh )?server \d+ of \d+.*|\d+(\.\d+)? ?s .* ops .*)$\n?", re.M)
LISTS_FLAGS = re.compile(r"(mockserver-)?(help-|short-help|completions-)")

# Texts that were wider than a terminal and are wrapped now: their words are compared.
WRAPPED = {"strategies"}


def named_by(old):
    """Commands of every subcommand, strategy and preset that OLD lists, and of the hidden `survey`."""
    def listed(program, *arguments):
        text = subprocess.run([os.path.join(old, program), *arguments], capture_output=True, text=True, check=True).stdout
        return [line for line in text.splitlines() if line.startswith("  ")] if arguments[0] != "presets" else text.splitlines()
    helped = [line.split()[0] for line in listed("loadgen", "-h") if re.match(r"  (?!help)[a-z]+ +[A-Z]", line)]
    strategies = [name for line in listed("loadgen", "strategies") for name in line.split()]
    presets = [f"preset:{line.split()[0]}" for line in listed("loadgen", "strategies", "--presets")]
    servers = [line.split()[0] for line in listed("mockserver", "presets")[1:-1]]
    return [*[(f"help-{name}", [name, "--help"]) for name in [*helped, "survey"]],
            *[(f"strategies-{name}", ["strategies", name]) for name in strategies + presets],
            *[(f"print-settings-{name}", ["strategies", name, "--print-settings"]) for name in presets],
            *[(f"mockserver-presets-{name}", ["presets", name]) for name in servers]]


class Page(HTMLParser):
    """What a browser makes of a page: tags with their attributes, and texts."""

    def __init__(self, page):
        super().__init__()
        self.parts = []
        self.feed(page.decode(errors="replace"))
        self.close()

    def handle_starttag(self, tag, attributes):
        self.parts.append(f"<{tag} {attributes}>")

    def handle_endtag(self, tag):
        self.parts.append(f"</{tag}>")

    def handle_data(self, text):
        if text.strip():
            self.parts.append(text)


def run(programs, name, arguments, folder):
    program = os.path.join(programs, "mockserver" if name.startswith("mockserver") else "loadgen")
    where = os.path.join(folder, name)
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, "mine.toml"), "w", encoding="utf-8") as file:
        file.write(SCENARIO)
    environment = {"PATH": "/usr/bin:/bin", "HOME": where, "COLUMNS": "100", "LANG": "C.UTF-8"}
    done = subprocess.run([program, *arguments], cwd=where, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=900, check=False)
    documents = {"exit code": str(done.returncode).encode(), "stdout": done.stdout,
                 "stderr": PROGRESS.sub(b"", done.stderr)}
    for parent, _, files in os.walk(where):
        for file in files:
            if file != "mine.toml":
                path = os.path.join(parent, file)
                with open(path, "rb") as opened:
                    documents[os.path.relpath(path, where)] = opened.read()
    return documents


def shape(value):
    """Keys and types; the elements of a list together. What a run may be warned of depends on the machine."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items() if key not in ("warnings", "failures")}
    if isinstance(value, list):
        shapes = []
        for inner in map(shape, value):
            if inner not in shapes:
                shapes.append(inner)
        return shapes[:1]
    # Whether a figure is there may depend on the clock.
    return "number" if value is None or isinstance(value, (int, float)) else type(value).__name__


def better(folder):
    """A baseline with half the 99th percentiles, against which anything is worse."""
    saved = os.path.join(folder, "b.json")
    if os.path.exists(saved):
        with open(saved, encoding="utf-8") as file:
            text = re.sub(r'("p99":\s*)([0-9.]+)', lambda found: f"{found[1]}{float(found[2]) / 2}", file.read())
        with open(os.path.join(folder, "better.json"), "w", encoding="utf-8") as file:
            file.write(text)


def differences(name, old, new):
    for document in sorted(old.keys() | new.keys()):
        ours, theirs = new.get(document), old.get(document)
        if ours is None or theirs is None:
            yield f"{name}: {document} is written by {'OLD' if ours is None else 'NEW'} only"
            continue
        if document.endswith(".html"):
            ours, theirs = ("\n".join(Page(text).parts).encode() for text in (ours, theirs))
        if name in WRAPPED:
            ours, theirs = (b" ".join(text.split()) for text in (ours, theirs))
        if ours == theirs or (LISTS_FLAGS.match(name) and sorted(ours.split()) == sorted(theirs.split())):
            continue
        if document.endswith(".json") or ours[:1] == b"{":
            ours, theirs = (re.sub(rb"([,{\[])", rb"\1\n", text) for text in (ours, theirs))
        lines = difflib.unified_diff(theirs.decode(errors="replace").splitlines(),
                                     ours.decode(errors="replace").splitlines(), "OLD", "NEW", n=0, lineterm="")
        shown = [line[:160] for _, line in zip(range(14), lines)]
        yield "\n    ".join([f"{name}: {document} differs", *shown])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="", help="commands with this word in their name")
    parser.add_argument("--without", default=[], type=lambda words: words.split(","),
                        help="leave out commands with one of these words in their name, such as deleted ones")
    parser.add_argument("--keep", help="where documents stay, in OLD/ and NEW/")
    given = parser.parse_args()
    folder = given.keep or tempfile.mkdtemp(prefix="same-documents-")
    programs = {"OLD": os.path.abspath(given.old), "NEW": os.path.abspath(given.new)}
    places = {which: os.path.abspath(os.path.join(folder, which)) for which in programs}

    def both(name, arguments):
        old, new = (run(programs[which], name, arguments, places[which]) for which in ("OLD", "NEW"))
        if old["exit code"] in (b"2", b"101") and not name.startswith(("refused", "plot", "print-settings")):
            sys.exit(f"{name}: OLD does not understand it: {old['stderr'].decode()}")
        return name, old, new

    def wanted(name):
        return given.only in name and not any(word in name for word in given.without)

    found = []
    needed = {place.split("/")[0] for name, place, _ in READINGS if wanted(name)}
    needed |= {f"shard-{shard}-{name}" for name, _ in SHARDED for shard in (0, 1) if wanted(f"merge-{name}")}
    commands = [command for command in COMMANDS + named_by(programs["OLD"]) if wanted(command[0]) or command[0] in needed]
    merges = [command for command in MERGES if wanted(command[0])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for group in (commands, merges):
            for name, old, new in pool.map(lambda command: both(*command), group):
                found += differences(name, old, new)
    if wanted(HTTP[0]) or HTTP[0] in needed:
        name, *documents = both(*HTTP)
        old, new = (shape(json.loads(one.get("h.json", b"null"))) for one in documents)
        if old != new:
            found.append(f"{name}: keys or types of h.json differ: {old}\n    {new}")
    better(os.path.join(places["OLD"], "baseline-saved"))
    readings = 0
    for name, place, arguments in READINGS:
        written = os.path.join(places["OLD"], place)
        if not wanted(name) or not os.path.exists(written):
            if wanted(name):
                found.append(f"{name}: OLD did not write {place}")
            continue
        readings += 1
        arguments = [written if argument == "FILE" else argument for argument in arguments]
        found += differences(*both(name, arguments))
    for name, page, made in (("run", "run.html", "report-run"), ("compare", "c.html", "report-compare")):
        paths = [os.path.join(places["NEW"], name, page), os.path.join(places["NEW"], made, "again.html")]
        if all(map(os.path.exists, paths)):
            pages = [open(path, "rb").read() for path in paths]
            if pages[0] != pages[1]:
                found.append(f"{name}: `--html` and `loadgen report` write different bytes")
    print("\n".join(found))
    print(f"{len(commands) + len(merges)} commands, {readings} readings of OLD's documents: "
          + (f"{len(found)} differences" if found else "nothing differs"))
    if not given.keep:
        shutil.rmtree(folder)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
