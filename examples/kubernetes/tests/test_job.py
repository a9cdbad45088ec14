"""Runs the commands of `job.yaml` as processes with `JOB_COMPLETION_INDEX` only, and compares the merged document with
that of one process.

    TAILBACK_BIN=target/debug python3 -m unittest discover -s examples/kubernetes/tests -v
"""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

BIN = Path(os.environ.get("TAILBACK_BIN", Path(__file__).parents[3] / "target/debug")).absolute()
JOB = Path(__file__).parents[1] / "job.yaml"


def without_command_line(document: Path) -> str:
    return re.sub(r'"command_line":\[[^]]*\]', "", document.read_text())


class JobTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="tailback-job-")
        self.addCleanup(folder.cleanup)
        self.results = Path(folder.name)
        self.specs = {each["metadata"]["name"]: each["spec"] for each in yaml.safe_load_all(JOB.read_text()) if each["kind"] == "Job"}

    def command(self, name: str, index: str = "") -> list[str]:
        """Returns the command of a Job as the kubelet makes it, with the mounted volume in the folder of this test."""
        [container] = self.specs[name]["template"]["spec"]["containers"]
        [mount] = container["volumeMounts"]
        words = [re.sub(r"\$\(JOB_COMPLETION_INDEX\)", index, word) for word in container["command"] + container["args"]]
        return [word.replace(f"{mount['mountPath']}/", f"{self.results}/") for word in words]

    def start(self, command: list[str], **environment: str) -> subprocess.Popen:
        return subprocess.Popen(command, env={"PATH": str(BIN), **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_the_merged_document_is_that_of_one_process(self) -> None:
        shards = self.specs["tailback-shards"]
        self.assertEqual((shards["completionMode"], shards["parallelism"]), ("Indexed", shards["completions"]))
        indexes = [str(index) for index in range(shards["completions"])]
        running = [self.start(self.command("tailback-shards", index), JOB_COMPLETION_INDEX=index) for index in indexes]
        self.assertEqual([process.wait() for process in running], [0] * len(indexes))
        self.assertEqual(self.start(self.command("tailback-merge")).wait(), 0)

        alone = self.results / "alone.json"
        whole = [word for word in self.command("tailback-shards") if not word.startswith(("--shard=", "--json="))]
        self.assertEqual(self.start([*whole, f"--json={alone}"]).wait(), 0)
        self.assertEqual(without_command_line(self.results / "sweep.json"), without_command_line(alone))
        self.assertIn("</html>", (self.results / "sweep.html").read_text())

    def test_every_pod_may_write_to_the_volume(self) -> None:
        for spec in self.specs.values():
            context = spec["template"]["spec"]["securityContext"]
            self.assertEqual(context["fsGroup"], context["runAsUser"])

    def test_the_schema_of_kubernetes_accepts_the_objects(self) -> None:
        try:
            import kubernetes_validate
        except ImportError:
            self.skipTest("kubernetes-validate is not installed")
        for each in yaml.safe_load_all(JOB.read_text()):
            kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)


if __name__ == "__main__":
    unittest.main()
