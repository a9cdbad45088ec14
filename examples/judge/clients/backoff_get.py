"""backoff around requests: one GET with settings from its documentation, which retry every exception of requests."""

import sys

import backoff
import requests


@backoff.on_exception(backoff.expo, requests.exceptions.RequestException, max_tries=8)
def get(url):
    answer = requests.get(url, timeout=4)
    answer.raise_for_status()
    return answer.json()


print(get(sys.argv[1] + "/v1/things"))
