"""Parts of the package without any process."""

from __future__ import annotations

import unittest
from argparse import Namespace
from dataclasses import replace
from typing import Any

from locust.stats import RequestStats

from tailback_locust import arguments
from tailback_locust.arguments import WrongArguments
from tailback_locust.merging import _cut_short, _exit_of, _exit_of_none, _is_broken
from tailback_locust.messages import BrokenMessage, Ended, Gauges, Hello
from tailback_locust.run import Run
from tailback_locust.tally import Tally, add_to


def line(**changes: Any) -> dict[str, Any]:
    """A line of progress in which 8 ops arrived and 5 ended, in 9 attempts."""
    told = {
        "seed": 1, "t_s": 1.0, "last": False, "ops_arrived": 8, "ops_succeeded": 4, "ops_given_up": 1,
        "op_latency": {"count": 4, "sum_ms": 4100.5, "p50_ms": 1000.0, "p99_ms": 1100.0, "counts": [[1000.0, 3], [1100.0, 1]]},
        "attempts_sent": 10, "attempts_succeeded": 4, "attempts_rejected": 3, "attempts_failed": 2, "attempts_cancelled": 0,
        "failures": [{"status": 500, "kind": None, "attempts": 1}, {"status": None, "kind": "timeout", "attempts": 1}],
        "attempt_latency": {"count": 9, "sum_ms": 2700.0, "p50_ms": 147.0, "p99_ms": 600.0, "counts": [[147.0, 5], [600.0, 4]]},
        "in_flight": 1, "waiting": 2, "window": 3.5,
    }  # fmt: skip
    return {**told, **changes}


def options(**changes: Any) -> Namespace:
    defaults = {"strategy": "aimd", "ops": "", "rate": "", "loadgen_flags": "", "barrier": "", "barrier_timeout": "60s", "start_in": ""}
    return Namespace(**{**defaults, **changes})


class Counts(unittest.TestCase):
    def test_counts_reach_locust_exactly_and_once(self) -> None:
        tally, stats = Tally("aimd"), RequestStats()
        tally.add(line())
        tally.add(line())
        add_to(stats, tally.take())
        add_to(stats, tally.take())
        tally.add(line(last=True))
        add_to(stats, tally.take())
        ops, attempts = stats.get("aimd", "op"), stats.get("aimd", "attempt")
        # Of 24 ops that arrived 15 ended, and 9 are unfinished at the end.
        self.assertEqual((ops.num_requests, ops.num_failures), (24, 12))
        self.assertEqual((attempts.num_requests, attempts.num_failures), (27, 15))
        self.assertEqual((ops.num_none_requests, ops.total_response_time), (12, 3 * 4100.5))
        self.assertEqual(dict(attempts.response_times), {150: 15, 600: 12})
        self.assertEqual((attempts.min_response_time, attempts.max_response_time), (147, 600))
        self.assertEqual((stats.total.num_requests, stats.total.num_failures), (51, 27))
        kinds = {(error.method, error.error): error.occurrences for error in stats.errors.values()}
        expected = {
            ("op", "given up"): 3,
            ("op", "unfinished"): 9,
            ("attempt", "rejected"): 9,
            ("attempt", "status 500"): 3,
            ("attempt", "timeout"): 3,
        }
        self.assertEqual(kinds, expected)

    def test_a_line_without_any_event_adds_no_row(self) -> None:
        tally = Tally("aimd")
        none = {"count": 0, "sum_ms": 0.0, "counts": []}
        counts = {key: 0 for key in line() if key.startswith(("ops_", "attempts_"))}
        tally.add(line(**counts, failures=[], op_latency=none, attempt_latency=none))
        self.assertEqual(tally.take()["rows"], {})


class Messages(unittest.TestCase):
    def test_what_is_broken_is_told_and_what_is_new_left_out(self) -> None:
        gauges = Gauges("a", 0, 1.0, 2, 3, None)
        self.assertEqual(Gauges.read({**gauges.data(), "later": 1}), gauges)
        for broken in (None, [], "x", {"run": "a"}):
            with self.assertRaises(BrokenMessage):
                Gauges.read(broken)
        self.assertEqual(Hello.read({"protocol": 1, "package": "1", "loadgen": "2"}).error, "")


class Arguments(unittest.TestCase):
    def test_flags_are_those_of_loadgen(self) -> None:
        flags = arguments.flags_of_run(options(ops="2000", loadgen_flags="--seed 7 --header 'a: b'"), "http://a", 4)
        expected = ["--strategy=aimd", "--clients=4", "--target=http://a", "--ops=2000", "--seed", "7", "--header", "a: b"]
        self.assertEqual(flags, expected)
        self.assertEqual(arguments.flags_of_barrier(options(), "http://a")[0], "--barrier=http://a")

    def test_what_cannot_be_is_refused_with_the_reason(self) -> None:
        for words, host, changes in (
            ("no host", None, {}),
            ("`--json`", "http://a", {"loadgen_flags": "--json=a.json"}),
            ("`--simulate`", "http://a", {"loadgen_flags": "--simulate"}),
            ("cannot be read", "http://a", {"loadgen_flags": "'"}),
        ):
            with self.assertRaisesRegex(WrongArguments, words):
                arguments.flags_of_run(options(**changes), host, 4)
        for seconds in ("0", "-1", "nan", "x", "1e9"):
            with self.assertRaisesRegex(WrongArguments, "from 1 to 3600"):
                arguments.start_in(options(start_in=seconds))
        with self.assertRaisesRegex(WrongArguments, "take one"):
            arguments.start_in(options(start_in="5", barrier="http://a"))


class Runs(unittest.TestCase):
    def run_of(self, *ends: tuple[int, str | None]) -> Run:
        run = Run("aimd", ["--ops", "9"], None, [f"w{index}" for index in range(len(ends))])
        for shard, (code, document) in zip(run.shards, ends, strict=True):
            shard.ended = Ended(run.id, shard.index, code, document)
        return run

    def test_workers_are_numbered_without_holes(self) -> None:
        run = Run("aimd", ["--ops", "9"], None, ["b", "a", "c"])
        plans = {shard.worker: run.plan_of(shard) for shard in run.shards}
        self.assertEqual({worker: plan.index for worker, plan in plans.items()}, {"b": 0, "a": 1, "c": 2})
        self.assertEqual(plans["c"].flags[:5], ["--ops", "9", "--client-shard", "2/3", "--run-id"])
        self.assertIsNone(run.shard("other", 0))
        self.assertIsNone(run.shard(run.id, 3))

    def test_exit_codes_are_those_of_a_single_loadgen(self) -> None:
        self.assertEqual(_exit_of(0, self.run_of((0, "{}"), (0, "{}"))), 0)
        self.assertEqual(_exit_of(99, self.run_of((0, "{}"), (130, "{}"))), 99)
        self.assertEqual(_exit_of(0, self.run_of((0, "{}"), (130, "{}"))), 130)
        self.assertEqual(_exit_of(1, self.run_of((0, "{}"), (0, "{}"))), 1)
        self.assertEqual(_exit_of(1, self.run_of((0, "{}"), (69, "{}"))), 69)
        self.assertEqual(_exit_of(1, self.run_of((130, "{}"), (130, "{}"))), 130)
        self.assertEqual(_exit_of_none(self.run_of((130, None), (69, None))), 69)
        self.assertEqual(_exit_of_none(self.run_of((130, None), (130, None))), 130)
        self.assertEqual(_exit_of_none(self.run_of((-9, None))), 1)

    def test_a_shard_with_some_of_its_runs_says_why_the_others_are_missing(self) -> None:
        two_planned = '{"shard": {"index": %d}, "plan": {"tasks": 2}, "tasks": [%s]}'
        run = self.run_of((69, two_planned % (0, "{}")), (0, two_planned % (1, "{}, {}")), (0, "[]"))
        for shard in run.shards:
            assert shard.ended is not None
            shard.ended = replace(shard.ended, words="warning: slow\nerror: the barrier did not receive all shards in time\n")
        told = [_cut_short(shard) for shard in run.shards]
        self.assertRegex(told[0], r"ended with 69 after 1 of 2: error: the barrier did not receive all shards in time")
        self.assertEqual(told[1:], ["", ""])

    def test_a_document_that_is_not_of_its_shard_is_broken(self) -> None:
        own, nested = '{"shard": {"index": 0}}', "[" * 100_000
        for document, is_broken in ((own, False), (own.replace("0", "1"), True), ("{}", True), ("7", True), ("{", True), (nested, True)):
            self.assertEqual(_is_broken(self.run_of((0, document)).shards[0]), is_broken, document[:30])

    def test_a_shard_that_cannot_begin_holds_the_others_up(self) -> None:
        run = Run("aimd", [], None, ["a", "b"])
        self.assertFalse(run.cannot_begin)
        run.shards[1].ended = Ended(run.id, 1, 2)
        self.assertTrue(run.cannot_begin)
        run.shards[0].gauges.append(Gauges(run.id, 0, 1.0, 2, 3))
        self.assertFalse(run.cannot_begin)

    def test_pictures_are_sums_over_shards(self) -> None:
        run = Run("aimd", [], None, ["a", "b"])
        run.shards[0].gauges.extend([Gauges(run.id, 0, 1.0, 5, 1, 8.0), Gauges(run.id, 0, 2.1, 6, 1, 9.0)])
        run.shards[1].gauges.append(Gauges(run.id, 1, 1.1, 7, 0, None))
        expected = [
            {"t_s": 1.1, "in_flight": 12, "waiting": 1, "window": 8.0},
            {"t_s": 2.1, "in_flight": 6, "waiting": 1, "window": 9.0},
        ]
        self.assertEqual(run.view()["series"], expected)
