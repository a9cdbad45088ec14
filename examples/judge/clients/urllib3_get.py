"""urllib3: one GET with the default retries of PoolManager."""

import sys

import urllib3

answer = urllib3.PoolManager().request("GET", sys.argv[1] + "/v1/things", timeout=4)
print(answer.status)
sys.exit(0 if answer.status == 200 else 1)
