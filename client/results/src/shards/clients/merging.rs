//! Merging of client shards by summation. All shards used the same server, and their attempts waited in the same queue. Only sums over
//! shards are exact, because another division of the clients would be another random sample. Values that cannot be summed become null. Such
//! values are the extremes of summed windows, and all judgements that each shard's program made alone.

use std::collections::BTreeMap;

use loadgen_core::{
    AdviceFigures, AttemptCounts, Conservation, FailureResult, GivenUpCounts, Latencies, LatencySums,
    StatusCount, fairness_of, histogram,
};
use vocabulary::Instant;
use vocabulary::wire::{ServerStats, ShardRow};

use super::consistency::{ClientShardError, Part, together};
use super::latency_record::{LatencyRecord, read_attempts_per_op};
use super::record::{ClientShardRecord, ClientsKind, MergedClients};
use crate::document::run::{AttemptsResult, GeneratorResult, OpsResult, RunResult, SeriesPoint};
use crate::health::is_about_machine;

/// Merges the results of a run's shards. Each result comes with the name of its file. The order of the results does not matter. Missing
/// shards are listed in the merged result.
///
/// # Errors
/// Fails if a shard is given twice, is invalid or belongs to another run. Also fails if the server's counts differ from the sum of the
/// shards' counts.
pub fn merged_clients(shards: Vec<(String, RunResult)>) -> Result<RunResult, ClientShardError> {
    let (parts, missing) = together(shards)?;
    let of = parts.first().map_or(0, |part| part.shard.of);
    let mut warnings = Vec::new();
    for Part { run, shard, .. } in &parts {
        warnings.extend(run.warnings.iter().map(|warning| format!("shard {}: {warning}", shard.index)));
    }
    let mut ledger = ledger(&parts, &mut warnings);
    if let Some(ledger) = ledger {
        conserved(&parts, missing.is_empty(), ledger, &mut warnings)?;
    }
    let rows = ledger.map(|ledger| rows(&parts, ledger)).unwrap_or_default();
    if !missing.is_empty() {
        // The server's counts are dropped, because they include attempts of the missing shards.
        ledger = None;
    }
    let sums = Sums::new(&parts)?;
    warnings.sort_by_key(|warning| is_about_machine(warning));
    let Some(Part { run: first, .. }) = parts.first() else { return Err(ClientShardError::None) };
    let merged = MergedClients {
        kind: Some(ClientsKind::Clients),
        of,
        run: parts[0].shard.run.clone(),
        late_ms: parts.iter().map(|part| part.shard.start.late_ms).reduce(f64::max),
        rows,
        missing,
    };
    Ok(whole(first.clone(), &parts, sums, ledger, merged, warnings))
}

/// Returns the server's counts as read by the shard that ended last. Returns `None` if the shards used different mockservers. Also returns
/// `None` if a shard sent attempts but has no counts of the server, because this shard may have ended last.
fn ledger<'a>(parts: &'a [Part], warnings: &mut Vec<String>) -> Option<&'a ServerStats> {
    let mut ledgers = parts.iter().filter_map(|part| part.shard.ledger.as_ref());
    let first = ledgers.next()?;
    let knows_not = |part: &&Part| part.shard.ledger.is_none() && part.run.attempts.total > 0;
    if let Some(Part { shard, .. }) = parts.iter().find(knows_not) {
        warnings
            .push(format!("shard {} lacks the server's counts, so these counts are not merged", shard.index));
        return None;
    }
    let mut latest = first;
    for other in ledgers {
        if (other.instance, other.epoch) != (first.instance, first.epoch) {
            warnings.push(
                "the shards used different mockservers, or one that was reset, so the server's counts are not merged"
                    .to_owned(),
            );
            return None;
        }
        if other.uptime_s > latest.uptime_s {
            latest = other;
        }
    }
    Some(latest)
}

fn rows(parts: &[Part], ledger: &ServerStats) -> Vec<ShardRow> {
    let is_there = |row: &&ShardRow| parts.iter().any(|part| part.shard.index == row.shard);
    ledger.shards.iter().filter(is_there).copied().collect()
}

fn conserved(
    parts: &[Part],
    all_there: bool,
    ledger: &ServerStats,
    warnings: &mut Vec<String>,
) -> Result<(), ClientShardError> {
    for Part { file, run, shard } in parts {
        let row = ledger.shards.iter().find(|row| row.shard == shard.index);
        let Some(row) = row.copied().or((run.attempts.total == 0).then(ShardRow::default)) else {
            warnings.push(format!(
                "the server has no counts for shard {}, so they were not compared",
                shard.index
            ));
            continue;
        };
        let found = Conservation::with_server(&run.attempts, shard.gateway_successes, 0, &row.counts());
        if let Some(mismatch) = found.into_iter().next() {
            return Err(ClientShardError::NotConserved { file: file.clone(), mismatch });
        }
    }
    if all_there {
        let gateway = parts.iter().map(|part| part.shard.gateway_successes).sum();
        let found = Conservation::with_server(&attempts(parts), gateway, 0, &ledger.counts);
        if let Some(mismatch) = found.into_iter().next() {
            return Err(ClientShardError::NotConserved { file: "all shards".to_owned(), mismatch });
        }
    }
    Ok(())
}

fn attempts(parts: &[Part]) -> AttemptCounts {
    let sum = |count: fn(&AttemptCounts) -> u64| parts.iter().map(|part| count(&part.run.attempts)).sum();
    AttemptCounts {
        total: sum(|attempts| attempts.total),
        succeeded: sum(|attempts| attempts.succeeded),
        rejected: sum(|attempts| attempts.rejected),
        failed: sum(|attempts| attempts.failed),
        cancelled: sum(|attempts| attempts.cancelled),
        shed: sum(|attempts| attempts.shed),
        by_gateway: sum(|attempts| attempts.by_gateway),
        duplicates: sum(|attempts| attempts.duplicates),
        after_final: sum(|attempts| attempts.after_final),
        unsent: sum(|attempts| attempts.unsent),
    }
}

#[derive(Default)]
struct Sums {
    op: Latencies,
    success: Latencies,
    rejection: Latencies,
    failure: Latencies,
    send_lag: Latencies,
    attempts_per_op: AttemptsResult,
    advice: AdviceFigures,
    fairness: Option<loadgen_core::FairnessFigures>,
    series: Vec<SeriesPoint>,
}

impl Sums {
    fn new(parts: &[Part]) -> Result<Self, ClientShardError> {
        let mut sums = Self::default();
        let mut per_op = histogram::empty();
        let (mut retries, mut early) = (0, LatencySums::default());
        let mut clients = Vec::new();
        for part in parts {
            let Part { shard, run, .. } = part;
            let broken = |what: &str| ClientShardError::Broken {
                file: part.file.clone(),
                what: format!("`shard.{what}` was not written by loadgen, or is inconsistent"),
            };
            let add = |all: &mut Latencies, record: &LatencyRecord, name| {
                all.merge(&record.read().ok_or_else(|| broken(name))?);
                Ok(())
            };
            add(&mut sums.op, &shard.op_latency, "op_latency")?;
            add(&mut sums.success, &shard.success_latency, "success_latency")?;
            add(&mut sums.rejection, &shard.rejection_latency, "rejection_latency")?;
            add(&mut sums.failure, &shard.failure_latency, "failure_latency")?;
            add(&mut sums.send_lag, &shard.send_lag, "send_lag")?;
            per_op +=
                read_attempts_per_op(&shard.attempts_per_op).ok_or_else(|| broken("attempts_per_op"))?;
            retries += shard.advised_retries;
            early.add(&shard.advice_broken_early.read().ok_or_else(|| broken("advice_broken_early"))?);
            if let Some(columns) = &shard.clients {
                let own = columns.read().ok_or_else(|| broken("clients"))?;
                let number = |place: u64| u64::from(shard.index) + place * u64::from(shard.of);
                clients.extend((0..).zip(own).map(|(place, client)| (number(place), client)));
            }
            let in_series: u64 = run.series.iter().map(|point| u64::from(point.sent)).sum();
            if in_series != run.attempts.total {
                return Err(ClientShardError::Broken {
                    file: part.file.clone(),
                    what: format!(
                        "its time series has {in_series} attempts, but {} were sent",
                        run.attempts.total
                    ),
                });
            }
        }
        let most = parts.iter().filter_map(|part| part.run.attempts_per_op.max).max();
        let known = |share| (!per_op.is_empty()).then(|| per_op.value_at_quantile(share));
        let at_most = |value: Option<u64>| Some(value?.min(most?));
        sums.attempts_per_op =
            AttemptsResult { p50: at_most(known(0.5)), p99: at_most(known(0.99)), max: most };
        sums.advice = AdviceFigures::new(retries, &early);
        clients.sort_unstable_by_key(|(number, _)| *number);
        let end = parts.iter().filter_map(|part| part.shard.last_end_ns).max().map(Instant::from_nanos);
        sums.fairness = parts
            .iter()
            .any(|part| part.shard.clients.is_some())
            .then(|| fairness_of(clients.into_iter(), end));
        sums.series = series(parts);
        Ok(sums)
    }
}

/// Sums the time series of all shards, bucket by bucket. The buckets of the sum have the coarsest width of all shards. After a shard has
/// ended, its gauges keep their last value.
fn series(parts: &[Part]) -> Vec<SeriesPoint> {
    let width = parts.iter().map(|part| part.shard.bucket_ns).max().unwrap_or(1);
    let buckets_of = |part: &Part| usize::try_from(width / part.shard.bucket_ns).unwrap_or(1).max(1);
    let length = parts.iter().map(|part| part.run.series.len().div_ceil(buckets_of(part))).max().unwrap_or(0);
    let point = |index: usize| {
        let mut sum = blank(index as f64 * width as f64 / 1e9);
        let mut caps: Vec<f64> = Vec::new();
        for part in parts {
            let series = &part.run.series;
            let each = buckets_of(part);
            let (start, end) = ((index * each).min(series.len()), ((index + 1) * each).min(series.len()));
            for own in &series[start..end] {
                sum.sent = sum.sent.saturating_add(own.sent);
                sum.succeeded = sum.succeeded.saturating_add(own.succeeded);
                sum.rejected = sum.rejected.saturating_add(own.rejected);
                sum.failed = sum.failed.saturating_add(own.failed);
            }
            let Some(last) = series[..end].last() else { continue };
            let add = |sum: &mut Option<f64>, own: Option<f64>| {
                if let Some(own) = own {
                    *sum = Some(sum.unwrap_or_default() + own);
                }
            };
            add(&mut sum.in_flight, last.in_flight);
            add(&mut sum.window, last.window);
            add(&mut sum.ssthresh, last.ssthresh);
            caps.extend(last.server_cap);
        }
        // All client shards of a run use the same server, so they should have recorded the same concurrency limit of the server. If the
        // recorded limits differ, the merged series has no limit at this point.
        sum.server_cap =
            caps.first().copied().filter(|cap| caps.iter().all(|other| other.total_cmp(cap).is_eq()));
        sum
    };
    (0..length).map(point).collect()
}

fn blank(t_s: f64) -> SeriesPoint {
    SeriesPoint {
        t_s,
        sent: 0,
        succeeded: 0,
        rejected: 0,
        failed: 0,
        in_flight: None,
        in_flight_max: None,
        window: None,
        window_min: None,
        window_max: None,
        ssthresh: None,
        server_busy: None,
        server_busy_max: None,
        server_cap: None,
        gauges: Vec::new(),
    }
}

fn whole(
    first: RunResult,
    parts: &[Part],
    sums: Sums,
    ledger: Option<&ServerStats>,
    merged: MergedClients,
    warnings: Vec<String>,
) -> RunResult {
    let runs = || parts.iter().map(|part| &part.run);
    let shards = || parts.iter().map(|part| &part.shard);
    let ops = |count: fn(&OpsResult) -> u64| runs().map(|run| count(&run.ops)).sum::<u64>();
    let ops = OpsResult {
        total: ops(|ops| ops.total),
        offered: runs().map(|run| run.ops.offered).sum(),
        succeeded: ops(|ops| ops.succeeded),
        given_up: ops(|ops| ops.given_up),
        unfinished: ops(|ops| ops.unfinished),
        deferred: ops(|ops| ops.deferred),
        failed_for_good: ops(|ops| ops.failed_for_good),
        failed: ops(|ops| ops.failed),
    };
    let attempts = attempts(parts);
    let is_whole = merged.missing.is_empty();
    let complete = is_whole && ops.all_succeeded();
    let end = |shard: &ClientShardRecord| {
        if ops.succeeded == ops.total { shard.last_success_ns } else { shard.last_end_ns }
    };
    let begin = shards().filter_map(|shard| shard.first_arrival_ns).min();
    let makespan_s =
        shards().filter_map(end).max().zip(begin).map(|(end, begin)| end.saturating_sub(begin) as f64 / 1e9);
    let per = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let given_up = |count: fn(&GivenUpCounts) -> u64| runs().map(|run| count(&run.given_up_after)).sum();
    let interrupted = runs().find_map(|run| run.interrupted.clone());
    let optimal = shards()
        .map(|shard| shard.whole_optimal_makespan_s)
        .reduce(|one, other| one.filter(|_| one == other));
    let mut attempt_latency = sums.success.clone();
    attempt_latency.merge(&sums.rejection);
    attempt_latency.merge(&sums.failure);
    let in_time = shards().map(|shard| shard.in_time).sum::<Option<u64>>();
    let sum_of = |count: fn(&GeneratorResult) -> Option<u64>| {
        runs().map(|run| count(&run.generator)).sum::<Option<u64>>()
    };
    let work_ms = ledger.and_then(|ledger| Some(ledger.served_ms? + ledger.wasted_ms));
    RunResult {
        config: crate::document::config::ConfigRecord { command_line: Vec::new(), ..first.config },
        amplification: per(attempts.total, ops.total),
        efficiency: per(ops.succeeded, attempts.total),
        attempts_per_success: per(attempts.total, ops.succeeded),
        makespan_s,
        makespan_complete: complete,
        optimal_makespan_s: optimal.flatten().filter(|_| is_whole && interrupted.is_none()),
        goodput_per_s: makespan_s.filter(|s| *s > 0.0).map(|s| ops.succeeded as f64 / s),
        failures: failures(runs()),
        statuses: statuses(runs()),
        given_up_after: GivenUpCounts {
            rejected: given_up(|why| why.rejected),
            failed: given_up(|why| why.failed),
            shed: given_up(|why| why.shed),
            deferred: given_up(|why| why.deferred),
            deadline: given_up(|why| why.deadline),
        },
        op_latency_ms: sums.op.figures(),
        op_latency_curve: sums.op.curve(),
        attempt_latency_ms: attempt_latency.figures(),
        attempt_latency_bars: attempt_latency.bars(),
        success_latency_ms: sums.success.figures(),
        rejection_latency_ms: sums.rejection.figures(),
        failure_latency_ms: sums.failure.figures(),
        attempts_per_op: sums.attempts_per_op,
        stalled_at_s: runs().filter_map(|run| run.stalled_at_s).reduce(f64::min),
        late_share: in_time.and_then(|in_time| ops.share(ops.share_base().saturating_sub(in_time))),
        done_share: ops.share(shards().map(|shard| shard.done_in_time).sum()),
        share_is_lower_bound: runs().any(|run| run.share_is_lower_bound),
        advice: sums.advice,
        window: loadgen_core::WindowFigures::default(),
        fairness: sums.fairness,
        wasted_server_s: ledger.map(|ledger| ledger.wasted_ms / 1e3),
        server_work_per_success_ms: work_ms
            .filter(|ms| ops.succeeded > 0 && *ms > 0.0)
            .map(|ms| ms / ops.succeeded as f64),
        server: ledger.map(|ledger| ledger.counts.clone()),
        generator: GeneratorResult {
            send_lag_ms: sums.send_lag.figures().into(),
            cpu_s: runs().map(|run| run.generator.cpu_s).sum(),
            connections: sum_of(|generator| generator.connections),
            resent: sum_of(|generator| generator.resent),
            waited_for_connection: sum_of(|generator| generator.waited_for_connection),
            ..GeneratorResult::default()
        },
        started_at: runs().filter_map(|run| run.started_at.clone()).min(),
        wall_s: runs().filter_map(|run| run.wall_s).reduce(f64::max),
        interrupted,
        warnings,
        series: sums.series,
        rate: None,
        shard: None,
        merged: Some(Box::new(merged)),
        at: None,
        ops,
        attempts,
        ..first
    }
}

fn statuses<'a>(runs: impl Iterator<Item = &'a RunResult>) -> Vec<StatusCount> {
    let mut all = BTreeMap::new();
    for StatusCount { status, attempts } in runs.flat_map(|run| &run.statuses) {
        *all.entry(*status).or_default() += attempts;
    }
    all.into_iter().map(|(status, attempts)| StatusCount { status, attempts }).collect()
}

fn failures<'a>(runs: impl Iterator<Item = &'a RunResult>) -> Vec<FailureResult> {
    let mut all: Vec<FailureResult> = Vec::new();
    for failure in runs.flat_map(|run| &run.failures) {
        match all.iter_mut().find(|there| (there.status, there.kind) == (failure.status, failure.kind)) {
            Some(there) => there.attempts += failure.attempts,
            None => all.push(*failure),
        }
    }
    all.sort_by_key(|failure| {
        (std::cmp::Reverse(failure.attempts), failure.status.is_none(), failure.status, failure.kind)
    });
    all
}

#[cfg(test)]
mod tests;
