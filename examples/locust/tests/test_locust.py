"""Runs a master and two workers of the installed Locust against a `mockserver`, all as processes of this machine.

    TAILBACK_BIN=target/debug python3 -m unittest discover -s examples/locust/tests -v
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from urllib.request import urlopen

BIN = Path(os.environ.get("TAILBACK_BIN", Path(__file__).parents[3] / "target/debug")).absolute()
LOCUSTFILE = Path(__file__).parents[1] / "locustfile.py"
# Longer than every step takes on a busy machine.
PATIENCE_S = 120


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def command_line(pid: str) -> bytes:
    """Returns the command line of a process, which is empty after its end."""
    path = Path(f"/proc/{pid}/cmdline")
    return path.read_bytes() if path.exists() else b""


class LocustTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="tailback-locust-")
        self.addCleanup(folder.cleanup)
        self.folder, self.port = Path(folder.name), free_port()
        self.url = f"http://127.0.0.1:{free_port()}"
        self.spawn("mockserver", [str(BIN / "mockserver"), "--listen", self.url.removeprefix("http://")])
        self.eventually(lambda: "received" in self.ledger())

    def spawn(self, name: str, command: list[str]) -> subprocess.Popen:
        with open(self.folder / f"{name}.log", "wb") as log:
            environment = {**os.environ, "TMPDIR": str(self.folder)}
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, env=environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def locust(self, name: str, *flags: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "locust", "-f", str(LOCUSTFILE), "--loadgen", str(BIN / "loadgen"), *flags]
        return self.spawn(name, command)

    def master(self, *flags: str) -> subprocess.Popen:
        return self.locust("master", "--master", "--master-bind-port", str(self.port), *flags)

    def headless(self, *flags: str) -> subprocess.Popen:
        plan = ["--headless", "--expect-workers", "2", "-u", "3", "-r", "100", "-H", self.url, "--json-file", "stats"]
        return self.master(*plan, *flags)

    def workers(self) -> list[subprocess.Popen]:
        return [self.locust(f"worker{index}", "--worker", "--master-port", str(self.port)) for index in range(2)]

    def eventually(self, is_true) -> None:
        until = time.monotonic() + PATIENCE_S
        while not is_true():
            self.assertLess(time.monotonic(), until, self.log("master"))
            time.sleep(0.1)

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def ends_with(self, code: int, process: subprocess.Popen) -> None:
        self.assertEqual(process.wait(PATIENCE_S), code, self.log("master"))

    def document(self, name: str = "tailback") -> dict:
        return json.loads((self.folder / f"{name}.json").read_text())

    def ledger(self) -> dict:
        try:
            with urlopen(f"{self.url}/_mock/stats", timeout=10) as answer:
                return json.load(answer)
        except OSError:
            return {}

    def add_up(self, parts: int) -> dict:
        """Compares the merged document with its parts, the server's ledger and Locust's statistics."""
        merged, ledger = self.document(), self.ledger()
        documents = [self.document(f"tailback.{index}") for index in range(parts)]
        for group in ("ops", "attempts"):
            for key in ("total", "succeeded"):
                self.assertEqual(merged[group][key], sum(part[group][key] for part in documents), f"{group}.{key}")
        attempts = merged["attempts"]
        self.assertEqual(attempts["total"], ledger["received"])
        self.assertEqual((attempts["succeeded"], attempts["rejected"]), (ledger["accepted"], ledger["rejected"]))
        self.assertEqual(merged["server"]["received"], ledger["received"])
        counted = {row["method"]: row for row in json.loads((self.folder / "stats.json").read_text())}
        self.assertEqual(counted["attempt"]["num_requests"], attempts["total"])
        self.assertEqual(counted["attempt"]["num_failures"], attempts["total"] - attempts["succeeded"])
        self.assertEqual(counted["op"]["num_requests"] - counted["op"]["num_failures"], merged["ops"]["succeeded"])
        return merged

    def test_merged_counts_are_those_of_the_parts_the_ledger_and_locust(self) -> None:
        workers = self.workers()
        self.ends_with(0, self.headless("--ops", "601", "--rate", "300/s"))
        for worker in workers:
            self.ends_with(0, worker)
        merged = self.add_up(2)
        self.assertEqual(merged["ops"]["total"], 601)
        self.assertEqual(merged["config"]["workload"]["clients"], 3)
        self.assertEqual([self.document(f"tailback.{index}")["ops"]["total"] for index in range(2)], [200, 401])

    def test_a_killed_worker_is_left_out_and_the_exit_code_is_1(self) -> None:
        workers = self.workers()
        master = self.headless("--ops", "3000", "--rate", "300/s")
        self.eventually(lambda: self.ledger()["received"] > 100)
        [child] = Path(f"/proc/{workers[1].pid}/task/{workers[1].pid}/children").read_text().split()
        workers[1].kill()
        self.eventually(lambda: not command_line(child))
        self.ends_with(1, master)
        self.assertIn("is lost", self.log("master"))
        [present] = [index for index in range(2) if (self.folder / f"tailback.{index}.json").exists()]
        self.assertEqual(self.document()["ops"]["total"], self.document(f"tailback.{present}")["ops"]["total"])

    def test_an_interrupt_of_the_master_merges_what_was_measured(self) -> None:
        workers = self.workers()
        master = self.headless("--ops", "30000", "--rate", "300/s")
        self.eventually(lambda: self.ledger()["received"] > 100)
        master.send_signal(signal.SIGINT)
        self.ends_with(130, master)
        for worker in workers:
            self.ends_with(0, worker)
        self.assertLess(self.add_up(2)["ops"]["succeeded"], 30000)

    def test_a_wrong_flag_ends_with_2_and_the_words_of_loadgen(self) -> None:
        self.workers()
        self.ends_with(2, self.headless("--loadgen-flags=--opps 9"))
        self.assertIn("--opps", self.log("master"))
        self.assertEqual(self.ledger()["received"], 0)

    def test_the_page_refuses_foreign_hosts_and_forms(self) -> None:
        port = free_port()
        self.master("--web-host", "127.0.0.1", "--web-port", str(port), "--allow-host", "locust.example")

        def status(host: str, method: str = "GET", path: str = "/", **headers: str) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            try:
                connection.request(method, path, headers={"Host": host, **headers})
                return connection.getresponse().status
            except OSError:
                return 0
            finally:
                connection.close()

        self.eventually(lambda: status("localhost") == 200)
        for host in (f"127.0.0.1:{port}", f"[::1]:{port}", f"LOCALHOST:{port}", "locust.example"):
            self.assertEqual(status(host), 200, host)
        for host in ("evil.example", f"evil.example:{port}", "192.0.2.1", "localhost.evil.example", "[::1", ""):
            self.assertEqual(status(host), 403, host)
            self.assertEqual(status(host, "POST", "/swarm"), 403, host)
        self.assertEqual(status("localhost", "POST", "/stats/reset", Origin="http://evil.example"), 403)
        self.assertEqual(status("localhost", "POST", "/stats/reset", Origin="null"), 403)
        self.assertEqual(status("localhost", "POST", "/stats/reset", Origin="http://localhost"), 200)


if __name__ == "__main__":
    unittest.main()
