"""A client with one fault, or none, for the tests of `loadgen judge`. Python's standard library only.

Usage: client.py BEHAVIOUR URL [write] [key]

It does one operation and exits: 0 after a success, 1 after giving up. The behaviours: correct, milliseconds, ignores, retries-writes,
new-key, no-backoff, no-jitter, endless, hangs, only-503, emptied, local-time, slow.
"""

import http.client
import json
import random
import sys
import time
import urllib.parse
import uuid

BEHAVIOUR, URL = sys.argv[1], sys.argv[2]
IS_WRITE = "write" in sys.argv[3:] or BEHAVIOUR in ("retries-writes", "new-key", "emptied")
HAS_KEY = "key" in sys.argv[3:] or BEHAVIOUR == "new-key"
MAX_ATTEMPTS = 10**6 if BEHAVIOUR == "endless" else 7 if BEHAVIOUR == "no-backoff" else 4
MAX_WAIT_S = 20
TIMEOUT_S = None if BEHAVIOUR == "hangs" else 2
KEY = uuid.uuid4().hex


def attempt(number):
    """Sends one request. Returns its status and its Retry-After; the status is None without a complete answer."""
    url = urllib.parse.urlsplit(URL)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=TIMEOUT_S)
    headers = {"content-type": "application/json"}
    if HAS_KEY:
        headers["idempotency-key"] = uuid.uuid4().hex if BEHAVIOUR == "new-key" else KEY
    try:
        if IS_WRITE:
            body = "" if BEHAVIOUR == "emptied" and number > 0 else json.dumps({"name": "thing"})
            connection.request("POST", "/v1/things", body, headers)
        else:
            connection.request("GET", "/v1/things", headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("retry-after")
    except (OSError, http.client.HTTPException):
        return None, None
    finally:
        connection.close()


def advised(text):
    """Returns the advised wait in seconds, or None."""
    if text is None or BEHAVIOUR in ("ignores", "slow"):
        return None
    if text.isascii() and text.isdigit():
        return int(text) / 1000 if BEHAVIOUR == "milliseconds" else int(text)
    try:
        date = time.mktime(time.strptime(text, "%a, %d %b %Y %H:%M:%S GMT"))
        return date - time.time() - (0 if BEHAVIOUR == "local-time" else time.timezone)
    except ValueError:
        return None


def backoff(retry):
    if BEHAVIOUR == "no-backoff":
        return 0
    if BEHAVIOUR == "endless":
        return 0.02
    if BEHAVIOUR in ("no-jitter", "slow"):
        return 3 if BEHAVIOUR == "no-jitter" else 3.2
    return 0.2 * 2**retry * random.uniform(0.5, 1)


def is_retried(status):
    if status is None:
        return not IS_WRITE or HAS_KEY or BEHAVIOUR == "retries-writes"
    if IS_WRITE and not HAS_KEY and BEHAVIOUR not in ("retries-writes", "emptied"):
        return False
    return status == 503 or status == 429 and BEHAVIOUR != "only-503"


for number in range(MAX_ATTEMPTS):
    status, retry_after = attempt(number)
    if status is not None and status < 300:
        print("done")
        sys.exit(0)
    if not is_retried(status) or number + 1 == MAX_ATTEMPTS:
        break
    wait = advised(retry_after)
    if wait is not None and wait > MAX_WAIT_S:
        break
    time.sleep(wait if wait is not None and wait > 0 else backoff(number))
print(f"gave up after status {status}")
sys.exit(1)
