"""The web UI: a run from the form, the tab with what is in flight, and no change of users on the way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from scene import Scene, fetched, stats


class Web(Scene):
    @property
    def ui(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    def told(self, path: str, form: dict[str, Any] | None = None) -> dict[str, Any]:
        return dict(json.loads(fetched(f"{self.ui}{path}", form) or "{}"))

    def seen(self, path: str, tab: str) -> None:
        """Looked at with a browser, where there is one."""
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        if browser is None:
            print("\n    SKIPPED: no Chromium looks at the tab")
            return
        picture = Path(os.environ.get("TAILBACK_PICTURES", str(self.folder))) / path
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,900", "--virtual-time-budget=6000"]
        page = f"{self.ui}/?tab={tab}"
        subprocess.run([browser, *flags, f"--screenshot={picture}", page], capture_output=True, timeout=120, check=True)
        self.assertGreater(picture.stat().st_size, 10_000)
        drawn = subprocess.run([browser, *flags, "--dump-dom", page], capture_output=True, timeout=120, check=True).stdout.decode()
        self.assertIn('data-line="in_flight"', drawn)
        self.assertIn('data-line="window"', drawn)
        self.assertIn("In flight", drawn)

    def test_a_run_from_the_form_is_drawn_and_stopped(self) -> None:
        url = self.mockserver()
        self.workers(2)
        master = self.master("--web-port", str(self.web_port), "--web-host", "127.0.0.1")
        self.eventually("the page is there", lambda: fetched(f"{self.ui}/") is not None)
        self.eventually("both workers are there", lambda: self.told("/worker-count").get("worker_count") == 2)
        page = fetched(f"{self.ui}/") or ""
        self.assertIn('"key": "tailback"', page)
        self.assertIn("/tailback/tab.js", page)
        self.assertIn("polyline", fetched(f"{self.ui}/tailback/tab.js") or "")

        form = {"user_count": 4, "spawn_rate": 4, "host": url, "strategy": "aimd", "ops": 20000}
        self.assertTrue(self.told("/swarm", form)["success"])
        self.eventually("the load has begun", lambda: stats(url).get("received", 0) > 300)
        self.eventually("it is drawn", lambda: len((self.told("/tailback/gauges") or {}).get("series", [])) > 3)
        view = self.told("/tailback/gauges")
        self.assertEqual([shard["shard"] for shard in view["shards"]], [0, 1])
        self.assertEqual({shard["state"] for shard in view["shards"]}, {"running"})
        self.assertTrue(all(point["in_flight"] > 0 and point["window"] > 0 for point in view["series"][1:]))
        [table] = self.told("/stats/requests")["extended_stats"]
        self.assertEqual((table["key"], len(table["data"])), ("tailback", 2))

        refused = self.told("/swarm", {**form, "user_count": 9})
        self.assertEqual((refused["success"], "fixed while a run" in refused["message"]), (False, True))
        self.seen("running.png", "tailback")
        self.assertEqual({shard["state"] for shard in self.told("/tailback/gauges")["shards"]}, {"running"})

        # Earlier versions are stopped by a GET.
        self.assertTrue((self.told("/stop", {}) or self.told("/stop"))["success"])
        self.eventually("it is merged", lambda: self.told("/tailback/gauges")["over"])
        self.eventually("the UI is ready again", lambda: self.told("/stats/requests")["state"] in ("ready", "stopped"))
        first = self.merged()
        self.assertEqual((first["interrupted"], first["merged"]["missing"]), ("SIGINT", []))
        counted = {row["method"]: row["num_requests"] for row in self.told("/stats/requests")["stats"]}
        # Locust keeps what it answers for two seconds.
        self.eventually("counts are the same", lambda: self.counts() == (first["ops"]["total"], first["attempts"]["total"]), 10)
        self.assertIn("op", counted)

        # The next one, with another number of users.
        self.eventually("both workers are there", lambda: self.told("/worker-count").get("worker_count") == 2)
        self.assertTrue(self.told("/swarm", {**form, "user_count": 5, "ops": 100})["success"])
        self.eventually("the second is merged", lambda: self.second(first["merged"]["run"]))
        self.assertEqual((self.merged()["ops"]["succeeded"], self.merged()["config"]["workload"]["clients"]), (100, 5))
        self.seen("done.png", "tailback")
        master.terminate()
        self.assertEqual(self.ends(master, "master"), 0, self.log("master"))

    def counts(self) -> tuple[int, int]:
        counted = {row["method"]: row["num_requests"] for row in self.told("/stats/requests")["stats"]}
        return counted.get("op", 0), counted.get("attempt", 0)

    def second(self, first: str) -> bool:
        return (self.folder / "tailback.json").exists() and self.merged()["merged"]["run"] != first
