//! Shards of runs against a server made of arithmetic: the merged result equals what all of them measured together.

use std::time::Duration;

use loadgen_core::{
    ArrivalProcess, ClientShard, Completion, Input, Latencies, Output, Run, RunConfig, SERIES_POINTS,
    Workload,
};
use proptest::prelude::*;
use tailback::{Outcome, Status, StrategySpec};
use vocabulary::Instant;
use vocabulary::wire::{ServerCounts, ServerStats, ShardRow};

use super::*;
use crate::document::config::{ConfigRecord, WorkloadRecord};
use crate::document::run::{Mode, ResultContext};
use crate::shards::clients::{ShardContext, StartRecord, StartedBy};

/// Runs one shard. Every attempt is answered after 1 + `slow` × (number of its op mod 50) ms, and about every seventh is rejected.
fn driven(shard: ClientShard, clients: u32, ops: u64, slow: u64) -> Run {
    let spec: StrategySpec = "constant:delay=10ms,max-attempts=3".parse().unwrap();
    let workload =
        Workload { arrivals: ArrivalProcess::Uniform { rate_per_s: 200.0 }, ops: Some(ops), duration: None };
    let config = RunConfig {
        workload,
        clients,
        shard,
        deadline: Some(Duration::from_secs(2)),
        ..RunConfig::default()
    };
    let mut run = Run::new(config, |_| spec.build(1, None), None).unwrap();
    let mut flying: Vec<(Instant, Completion)> = Vec::new();
    let mut now = Instant::ORIGIN;
    loop {
        let wait = match run.poll_output(now) {
            Output::Send(sent) => {
                let takes = Duration::from_millis(1 + slow * (sent.op % 50));
                let rejected = (sent.op + u64::from(sent.ordinal)).is_multiple_of(7);
                let status = if rejected { Status::Rejected } else { Status::Succeeded };
                let completion = Completion {
                    attempt: sent.attempt,
                    sent_at: sent.due,
                    outcome: Outcome::plain(status),
                    server: None,
                    advised_wait: None,
                    cause: None,
                    by_gateway: false,
                };
                flying.push((sent.due + takes, completion));
                continue;
            }
            Output::Cancel(key) => {
                flying.retain(|(_, completion)| completion.attempt != key);
                continue;
            }
            Output::WaitUntil(at) => Some(at),
            Output::Idle => None,
            Output::Done => return run,
        };
        flying.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        match flying.last().map(|(at, _)| *at) {
            Some(at) if wait.is_none_or(|wait| at <= wait) => {
                let (at, completion) = flying.pop().unwrap();
                now = now.max(at);
                run.handle_input(now, Input::AttemptEnd(completion));
            }
            _ => now = now.max(wait.unwrap()),
        }
    }
}

fn row(run: &Run, shard: u32) -> ShardRow {
    let attempts = run.measurements().attempts;
    ShardRow {
        shard,
        received: attempts.total,
        accepted: attempts.succeeded,
        rejected: attempts.rejected,
        ..ShardRow::default()
    }
}

fn ledger(runs: &[Run], last: usize) -> ServerStats {
    let shards: Vec<ShardRow> = (0..).zip(&runs[..=last]).map(|(shard, run)| row(run, shard)).collect();
    let sum = |count: fn(&ShardRow) -> u64| shards.iter().map(count).sum();
    let counts = ServerCounts {
        received: sum(|row| row.received),
        accepted: sum(|row| row.accepted),
        rejected: sum(|row| row.rejected),
        max_busy_seen: 50,
        ..ServerCounts::default()
    };
    ServerStats { counts, uptime_s: last as f64, shards, served_ms: Some(7.0), ..ServerStats::default() }
}

type Files = Vec<(String, RunResult)>;

fn documents(runs: &[Run]) -> Files {
    let spec: StrategySpec = "constant:delay=10ms,max-attempts=3".parse().unwrap();
    let of = u32::try_from(runs.len()).unwrap();
    let document = |(index, run): (usize, &Run)| {
        let shard = ClientShard::new(u32::try_from(index).unwrap(), of).unwrap();
        let workload = WorkloadRecord { clients: 12, ..WorkloadRecord::default() };
        let command_line = vec![format!("--client-shard={shard}")];
        let context = ResultContext {
            load: None,
            mode: Mode::Http,
            config: ConfigRecord {
                version: "1".to_owned(),
                command_line,
                workload,
                ..ConfigRecord::default()
            },
            seed: 1,
            server: None,
            generator: GeneratorResult { connections: Some(3), ..GeneratorResult::default() },
            started_at: Some(format!("2026-11-23T00:00:0{index}Z")),
            wall_s: Some(index as f64),
            interrupted: None,
            warnings: Vec::new(),
            series_points: SERIES_POINTS,
        };
        let mut result = RunResult::new(&spec, run, context);
        let start = StartRecord { by: StartedBy::Barrier, at_unix_ms: None, late_ms: index as f64 };
        let record = ClientShardRecord::new(
            run,
            ShardContext {
                shard,
                run: 0xabc,
                start,
                whole_optimal_makespan_s: Some(0.5),
                ledger: Some(ledger(runs, index)),
            },
        );
        result.shard = Some(Box::new(record));
        // Through its text, as merging reads it.
        let text = serde_json::to_string(&result).unwrap();
        (format!("{index}.json"), crate::document::reading::read(&text).unwrap())
    };
    runs.iter().enumerate().map(document).collect()
}

fn shards(of: u32, ops: u64, slow: &[u64]) -> Vec<Run> {
    let each =
        |index: u32| driven(ClientShard::new(index, of).unwrap(), 12, ops, slow[index as usize % slow.len()]);
    (0..of).map(each).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn merging_shards_in_any_order_equals_measuring_together(
        of in 1..6_u32,
        ops in 0..300_u64,
        // At 300 a run takes longer than 600 buckets of 10 ms, so its buckets are wider than those of other shards.
        slow in prop::collection::vec(prop_oneof![0..5_u64, Just(300)], 1..4),
        order in any::<prop::sample::Index>(),
    ) {
        let runs = shards(of, ops, &slow);
        let mut files = documents(&runs);
        let merged = merged_clients(files.clone()).unwrap();
        let turn = order.index(files.len());
        files.rotate_left(turn);
        files.reverse();
        let again = merged_clients(files).unwrap();
        prop_assert_eq!(serde_json::to_string(&again).unwrap(), serde_json::to_string(&merged).unwrap());

        let sum = |count: fn(&Run) -> u64| runs.iter().map(count).sum::<u64>();
        prop_assert_eq!(merged.ops.total, ops);
        prop_assert_eq!(merged.ops.succeeded, sum(|run| run.measurements().ops.succeeded));
        prop_assert_eq!(merged.ops.given_up, sum(|run| run.measurements().ops.given_up));
        prop_assert_eq!(merged.attempts.total, sum(|run| run.measurements().attempts.total));
        prop_assert_eq!(merged.server.as_ref().unwrap().received, merged.attempts.total);
        prop_assert_eq!(merged.merged.as_ref().unwrap().rows.len(), runs.len());
        let together = |kind: fn(&Run) -> &Latencies| {
            let mut all = Latencies::default();
            for run in &runs {
                all.merge(kind(run));
            }
            all.figures()
        };
        prop_assert_eq!(merged.op_latency_ms, together(|run| &run.measurements().op_latency));
        prop_assert_eq!(merged.rejection_latency_ms, together(|run| &run.measurements().rejection_latency));
        let in_series = |count: fn(&SeriesPoint) -> u32| merged.series.iter().map(|point| u64::from(count(point))).sum::<u64>();
        prop_assert_eq!(in_series(|point| point.sent), merged.attempts.total);
        prop_assert_eq!(in_series(|point| point.rejected), merged.attempts.rejected);
        prop_assert!(merged.series.len() <= SERIES_POINTS);
        prop_assert_eq!(merged.series.last().map(|point| point.in_flight), (ops > 0).then_some(Some(0.0)));
    }
}

/// The responses of this run do not depend on its division into shards. Fairness by window is not merged.
#[test]
fn merged_shards_equal_the_undivided_run() {
    let whole = driven(ClientShard::WHOLE, 12, 240, 20);
    let [(_, alone)] = &documents(std::slice::from_ref(&whole))[..] else { panic!("one") };
    let merged = merged_clients(documents(&shards(4, 240, &[20]))).unwrap();
    // Through its text, like the document of the undivided run, so that numbers are rounded alike.
    let merged: RunResult = crate::document::reading::read(&serde_json::to_string(&merged).unwrap()).unwrap();
    let figures = |run: &RunResult| {
        let RunResult { ops, attempts, makespan_s, op_latency_ms, attempts_per_op, given_up_after, .. } = run;
        let fairness = run.fairness.map(|fairness| (fairness.jain_whole_run, fairness.slowest_client));
        let rates = [run.amplification, run.goodput_per_s, run.late_share, run.done_share];
        // The undivided run records latencies in the same buckets, so they are equal.
        (*ops, *attempts, *makespan_s, *op_latency_ms, *attempts_per_op, *given_up_after, fairness, rates)
    };
    assert_eq!(figures(&merged), figures(alone));
    assert_eq!(merged.fairness.unwrap().jain, None, "windows do not add up");
    assert_eq!(
        merged.series.iter().map(|point| point.sent).collect::<Vec<_>>(),
        alone.series.iter().map(|point| point.sent).collect::<Vec<_>>()
    );
    assert_eq!((merged.optimal_makespan_s, merged.generator.connections), (Some(0.5), Some(12)));
    assert_eq!((merged.wall_s, merged.started_at.as_deref()), (Some(3.0), Some("2026-11-23T00:00:00Z")));
    assert!(merged.config.command_line.is_empty() && merged.shard.is_none());
    assert_eq!(merged.merged.unwrap().late_ms, Some(3.0));
}

#[test]
fn shards_that_do_not_belong_together_are_named_with_the_reason() {
    let runs = shards(3, 60, &[1]);
    let all = documents(&runs);
    let refused = |change: &dyn Fn(&mut Files)| {
        let mut files = all.clone();
        change(&mut files);
        merged_clients(files).unwrap_err().to_string()
    };
    let other = |change: fn(&mut RunResult)| refused(&|files| change(&mut files[1].1));
    for (advised_wait, words) in [
        (refused(&|files| files.clear()), "no shard is given"),
        (
            refused(&|files| files[2] = (files[2].0.clone(), files[0].1.clone())),
            "`2.json` and `0.json` are both shard 0 of 3; give each once",
        ),
        (
            other(|run| run.shard = None),
            "`1.json` is not a client shard of a run; one is written with `--client-shard 0/4 --json FILE`",
        ),
        (
            other(|run| run.seed = 9),
            "`1.json` and `0.json` are shards of different runs: its seed is `9` in the first and `1` in the second",
        ),
        (
            other(|run| run.config.version = "2".to_owned()),
            "`1.json` and `0.json` are shards of different runs: its version is `2` in the first and `1` in the second",
        ),
        (
            other(|run| run.strategy = "none".to_owned()),
            "`1.json` and `0.json` are shards of different runs: its strategy is `none` in the first and `constant:delay=10ms,max-attempts=3` in the second",
        ),
        (
            other(|run| run.config.workload.ops = Some(5)),
            "`1.json` and `0.json` are shards of different runs: workload.ops is 5, there null",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().run = "7".to_owned()),
            "`1.json` and `0.json` are shards of different runs: its run id is `7` in the first and `0000000000000abc` in the second",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().of = 4),
            "`1.json` and `0.json` are shards of different runs: the number of shards is `4` in the first and `3` in the second",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().index = 3),
            "`1.json` cannot be merged: `shard`: there is no shard 3 of 3: shards are numbered from 0 to 2",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().op_latency.histogram = "?".to_owned()),
            "`1.json` cannot be merged: `shard.op_latency` was not written by loadgen, or is inconsistent",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().op_latency.sums.min_ns = None),
            "`1.json` cannot be merged: `shard.op_latency` was not written by loadgen, or is inconsistent",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().send_lag.sums.count = u64::MAX),
            "`1.json` cannot be merged: `shard`: 18446744073709551615 is larger than any possible count",
        ),
        (
            other(|run| run.series.clear()),
            "`1.json` cannot be merged: its time series has 0 attempts, but 23 were sent",
        ),
        (
            other(|run| run.attempts.total = u64::MAX),
            "`1.json` cannot be merged: `attempts`: 18446744073709551615 is larger than any possible count",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().of = u32::MAX),
            "`1.json` cannot be merged: `shard`: the number of shards is 4294967295; it must be from 1 to 1024",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().advised_retries = u64::MAX),
            "`1.json` cannot be merged: `shard`: 18446744073709551615 is larger than any possible count",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().ledger.as_mut().unwrap().shards[0].accepted = 1 << 54),
            "`1.json` cannot be merged: `shard.ledger`: 18014398509481984 is larger than any possible count",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().bucket_ns = 30_000_000),
            "`1.json` cannot be merged: `shard.bucket_ns` is 30000000, which is not a valid bucket width",
        ),
        (
            other(|run| run.shard.as_mut().unwrap().start.at_unix_ms = Some(7)),
            "`1.json` and `0.json` are shards of different runs: its common start is `7 ms after 1970 began` in the first and `a barrier's` in the second",
        ),
    ] {
        assert_eq!(advised_wait, words);
    }
}

#[test]
fn a_lost_shard_can_be_left_out_and_is_named() {
    let mut files = documents(&shards(3, 60, &[1]));
    files.remove(1);
    let merged = merged_clients(files).unwrap();
    assert_eq!((merged.ops.total, merged.makespan_complete, merged.optimal_makespan_s), (40, false, None));
    let server = (&merged.server, merged.wasted_server_s, merged.server_work_per_success_ms);
    assert_eq!(server, (&None, None, None), "it counted the lost one's, too");
    let advised_wait = merged.merged.unwrap();
    assert_eq!((advised_wait.of, advised_wait.missing), (3, vec![1]));
    assert_eq!(advised_wait.rows.iter().map(|row| row.shard).collect::<Vec<_>>(), [0, 2]);
}

/// The last shard may lack the counts of the server. If all shards lack them, because there is no mockserver, there is no warning.
#[test]
fn a_missing_ledger_is_a_warning_and_no_mismatch() {
    let mut files = documents(&shards(3, 60, &[1]));
    files[2].1.shard.as_mut().unwrap().ledger = None;
    let merged = merged_clients(files.clone()).unwrap();
    assert!(merged.server.is_none() && merged.merged.unwrap().rows.is_empty());
    let advised_wait = "shard 2 lacks the server's counts, so these counts are not merged";
    assert_eq!(merged.warnings, [advised_wait]);
    // Without a mockserver no shard has counts, so there is nothing to warn about.
    for (_, run) in &mut files {
        run.shard.as_mut().unwrap().ledger = None;
    }
    assert!(merged_clients(files).unwrap().warnings.is_empty());
}

#[test]
fn a_server_that_counted_something_else_is_found_shard_by_shard() {
    let mut files = documents(&shards(3, 60, &[1]));
    let row = |files: &mut Files, shard: usize| {
        let latest = files[2].1.shard.as_mut().unwrap().ledger.as_mut().unwrap();
        latest.shards[shard].received += 1;
        latest.shards[shard].accepted += 1;
    };
    row(&mut files, 1);
    let error = merged_clients(files).unwrap_err();
    assert!(matches!(&error, ClientShardError::NotConserved { file, .. } if file == "1.json"), "{error}");
    assert!(error.to_string().starts_with("`1.json`: ACCOUNTING MISMATCH: the client sent 2"), "{error}");
}
