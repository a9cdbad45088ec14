#!/usr/bin/env bash
# Your own API: a short run over HTTP. `examples/own-api.sh URL` tests your server, which must be one that you may load.
# Without a URL, mockserver is the API: 20 requests a second after a burst of 5.
set -euo pipefail

url=${1:-}
if [[ -z $url ]]; then
    url=http://127.0.0.1:${PORT:-8504}
    mockserver --quiet --listen "${url#http://}" --policy token-bucket:rate=20/s,burst=5 \
        --reject-status 429 --retry-after 1s --service-time 20ms --network-delay 0 &
    trap 'kill %1' EXIT
    until curl --silent --output /dev/null "$url"; do sleep 0.1; done
fi
loadgen --no-tui --target "$url" --strategy aimd --rate 30/s --duration 3s
