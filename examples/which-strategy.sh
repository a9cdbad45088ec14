#!/usr/bin/env bash
# Which strategy: the `openai` package as it is, without retries, and two strategies, under 1.44 × the limit of the API.
set -euo pipefail

loadgen compare --simulate --preset openai --rate 12/s --duration 5m --repeats 10 \
    --strategies preset:openai,none,aimd,token-bucket:rate=500/m,burst=500
loadgen strategies token-bucket
