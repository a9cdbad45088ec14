#!/usr/bin/env bash
# Getting started: one strategy, then two strategies with the same seeds, in virtual time.
set -euo pipefail

loadgen --simulate --strategy aimd --ops 2000
loadgen compare --simulate --strategies full-jitter,aimd --repeats 20 --html comparison.html
echo "comparison.html is the report of the comparison"
