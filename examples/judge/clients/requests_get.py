"""requests: one GET with urllib3's Retry and the usual settings. Without them, requests does not retry."""

import sys

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

session = requests.Session()
retry = Retry(total=3, backoff_factor=1, status_forcelist=[429, 500, 502, 503, 504])
session.mount("http://", HTTPAdapter(max_retries=retry))
answer = session.get(sys.argv[1] + "/v1/things", timeout=4)
print(answer.status_code, answer.json())
sys.exit(0 if answer.ok else 1)
