#!/usr/bin/env bash
# CI: two conditions, a baseline, and a table for a pull request. A failed check exits with 99.
set -euo pipefail

run=(loadgen --simulate --quiet --repeats 20)
"${run[@]}" --strategy aimd --fail-if 'done_share < 1' --fail-if 'amplification > 1.2' --junit checks.xml
"${run[@]}" --strategy aimd --save-baseline main

code=0
"${run[@]}" --strategy aimd:beta=0.5 --baseline main --noise 5% || code=$?
echo "aimd:beta=0.5 against the baseline: exit code $code"

code=0
"${run[@]}" --strategy full-jitter --fail-if 'amplification > 1.2' || code=$?
if [[ $code -ne 99 ]]; then
    echo "full-jitter should exit with 99, and not with $code" >&2
    exit 1
fi
loadgen compare --simulate --strategies full-jitter,aimd --repeats 10 --markdown table.md
