#!/usr/bin/env bash
# Which parameters: a sweep of one parameter, then one setting for a client whose server is known roughly.
set -euo pipefail

loadgen sweep --simulate --strategies aimd --vary aimd.beta=0.5,0.7,0.9 --repeats 10
loadgen recommend --strategy preset:openai --in-flight 20 --ops 1500 \
    --preset openai:tokens=off --service-time 'lognormal(2s,0.5)' \
    --unsure service-time=700ms..6s --unsure requests.rate=350/m..500/m
