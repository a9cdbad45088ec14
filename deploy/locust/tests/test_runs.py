"""Runs that come to their end, or are stopped: every count is there, and the same everywhere."""

from __future__ import annotations

import os

from scene import Scene, shard_runs, signal, stats


class Runs(Scene):
    def add_up(self, url: str, ops: int, shards: int) -> dict[str, tuple[int, int]]:
        """Merged = sum of shards = the server's ledger = Locust's request counts, exactly."""
        merged = self.merged()
        parts = list(shard_runs(self.folder))
        self.assertEqual(len(parts), shards)
        for group in ("ops", "attempts"):
            for key, count in merged[group].items():
                self.assertEqual(count, sum(part[group][key] for part in parts), f"{group}.{key}")
        self.assertEqual(merged["ops"]["total"], ops)
        self.assertEqual(merged["op_latency_ms"]["count"], sum(part["op_latency_ms"]["count"] for part in parts))

        attempts = merged["attempts"]
        ledger = stats(url, merged["merged"]["run"])
        self.assertEqual(merged["server"]["received"], ledger["received"])
        self.assertEqual(ledger["received"], attempts["total"])
        self.assertEqual((ledger["accepted"], ledger["rejected"]), (attempts["succeeded"], attempts["rejected"]))
        self.assertEqual(sorted(row["shard"] for row in ledger["shards"]), list(range(shards)))
        for row, part in zip(ledger["shards"], parts, strict=True):
            self.assertEqual(row["received"], part["attempts"]["total"])

        counted = self.requests()
        self.assertEqual(counted["op"], (merged["ops"]["total"], merged["ops"]["total"] - merged["ops"]["succeeded"]))
        self.assertEqual(counted["attempt"], (attempts["total"], attempts["total"] - attempts["succeeded"]))
        return counted

    def test_2000_ops_over_four_clients_add_up_everywhere(self) -> None:
        url = self.mockserver()
        workers = self.workers(4)
        master = self.headless(url, "--strategy", "aimd", "--ops", "2000")
        self.assertEqual(self.ends(master, "master"), 0, self.log("master"))
        for number, worker in enumerate(workers):
            self.assertEqual(self.ends(worker, f"worker{number}"), 0)
        counted = self.add_up(url, 2000, 4)
        merged = self.merged()
        told = f"makespan {merged['makespan_s']:.1f} s, at least {merged['optimal_makespan_s']:.1f} s"
        print(f"\n    ops {counted['op'][0]}, attempts {counted['attempt'][0]}: merged = shards = ledger = Locust; {told}")

    def test_one_machine_with_processes_and_a_slow_spawn_rate(self) -> None:
        url = self.mockserver()
        flags = ["--headless", "-u", "6", "-r", "2", "-H", url, "--json-file", "stats", "--ops", "300"]
        master = self.locust("master", "--processes", "2", "--master-bind-port", str(self.port), "--master-port", str(self.port), *flags)
        self.assertEqual(self.ends(master, "master"), 0, self.log("master"))
        self.add_up(url, 300, 2)
        self.assertEqual(self.merged()["config"]["workload"]["clients"], 6)

    def test_a_start_by_the_clock_needs_no_barrier(self) -> None:
        url = self.mockserver()
        self.workers(2)
        flags = ["--start-in", "3", "--ops", "200", "--merge-flags=--html whole.html"]
        master = self.headless(url, *flags, workers=2)
        self.assertEqual(self.ends(master, "master"), 0, self.log("master"))
        self.add_up(url, 200, 2)
        self.assertIn("</html>", (self.folder / "whole.html").read_text())

    def test_failures_have_their_kinds_and_a_condition_its_exit_code(self) -> None:
        url = self.mockserver("--max-busy", "5")
        self.workers(2)
        flags = ["--strategy", "none", "--ops", "200", "--merge-flags=--fail-if 'ops.given_up > 0'"]
        master = self.headless(url, *flags, workers=2)
        self.assertEqual(self.ends(master, "master"), 99, self.log("master"))
        merged = self.merged()
        self.assertGreater(merged["ops"]["given_up"], 0)
        self.assertEqual(self.requests()["op"], (200, merged["ops"]["given_up"]))
        self.assertEqual(self.requests()["attempt"], (200, merged["attempts"]["rejected"]))

    def test_ctrl_c_at_the_master_ends_shards_as_it_ends_loadgen(self) -> None:
        url = self.mockserver()
        workers = self.workers(4)
        master = self.headless(url, "--ops", "20000")
        self.eventually("the load has begun", lambda: stats(url).get("received", 0) > 200)
        master.send_signal(signal.SIGINT)
        self.assertEqual(self.ends(master, "master"), 130, self.log("master"))
        for number, worker in enumerate(workers):
            self.assertEqual(self.ends(worker, f"worker{number}"), 0)
        merged = self.merged()
        self.assertEqual((merged["interrupted"], merged["merged"]["missing"]), ("SIGINT", []))
        self.add_up(url, merged["ops"]["total"], 4)

    def test_ctrl_c_in_the_terminal_of_all_processes_means_the_same(self) -> None:
        url = self.mockserver()
        flags = ["--headless", "-u", "4", "-r", "100", "-H", url, "--json-file", "stats", "--ops", "20000"]
        ports = ["--master-bind-port", str(self.port), "--master-port", str(self.port)]
        master = self.locust("master", "--processes", "2", *ports, *flags, own_terminal=True)
        self.eventually("the load has begun", lambda: stats(url).get("received", 0) > 200)
        os.killpg(master.pid, signal.SIGINT)
        self.assertEqual(self.ends(master, "master"), 130, self.log("master"))
        self.assertEqual(self.merged()["merged"]["missing"], [])
        self.add_up(url, self.merged()["ops"]["total"], 2)

    def test_a_worker_that_comes_during_a_run_gets_no_part_of_it(self) -> None:
        url = self.mockserver()
        self.workers(2)
        master = self.headless(url, "--ops", "600", "--enable-rebalancing", workers=2)
        self.eventually("the load has begun", lambda: stats(url).get("received", 0) > 50)
        late = self.worker(2)
        self.assertEqual(self.ends(master, "master"), 0, self.log("master"))
        self.assertEqual(self.ends(late, "worker2"), 0)
        self.assertNotIn("tailback: shard", self.log("worker2"))
        self.assertIn("refused: the number of users is the number of clients", self.log("master"))
        self.add_up(url, 600, 2)

    def test_run_time_ends_it_too(self) -> None:
        url = self.mockserver()
        self.workers(2)
        master = self.headless(url, "--ops", "20000", "--run-time", "6", workers=2)
        self.assertEqual(self.ends(master, "master"), 130, self.log("master"))
        self.add_up(url, self.merged()["ops"]["total"], 2)
