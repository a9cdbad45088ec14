"""A pytest fixture that offers the situations of `loadgen judge --serve`. LOADGEN names the program, by default `loadgen`."""

import json
import os
import subprocess
import urllib.request

import pytest


class Judge:
    def __init__(self, urls):
        self.urls = urls

    def url(self, situation):
        """Returns the address of the situation's server."""
        return self.urls[situation]

    def end(self, situation):
        """Ends the operations in the situation, and returns the verdict on them."""
        request = urllib.request.Request(self.urls[situation] + "/_judge/end", method="POST")
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@pytest.fixture(scope="session")
def judge():
    command = [os.environ.get("LOADGEN", "loadgen"), "judge", "--serve", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        yield Judge(json.loads(program.stdout.readline())["situations"])
        program.terminate()
