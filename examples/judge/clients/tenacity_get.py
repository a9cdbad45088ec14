"""tenacity around requests: one GET with settings from its documentation, which retry every exception."""

import sys

import requests
from tenacity import retry, stop_after_attempt, wait_random_exponential


@retry(stop=stop_after_attempt(7), wait=wait_random_exponential(multiplier=1, max=60), reraise=True)
def get(url):
    answer = requests.get(url, timeout=4)
    answer.raise_for_status()
    return answer.json()


print(get(sys.argv[1] + "/v1/things"))
