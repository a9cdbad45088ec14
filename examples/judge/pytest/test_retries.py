"""Tests of a client that uses urllib3's `Retry`. Replace `client` with yours."""

import pytest
import urllib3


def client():
    retry = urllib3.Retry(total=4, backoff_factor=0.1, backoff_jitter=0.1, status_forcelist=[429, 503])
    return urllib3.PoolManager(retries=retry, timeout=2)


@pytest.mark.parametrize("situation", ["throttled", "unavailable", "date"])
def test_waits_as_advised(judge, situation):
    assert client().request("GET", judge.url(situation)).status == 200
    verdict = judge.end(situation)
    assert verdict["verdict"] == "passed", verdict["findings"]


def test_does_not_retry_what_is_final(judge):
    assert client().request("GET", judge.url("404")).status == 404
    assert judge.end("404")["verdict"] == "passed"


def test_does_not_send_a_lost_write_again(judge):
    with pytest.raises(urllib3.exceptions.HTTPError):
        client().request("POST", judge.url("lost"), json={"name": "thing"})
    verdict = judge.end("lost")
    assert verdict["verdict"] == "passed", verdict["findings"]
