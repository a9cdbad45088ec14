"""Counts of progress lines: gathered at a worker, sent with Locust's own report, and added in bulk to the master's statistics."""

from __future__ import annotations

import time
from typing import Any

from locust import stats as locust_stats
from locust.stats import RequestStats, StatsEntry, StatsError

from tailback_locust.messages import BrokenMessage, is_count, is_number

# The two request types.
OP = "op"
ATTEMPT = "attempt"

# The key in Locust's report.
KEY = "tailback"

Row = dict[str, Any]

# No latency is longer: thirty years.
A_LONG_TIME_MS = 1e12


class Tally:
    """What happened since the last report."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._rows: dict[str, Row] = {}
        # Ops that have arrived and not ended.
        self._open = 0

    def add(self, line: dict[str, Any]) -> None:
        """A line of progress. Whatever did not succeed is a failure of its kind, so that what is left succeeded."""
        self._open += line["ops_arrived"] - line["ops_succeeded"] - line["ops_given_up"]
        ops = {"given up": line["ops_given_up"]}
        if line["last"]:
            ops["unfinished"], self._open = max(0, self._open), 0
        self._count(OP, line["ops_succeeded"], ops, line["op_latency"])
        attempts = {"rejected": line["attempts_rejected"], "cancelled": line["attempts_cancelled"]}
        by_kind = 0
        for failure in line["failures"]:
            attempts[kind_of(failure)] = failure["attempts"]
            by_kind += failure["attempts"]
        attempts["failed"] = max(0, line["attempts_failed"] - by_kind)
        self._count(ATTEMPT, line["attempts_succeeded"], attempts, line["attempt_latency"])

    def take(self) -> dict[str, Any]:
        """What there is, for the report; from here on it is counted anew."""
        rows, self._rows = self._rows, {}
        return {"name": self.name, "rows": rows}

    def _count(self, kind: str, succeeded: int, failures: dict[str, int], latency: dict[str, Any]) -> None:
        failures = {words: count for words, count in failures.items() if count}
        failed = sum(failures.values())
        requests = succeeded + failed
        if requests == 0:
            return
        now = time.time()
        row = self._rows.setdefault(
            kind,
            {"requests": 0, "timed": 0, "sum_ms": 0.0, "times": {}, "by_s": {}, "failed_by_s": {}, "failures": {}, "first": now},
        )
        row["requests"] += requests
        row["timed"] += latency["count"]
        row["sum_ms"] += latency["sum_ms"]
        for ms, count in latency["counts"]:
            row["times"][ms] = row["times"].get(ms, 0) + count
        second = int(now)
        row["by_s"][second] = row["by_s"].get(second, 0) + requests
        if failed:
            row["failed_by_s"][second] = row["failed_by_s"].get(second, 0) + failed
        for words, count in failures.items():
            row["failures"][words] = row["failures"].get(words, 0) + count
        row["last"] = now


def kind_of(failure: dict[str, Any]) -> str:
    """In words: by its status, or by what went wrong before there was any."""
    if failure.get("status") is not None:
        return f"status {failure['status']}"
    return str(failure.get("kind") or "failed")


def _is_report(report: Any) -> bool:
    """Whether it is what `Tally.take` returns."""
    if not isinstance(report, dict) or not isinstance(report.get("rows"), dict):
        return False
    name, rows = report.get("name"), report["rows"]
    return isinstance(name, str) and name.isprintable() and set(rows) <= {OP, ATTEMPT} and all(map(_is_row, rows.values()))


def _is_row(row: Any) -> bool:
    """Whether it is a row of `Tally`."""
    if not isinstance(row, dict):
        return False
    counts = (row.get("requests"), row.get("timed"))
    numbers = (row.get("sum_ms"), row.get("first"), row.get("last"))
    maps = [each for key in ("times", "by_s", "failed_by_s", "failures") if isinstance(each := row.get(key), dict)]
    if not all(map(is_count, counts)) or not all(map(is_number, numbers)) or len(maps) < 4:
        return False
    times, by_s, failed_by_s, failures = maps
    return (
        all(is_number(ms) and 0 <= ms < A_LONG_TIME_MS for ms in times)
        and all(is_count(second) for second in (*by_s, *failed_by_s))
        and all(isinstance(words, str) and words.isprintable() for words in failures)
        and all(is_count(count) for each in maps for count in each.values())
    )


def add_to(stats: RequestStats, report: Any) -> None:
    """Adds a worker's report to Locust's statistics, as many requests at once as there were. Nothing is added of one that is broken."""
    if not _is_report(report):
        raise BrokenMessage("the counts of a report cannot be read")
    for kind, row in report["rows"].items():
        entry = _entry(stats, report["name"], kind, row)
        stats.entries[(entry.name, kind)].extend(entry)
        stats.total.extend(entry)
        for words, count in row["failures"].items():
            key = StatsError.create_key(kind, entry.name, words)
            error = stats.errors.setdefault(key, StatsError(kind, entry.name, words))
            error.occurrences += count
            # Not every version has these two.
            error.first_seen = getattr(error, "first_seen", None) or row["first"]
            error.last_seen = row["last"]


def bucket(ms: float) -> int:
    """Where Locust counts this latency. Later versions let users replace the rule; it is theirs, then."""
    rule = getattr(locust_stats, "bucket_response_time", None)
    if rule is not None:
        return int(rule(ms))
    digits = max(0, len(str(round(ms))) - 2)
    return int(round(ms, -digits))


def _entry(stats: RequestStats, name: str, kind: str, row: Row) -> StatsEntry:
    entry = StatsEntry(stats, name, kind)
    entry.start_time = row["first"]
    entry.last_request_timestamp = row["last"]
    entry.num_requests = row["requests"]
    # Ops that came to nothing have no latency, nor has what is sent while a run warms up.
    entry.num_none_requests = row["requests"] - row["timed"]
    entry.num_failures = sum(row["failures"].values())
    entry.total_response_time = row["sum_ms"]
    for ms, count in row["times"].items():
        entry.response_times[bucket(ms)] += count
    if row["times"]:
        entry.min_response_time, entry.max_response_time = min(row["times"]), max(row["times"])
    entry.num_reqs_per_sec.update(row["by_s"])
    entry.num_fail_per_sec.update(row["failed_by_s"])
    return entry
