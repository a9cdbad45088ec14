#!/usr/bin/env bash
# Your own client: judges the retries of curl, and then runs curl against an API that rejects the first two requests.
set -euo pipefail

loadgen judge --only 429,throttled -- curl --silent --output /dev/null --retry 2 '{url}'

url=http://127.0.0.1:${PORT:-8505}
mockserver --quiet --listen "${url#http://}" --reject-first 2 --network-delay 0 &
trap 'kill %1' EXIT
until curl --silent --output /dev/null "$url/_mock/stats"; do sleep 0.1; done
curl --silent --fail --retry 2 "$url/v1/things"
curl --silent "$url/_mock/stats"
