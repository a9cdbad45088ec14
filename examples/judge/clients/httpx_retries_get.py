"""httpx-retries: one GET with the default retries of RetryTransport."""

import sys

import httpx
from httpx_retries import RetryTransport

with httpx.Client(transport=RetryTransport()) as client:
    answer = client.get(sys.argv[1] + "/v1/things")
print(answer.status_code, answer.json())
sys.exit(0 if answer.is_success else 1)
