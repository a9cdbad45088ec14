//! List of all numbers of a result, in the order of the result's keys. A new number needs a row in this list and a field in the result.

use super::figure::Figure;

/// Ratio of the makespan to its lower bound; the best possible value is 1. It is a figure of comparisons, not of a single result. Its name
/// in files contains `optimum`, because the name was chosen before the bound was proven.
pub const MAKESPAN_OVER_BOUND: &str = "makespan_over_optimum";

macro_rules! count {
    ($($field:ident).+) => {
        Figure::count(path!($($field).+), |run| Some(run.$($field).+ as f64))
    };
}

/// Defines the figure of a count that a run may lack. With the keyword `in`, a run may lack the whole outer field that contains the count.
macro_rules! known_count {
    (in $outer:ident: $($field:ident).+) => {
        Figure::count(path!($outer.$($field).+), |run| run.$outer?.$($field).+.map(|count| count as f64))
    };
    ($($field:ident).+) => {
        Figure::count(path!($($field).+), |run| run.$($field).+.map(|count| count as f64))
    };
}

macro_rules! measure {
    ($unit:literal, $($field:ident).+) => {
        Figure::measure(path!($($field).+), $unit, |run| run.$($field).+)
    };
}

macro_rules! path {
    ($first:ident $(. $rest:ident)*) => { concat!(stringify!($first) $(, ".", stringify!($rest))*) };
}

macro_rules! server {
    ($field:ident) => {
        Figure::count(concat!("server.", stringify!($field)), |run| Some(run.server.as_ref()?.$field as f64))
    };
}

pub static FIGURES: &[Figure] = &[
    Figure::count("schema_version", |run| Some(f64::from(u32::from(run.schema_version)))),
    count!(seed),
    count!(ops.total),
    known_count!(ops.offered),
    count!(ops.succeeded).more().summed(),
    count!(ops.given_up).less().summed(),
    count!(ops.unfinished).less().summed(),
    count!(ops.deferred),
    count!(ops.failed_for_good).less(),
    count!(ops.failed).less(),
    count!(attempts.total).named("attempts").less().summed().ranked(
        "attempts",
        "Attempts sent",
        "number of attempts",
    ),
    count!(attempts.succeeded),
    count!(attempts.rejected).less().summed(),
    count!(attempts.failed).less().summed(),
    count!(attempts.cancelled),
    count!(attempts.shed),
    count!(attempts.by_gateway),
    count!(attempts.duplicates).less(),
    count!(attempts.after_final).less(),
    count!(attempts.unsent).less(),
    measure!("", amplification).less().summed(),
    measure!("", efficiency).more().summed(),
    // Results of older versions lack the figure `attempts_per_success`. For such results, it is computed from counts that they contain.
    Figure::measure("attempts_per_success", "", |run| {
        let per_success = || run.attempts.total as f64 / run.ops.succeeded as f64;
        run.attempts_per_success.or_else(|| (run.ops.succeeded > 0).then(per_success))
    })
    .named("attempts per success")
    .less()
    .summed()
    .ranked("per-success", "Attempts sent per op that succeeded", "attempts per success")
    .headed("per succ."),
    measure!("s", makespan_s).named("makespan").less().of_complete().summed().ranked(
        "makespan",
        "Time from the first arrival to the last success",
        "makespan",
    ),
    Figure::truth("makespan_complete", |run| Some(f64::from(u8::from(run.makespan_complete)))).more(),
    measure!("s", optimal_makespan_s).summed(),
    measure!("/s", goodput_per_s).more().of_complete().summed(),
    measure!("", load_factor),
    count!(given_up_after.rejected),
    count!(given_up_after.failed),
    count!(given_up_after.shed),
    count!(given_up_after.deferred),
    count!(given_up_after.deadline),
    count!(op_latency_ms.count),
    measure!("ms", op_latency_ms.min).less().of_complete(),
    measure!("ms", op_latency_ms.mean).named("mean op latency").less().of_complete().summed().ranked(
        "mean",
        "Mean op latency",
        "mean op latency",
    ),
    measure!("ms", op_latency_ms.stdev).of_complete(),
    measure!("ms", op_latency_ms.p50).named("p50 op latency").less().of_complete().summed().ranked(
        "p50",
        "Median op latency",
        "median op latency",
    ),
    measure!("ms", op_latency_ms.p75).less().of_complete().summed(),
    measure!("ms", op_latency_ms.p90).less().of_complete(),
    measure!("ms", op_latency_ms.p95).named("p95 op latency").less().of_complete().summed().ranked(
        "p95",
        "95th percentile of op latency",
        "95th percentile of op latency",
    ),
    measure!("ms", op_latency_ms.p99).named("p99 op latency").less().of_complete().summed().ranked(
        "p99",
        "99th percentile of op latency",
        "99th percentile of op latency",
    ),
    measure!("ms", op_latency_ms.p999).less().of_complete(),
    measure!("ms", op_latency_ms.max).named("longest op latency").less().of_complete().summed().ranked(
        "max",
        "Longest op latency",
        "longest op latency",
    ),
    count!(attempt_latency_ms.count),
    measure!("ms", attempt_latency_ms.min),
    measure!("ms", attempt_latency_ms.mean),
    measure!("ms", attempt_latency_ms.stdev),
    measure!("ms", attempt_latency_ms.p50),
    measure!("ms", attempt_latency_ms.p75),
    measure!("ms", attempt_latency_ms.p90),
    measure!("ms", attempt_latency_ms.p95),
    measure!("ms", attempt_latency_ms.p99),
    measure!("ms", attempt_latency_ms.p999),
    measure!("ms", attempt_latency_ms.max),
    count!(success_latency_ms.count),
    measure!("ms", success_latency_ms.min),
    measure!("ms", success_latency_ms.mean),
    measure!("ms", success_latency_ms.stdev),
    measure!("ms", success_latency_ms.p50),
    measure!("ms", success_latency_ms.p75),
    measure!("ms", success_latency_ms.p90),
    measure!("ms", success_latency_ms.p95),
    measure!("ms", success_latency_ms.p99),
    measure!("ms", success_latency_ms.p999),
    measure!("ms", success_latency_ms.max),
    count!(rejection_latency_ms.count),
    measure!("ms", rejection_latency_ms.min),
    measure!("ms", rejection_latency_ms.mean),
    measure!("ms", rejection_latency_ms.stdev),
    measure!("ms", rejection_latency_ms.p50),
    measure!("ms", rejection_latency_ms.p75),
    measure!("ms", rejection_latency_ms.p90),
    measure!("ms", rejection_latency_ms.p95),
    measure!("ms", rejection_latency_ms.p99),
    measure!("ms", rejection_latency_ms.p999),
    measure!("ms", rejection_latency_ms.max),
    count!(failure_latency_ms.count),
    measure!("ms", failure_latency_ms.min),
    measure!("ms", failure_latency_ms.mean),
    measure!("ms", failure_latency_ms.stdev),
    measure!("ms", failure_latency_ms.p50),
    measure!("ms", failure_latency_ms.p75),
    measure!("ms", failure_latency_ms.p90),
    measure!("ms", failure_latency_ms.p95),
    measure!("ms", failure_latency_ms.p99),
    measure!("ms", failure_latency_ms.p999),
    measure!("ms", failure_latency_ms.max),
    known_count!(attempts_per_op.p50).less(),
    known_count!(attempts_per_op.p99).less(),
    known_count!(attempts_per_op.max).less(),
    measure!("s", stalled_at_s),
    measure!("", late_share).less().summed(),
    Figure::measure("done_share", "", |run| {
        let says_no_limit = run.config.within.is_none() && run.config.deadline.is_none();
        run.done_share.or_else(|| run.ops.share(run.ops.succeeded).filter(|_| says_no_limit))
    })
    .named("share of ops done")
    .more()
    .summed(),
    Figure::truth("share_is_lower_bound", |run| Some(f64::from(u8::from(run.share_is_lower_bound)))),
    count!(advice.retries),
    count!(advice.broken).less().summed(),
    measure!("ms", advice.early_ms.mean).less(),
    measure!("ms", advice.early_ms.max).less(),
    count!(advice.early_shared).less().summed(),
    measure!("s", window.convergence_s).less().summed(),
    measure!("", window.overshoot).less().summed(),
    count!(window.rejected_before_convergence).less().summed(),
    measure!("", window.mean).summed(),
    measure!("", window.sd),
    measure!("", window.variation).less().summed(),
    known_count!(window.cuts),
    measure!("/min", window.cuts_per_min).summed(),
    Figure::count("fairness.clients", |run| Some(run.fairness?.clients as f64)),
    Figure::measure("fairness.jain", "", |run| run.fairness?.jain).more().summed(),
    Figure::measure("fairness.jain_whole_run", "", |run| run.fairness?.jain_whole_run).more().summed(),
    known_count!(in fairness: slowest_client),
    Figure::measure("fairness.slowest_mean_ms", "ms", |run| run.fairness?.slowest_mean_ms).less().summed(),
    Figure::measure("fairness.slowest_over_median", "", |run| run.fairness?.slowest_over_median)
        .less()
        .summed(),
    measure!("s", wasted_server_s).less().summed(),
    measure!("ms", server_work_per_success_ms)
        .named("server work per success")
        .less()
        .summed()
        .ranked(
            "server-work",
            "Server slot time per op that succeeded, including rejections and abandoned attempts",
            "server work per success",
        )
        .headed("work ms"),
    server!(received),
    server!(reads),
    server!(reads_rejected),
    server!(accepted),
    server!(rejected),
    server!(failed),
    server!(max_busy_seen),
    server!(max_accepted_seen),
    server!(crashes),
    measure!("ms", generator.send_lag_ms.p50),
    measure!("ms", generator.send_lag_ms.p99),
    measure!("ms", generator.send_lag_ms.max),
    measure!("ms", generator.excess_ms.mean),
    measure!("ms", generator.excess_ms.p50),
    measure!("ms", generator.excess_ms.p99),
    measure!("", generator.excess_ms.of_service),
    measure!("s", generator.cpu_s),
    known_count!(generator.peak_rss_bytes),
    known_count!(generator.connections),
    measure!("ms", generator.connect_ms.p50),
    measure!("ms", generator.connect_ms.p99),
    measure!("ms", generator.connect_ms.max),
    known_count!(generator.resent),
    known_count!(generator.waited_for_connection),
    measure!("ms", generator.connection_wait_ms.p50),
    measure!("ms", generator.connection_wait_ms.p99),
    measure!("ms", generator.connection_wait_ms.max),
    measure!("s", wall_s),
    Figure::measure("rate.law_per_s", "/s", |run| run.rate?.law_per_s),
    Figure::measure("rate.convergence_s", "s", |run| run.rate?.convergence_s).less().summed(),
    Figure::count("rate.overshoot", |run| Some(run.rate?.overshoot as f64)).less().summed(),
    Figure::count("rate.rejected_before_convergence", |run| {
        Some(run.rate?.rejected_before_convergence as f64)
    })
    .less()
    .summed(),
];

impl Figure {
    pub fn find(path: &str) -> Option<&'static Self> {
        FIGURES.iter().find(|figure| figure.path == path)
    }
}
