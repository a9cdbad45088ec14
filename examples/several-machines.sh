#!/usr/bin/env bash
# Several machines: one sweep as two shards, which may run anywhere, and their merge. The result is the same to the byte.
set -euo pipefail

sweep=(loadgen sweep --simulate --quiet --strategies 'aimd,full-jitter' --vary 'ops=50,500')
"${sweep[@]}" --shard 0/2 --json 0.json
"${sweep[@]}" --shard 1/2 --json 1.json
loadgen merge 0.json 1.json -o merged.json

"${sweep[@]}" --json whole.json
cmp merged.json whole.json
echo "the merged document equals that of the undivided sweep"
