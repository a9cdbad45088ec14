//! Scores: where they stand in a result, and the words for a difference.

use results::RunResult;

use crate::args::Score;

impl Score {
    /// Its place in the result of a run.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Makespan => "makespan_s",
            Self::Attempts => "attempts.total",
            Self::Mean => "op_latency_ms.mean",
            Self::P50 => "op_latency_ms.p50",
            Self::P95 => "op_latency_ms.p95",
            Self::P99 => "op_latency_ms.p99",
            Self::Max => "op_latency_ms.max",
        }
    }

    /// Its unit, with a space before it.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Makespan => " s",
            Self::Attempts => "",
            _ => " ms",
        }
    }

    /// What it is called in a sentence.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Makespan => "makespan",
            Self::Attempts => "attempts",
            Self::Mean => "mean op latency",
            Self::P50 => "p50 op latency",
            Self::P95 => "p95 op latency",
            Self::P99 => "p99 op latency",
            Self::Max => "longest op latency",
        }
    }

    /// Its value in one run, if the run has one.
    pub(crate) fn of(self, run: &RunResult) -> Option<f64> {
        match self {
            Self::Makespan => run.makespan_s,
            Self::Attempts => Some(run.attempts.total as f64),
            Self::Mean => run.op_latency_ms.mean,
            Self::P50 => run.op_latency_ms.p50,
            Self::P95 => run.op_latency_ms.p95,
            Self::P99 => run.op_latency_ms.p99,
            Self::Max => run.op_latency_ms.max,
        }
    }

    /// The figure that must be looked at beside this one: who is fast may pay for it with attempts.
    pub(crate) fn companion(self) -> Self {
        if self == Self::Attempts { Self::Makespan } else { Self::Attempts }
    }

    /// That the first has so many times less of it than the second.
    pub(crate) fn says_less(self, first: &str, times: &str, second: &str) -> String {
        match self {
            Self::Makespan => format!("{first} finishes {times}× sooner than {second}"),
            Self::Attempts => format!("{first} needs {times}× fewer attempts than {second}"),
            latency => format!("{first}'s {} is {times}× shorter than {second}'s", latency.name()),
        }
    }

    /// That the first has so many times more of it than the second.
    pub(crate) fn says_more(self, first: &str, times: &str, second: &str) -> String {
        match self {
            Self::Makespan => format!("{first} finishes {times}× later than {second}"),
            Self::Attempts => format!("{first} needs {times}× as many attempts as {second}"),
            latency => format!("{first}'s {} is {times}× longer than {second}'s", latency.name()),
        }
    }
}
