"""What goes wrong: it is named, nothing is left running, and what is there is merged."""

from __future__ import annotations

from pathlib import Path

from scene import LOCUSTFILE, Scene, is_alive, stats

SHAPE = """
from locust import LoadTestShape

class Growing(LoadTestShape):
    def tick(self):
        return (int(self.get_run_time()) + 4, 10)
"""

NOISE = """
from tailback_locust.worker import Worker

Worker._on_progress = lambda self, line: self.runner.send_message("tailback_gauges", [line])
"""


class Losses(Scene):
    def test_a_killed_worker_is_named_and_the_others_are_merged(self) -> None:
        url = self.mockserver()
        workers = self.workers(4)
        # Locust wants to spread its users among those that are left: their number is fixed.
        master = self.headless(url, "--ops", "1200", "--enable-rebalancing")
        self.eventually("the load has begun", lambda: stats(url).get("received", 0) > 100)
        orphan = self.loadgen_of(workers[2])
        workers[2].kill()
        self.eventually("its loadgen does not outlive it", lambda: not is_alive(orphan), patience=10)
        self.assertEqual(self.ends(master, "master"), 1, self.log("master"))
        merged, log = self.merged(), self.log("master")
        [missing] = merged["merged"]["missing"]
        self.assertRegex(log, rf"shard {missing} of 4 is lost: worker \S+ is gone")
        self.assertRegex(log, "refused: the number of users is the number of clients")
        self.assertEqual(merged["ops"]["total"], 900)
        self.assertEqual(merged["ops"]["succeeded"], 900)

    def test_a_worker_without_the_program_is_refused_by_name(self) -> None:
        url = self.mockserver()
        self.worker(0)
        self.worker(1, loadgen=Path("/nowhere/loadgen"))
        master = self.headless(url, workers=2)
        self.assertEqual(self.ends(master, "master"), 2, self.log("master"))
        self.assertRegex(self.log("master"), r"refused: worker \S+: `/nowhere/loadgen` is not installed here")
        self.assertEqual(stats(url)["received"], 0)

    def test_a_worker_of_another_version_is_refused_by_name(self) -> None:
        url = self.mockserver()
        self.worker(0)
        self.worker(1, loadgen=self.wrapped("echo loadgen 9.9.9"))
        master = self.headless(url, workers=2)
        self.assertEqual(self.ends(master, "master"), 2, self.log("master"))
        self.assertRegex(self.log("master"), r"refused: worker \S+ has `loadgen 9.9.9`, and the master `loadgen ")

    def test_a_master_without_the_program_ends_at_once(self) -> None:
        master = self.headless("http://127.0.0.1:1", loadgen=Path("/nowhere/loadgen"))
        self.assertEqual(self.ends(master, "master"), 2, self.log("master"))
        self.assertIn("`/nowhere/loadgen` is not installed here", self.log("master"))

    def test_a_barrier_that_never_fills_ends_with_69(self) -> None:
        url = self.mockserver()
        self.worker(0)
        self.worker(1)
        # It answers who it is, and never comes.
        self.worker(2, loadgen=self.wrapped('[ "$1" = --version ] && exec "$REAL" --version; exec sleep 600'))
        master = self.headless(url, "--barrier-timeout", "3s", workers=3)
        self.assertEqual(self.ends(master, "master"), 69, self.log("master"))
        self.assertRegex(self.log("master"), r"ended with 69 and wrote nothing: .*did not receive all shards in time")
        self.assertFalse((self.folder / "tailback.json").exists())

    def test_nobody_who_answers_is_69_too(self) -> None:
        self.worker(0)
        master = self.headless("http://127.0.0.1:1", workers=1)
        self.assertEqual(self.ends(master, "master"), 69, self.log("master"))

    def test_a_flag_that_loadgen_refuses_is_told_with_its_words(self) -> None:
        url = self.mockserver()
        self.workers(2)
        master = self.headless(url, "--loadgen-flags=--opps 9", workers=2)
        self.assertEqual(self.ends(master, "master"), 2, self.log("master"))
        self.assertIn("--opps", self.log("master"))

    def test_fewer_users_than_workers_are_refused(self) -> None:
        url = self.mockserver()
        self.workers(2)
        master = self.headless(url, workers=2, users=1)
        self.assertEqual(self.ends(master, "master"), 2, self.log("master"))
        self.assertIn("1 users cannot be divided among 2 workers", self.log("master"))

    def test_a_shape_is_refused(self) -> None:
        url = self.mockserver()
        self.workers(1)
        locustfile = self.folder / "shape.py"
        locustfile.write_text(LOCUSTFILE.read_text() + SHAPE)
        master = self.headless(url, workers=1, locustfile=locustfile)
        self.assertEqual(self.ends(master, "master"), 2, self.log("master"))
        self.assertIn("refused: a LoadTestShape changes the number of users", self.log("master"))

    def test_no_load_goes_on_without_a_master(self) -> None:
        url = self.mockserver()
        workers = self.workers(2)
        master = self.headless(url, "--ops", "100000", workers=2)
        self.eventually("the load has begun", lambda: stats(url).get("received", 0) > 100)
        left = [self.loadgen_of(worker) for worker in workers]
        master.kill()
        self.eventually("no loadgen goes on", lambda: not any(is_alive(pid) for pid in left), patience=30)
        self.eventually("its document is kept", lambda: "is kept: " in self.log("worker0"), patience=10)
        document = Path(self.log("worker0").rsplit("is kept: ", 1)[1].split()[0])
        self.assertTrue(document.is_file())
        document.unlink()

    def test_a_broken_document_is_named_and_the_others_are_merged(self) -> None:
        url = self.mockserver()
        self.worker(0)
        cut = 'while [ $# -gt 1 ]; do [ "$1" = --json ] && head -c 100 "$2" > "$2.cut" && mv "$2.cut" "$2"; shift; done; exit 0'
        self.worker(1, loadgen=self.wrapped(f'"$REAL" "$@"\n[ "$1" = --version ] && exit 0\n{cut}'))
        master = self.headless(url, "--ops", "200", workers=2)
        self.assertEqual(self.ends(master, "master"), 1, self.log("master"))
        merged = self.merged()
        [missing] = merged["merged"]["missing"]
        self.assertRegex(self.log("master"), rf"lost: shard {missing} of 2: the document of worker \S+ is broken")
        self.assertEqual(merged["ops"]["total"], 100)

    def test_a_document_that_nobody_can_merge_is_named_and_the_others_are_merged(self) -> None:
        url = self.mockserver()
        self.worker(0)
        other = 'while [ $# -gt 1 ]; do [ "$1" = --json ] && sed -i \'s/"attempts":{/"attempts":{"total":{},/\' "$2"; shift; done; exit 0'
        self.worker(1, loadgen=self.wrapped(f'"$REAL" "$@"\n[ "$1" = --version ] && exit 0\n{other}'))
        master = self.headless(url, "--ops", "200", workers=2)
        self.assertEqual(self.ends(master, "master"), 1, self.log("master"))
        merged = self.merged()
        [missing] = merged["merged"]["missing"]
        self.assertRegex(self.log("master"), rf"lost: shard {missing} of 2: worker \S+ sent a message that cannot be read: error: ")
        self.assertEqual(merged["ops"]["total"], 100)

    def test_the_share_of_a_worker_whose_messages_are_broken_is_lost_and_the_others_are_merged(self) -> None:
        url = self.mockserver()
        self.worker(0)
        locustfile = self.folder / "noise.py"
        locustfile.write_text(LOCUSTFILE.read_text() + NOISE)
        self.worker(1, locustfile=locustfile)
        master = self.headless(url, "--ops", "600", workers=2)
        self.assertEqual(self.ends(master, "master"), 1, self.log("master"))
        merged = self.merged()
        [missing] = merged["merged"]["missing"]
        self.assertRegex(
            self.log("master"), rf"lost: shard {missing} of 2: worker \S+ sent a message that cannot be read: Gauges: not a map"
        )
        self.assertEqual(merged["ops"]["total"], 300)
