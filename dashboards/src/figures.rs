//! Figures of a run, computed from a snapshot of its measurements and independent of the place where they are drawn.

mod scale;
mod timeline;

use std::time::Duration;

use loadgen_core::{Latencies, Snapshot};
use results::{Bottleneck, GeneratorLoad, advised_waits};

use crate::{Frame, Lanes, text};

pub(crate) use scale::{Scale, nice_ceiling, nice_span, nice_step};
pub(crate) use timeline::{Counter, Timeline};

/// Cost of a run's work: attempts per op, and the share of attempts that was wasted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AttemptStats {
    pub(crate) attempts: u64,
    /// Number of ended attempts per ended op; NaN before the first op ended.
    pub(crate) per_op: f64,
    /// Share of ended attempts that succeeded, 0 to 1; NaN before the first attempt ended.
    pub(crate) efficiency: f64,
}

impl AttemptStats {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let attempts = snapshot.attempts;
        let ended = attempts.succeeded + attempts.rejected + attempts.failed + attempts.cancelled;
        Self {
            attempts: attempts.total,
            per_op: ratio(ended, snapshot.ops.succeeded + snapshot.ops.given_up),
            efficiency: ratio(attempts.succeeded, ended),
        }
    }

    pub(crate) fn wasted(&self) -> f64 {
        1.0 - self.efficiency
    }

    pub(crate) fn per_op_text(&self) -> String {
        if self.per_op.is_nan() { "–".to_owned() } else { format!("{:.2}", self.per_op) }
    }
}

pub(crate) fn failures(snapshot: &Snapshot) -> Option<String> {
    let causes: Vec<String> = snapshot
        .failures
        .results()
        .iter()
        .map(|failure| format!("{} ×{}", failure.words(), text::count(failure.attempts)))
        .collect();
    (!causes.is_empty()).then(|| causes.join(", "))
}

/// Returns a warning if ops wait long because a server advised it.
pub(crate) fn advised(snapshot: &Snapshot) -> Option<String> {
    snapshot.advised_waits.as_ref().map(|(ops, last)| advised_waits(*ops, last))
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}

/// Health of the load generator: whether the generator, rather than the strategy or the server, is the bottleneck.
/// Dashboards and the summary of a run decide this by the same rule.
pub(crate) fn trouble(frame: &Frame, time_scale: f64) -> Option<String> {
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    let snapshot = &frame.snapshot;
    let load = GeneratorLoad {
        send_lag_ms: ms(GeneratorLoad::judged_lag(&snapshot.send_lag)),
        usual_attempt_ms: ms(snapshot.attempt_latency.quantile(0.5)),
        // A time scale of 0 means that the caller did not set a time scale, so 1 is used.
        time_scale: if time_scale > 0.0 { time_scale } else { 1.0 },
        cpu_share: Some(frame.generator.cpu_share),
        waited_for_connection: 0,
    };
    if let Some(bottleneck) = load.bottleneck() {
        let why = match bottleneck {
            Bottleneck::Late { late_ms, .. } => {
                format!("sends {} late at p99", text::duration(Duration::from_secs_f64(late_ms / 1e3)))
            }
            Bottleneck::Busy(share) => format!("cpu at {} of a core", text::whole_percent(share)),
        };
        return Some(format!("generator is the bottleneck: {why}"));
    }
    let distorted = snapshot.excess.intolerable()?;
    Some(format!("attempts too long by {} of the service time", text::whole_percent(distorted)))
}

/// Limits that the server puts on the load: a concurrency cap, and the rate limit closest to exhaustion. Limits have
/// the names of their policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CapLimit {
    /// Name of the limit: `cap` for the server's own concurrency cap, and otherwise the name of the policy. If the
    /// policy has a separate limit for each key, `/key` is appended to its name.
    pub(crate) name: String,
    pub(crate) busy: u64,
    pub(crate) cap: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RateLimit {
    pub(crate) name: String,
    pub(crate) per_s: f64,
    pub(crate) rate: String,
    pub(crate) remaining: u32,
    pub(crate) limit: u32,
}

impl CapLimit {
    pub(crate) fn new(frame: &Frame) -> Option<Self> {
        let snapshot = &frame.snapshot;
        if let Some(cap) = snapshot.server_cap {
            return Some(Self {
                name: "cap".to_owned(),
                busy: snapshot.server_busy.unwrap_or_default(),
                cap,
            });
        }
        let places = snapshot.limits.places()?;
        let policy = frame.policies.get(usize::from(places.stage));
        let name = policy.map_or_else(
            || "cap".to_owned(),
            |policy| if policy.is_keyed { format!("{}/key", policy.name) } else { policy.name.clone() },
        );
        Some(Self { name, busy: places.busy.into(), cap: places.cap.into() })
    }
}

impl RateLimit {
    pub(crate) fn new(frame: &Frame) -> Option<Self> {
        let advertised = frame.snapshot.limits.rate()?;
        let policy = frame.policies.get(usize::from(advertised.stage));
        Some(Self {
            name: policy.map_or_else(|| "limit".to_owned(), |policy| policy.name.clone()),
            per_s: advertised.per_s(),
            rate: words(advertised.limit, advertised.window),
            remaining: advertised.remaining,
            limit: advertised.limit,
        })
    }

    /// Formats the number of remaining requests, as in ` 37 left`. The width is constant, so that the text beside it
    /// does not move.
    pub(crate) fn left(&self) -> String {
        let width = text::short(self.limit.into()).len();
        format!("{:>width$} left", text::short(self.remaining.into()))
    }
}

/// Formats a rate as a number per unit of time. If the window of the limit is one second, minute, hour or day, this
/// length is the unit. Otherwise the unit is the shortest one that yields a number of at least about 1.
fn words(limit: u32, window: Duration) -> String {
    const UNITS: [(u64, &str); 4] = [(1, "s"), (60, "min"), (3600, "h"), (86_400, "day")];
    let per_s = f64::from(limit) / window.as_secs_f64().max(1e-9);
    let whole = UNITS.iter().find(|(seconds, _)| window == Duration::from_secs(*seconds));
    let large = || UNITS.iter().find(|(seconds, _)| per_s * *seconds as f64 >= 0.95).unwrap_or(&UNITS[3]);
    let (seconds, unit) = whole.unwrap_or_else(large);
    format!("{}/{unit}", text::short(per_s * *seconds as f64))
}

/// Fills the chart columns for which no limit is known. Columns before the first known limit get this first limit, even
/// if later limits differ. All other columns, including future ones, get the latest limit.
pub(crate) fn level(advertised: &[Option<f64>], latest: Option<f64>) -> Vec<Option<f64>> {
    let first_known = advertised.iter().position(Option::is_some).unwrap_or(0);
    let first = advertised.get(first_known).copied().flatten();
    let unknown = |column| if column < first_known { first } else { latest };
    advertised.iter().enumerate().map(|(column, advertised)| advertised.or_else(|| unknown(column))).collect()
}

/// Progress of a run. All times are in seconds of experiment time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    pub(crate) ended: u64,
    /// Number of ended ops that did not succeed. They are included in [`Self::ended`].
    pub(crate) given_up: u64,
    pub(crate) goal: Goal,
    /// Time since the arrival of the run's first op, in seconds of experiment time.
    pub(crate) elapsed_s: f64,
    /// Estimated time left; `None` if the run goes on until it is stopped. For a run with a fixed number of ops, the
    /// estimate is based on the last quarter of the run. It is `None` as long as no op ends. For a run that ends by
    /// time, it is the time until no more ops arrive.
    pub(crate) eta_s: Option<f64>,
    pub(crate) optimal_s: Option<f64>,
}

/// End of a run. A run with a number of ops and a duration ends with the one that is expected first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    Ops(u64),
    /// The run ends by time: ops arrive for this number of seconds. Afterwards, the ops that have arrived are
    /// completed.
    Seconds(f64),
    /// The run has no end of its own and goes on until it is stopped.
    Open,
}

impl Progress {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let ended = snapshot.ops.succeeded + snapshot.ops.given_up;
        let start = snapshot.first_arrival.unwrap_or(snapshot.now);
        let elapsed_s = snapshot.now.since(start).as_secs_f64();
        let ops = snapshot.planned_ops.filter(|ops| *ops > 0);
        let ops_left_s = ops.and_then(|ops| eta(snapshot, ops.saturating_sub(ended), elapsed_s));
        let arrivals = snapshot.planned_duration.filter(|_| ops.is_none_or(|ops| snapshot.ops.arrived < ops));
        let arrivals_left_s =
            arrivals.map(|arrivals| (arrivals.as_secs_f64() - snapshot.now.as_secs_f64()).max(0.0));
        let (goal, eta_s) = match (ops, arrivals) {
            (Some(ops), _)
                if arrivals_left_s.is_none_or(|left_s| ops_left_s.is_some_and(|ops_s| ops_s < left_s)) =>
            {
                (Goal::Ops(ops), ops_left_s)
            }
            (_, Some(arrivals)) => (Goal::Seconds(arrivals.as_secs_f64()), arrivals_left_s),
            _ => (Goal::Open, None),
        };
        let optimal_s = snapshot.optimal_makespan.map(|makespan| makespan.as_secs_f64());
        Self { ended, given_up: snapshot.ops.given_up, goal, elapsed_s, eta_s, optimal_s }
    }

    pub(crate) fn share(&self) -> Option<f64> {
        match self.goal {
            Goal::Ops(ops) => Some((self.ended as f64 / ops as f64).min(1.0)),
            Goal::Seconds(seconds) => Some((self.elapsed_s / seconds.max(1e-9)).min(1.0)),
            Goal::Open => None,
        }
    }

    /// Returns the share of the run's ops that ended without success, 0 to 1. [`Self::share`] includes these ops, too,
    /// although they are no progress. Always 0 for runs without a fixed number of ops.
    pub(crate) fn given_up_share(&self) -> f64 {
        match self.goal {
            Goal::Ops(ops) => (self.given_up as f64 / ops as f64).min(1.0),
            Goal::Seconds(_) | Goal::Open => 0.0,
        }
    }

    pub(crate) fn given_up_text(&self) -> Option<String> {
        (self.given_up > 0).then(|| format!("{} given up", text::count(self.given_up)))
    }

    /// Returns the number of ended ops, with the planned number of a run that ends after a number of ops.
    pub(crate) fn ops_text(&self) -> String {
        let ended = text::count(self.ended);
        match self.goal {
            Goal::Ops(ops) => format!("{ended}/{} ops", text::count(ops)),
            Goal::Seconds(_) | Goal::Open => format!("{ended} ops"),
        }
    }

    pub(crate) fn optimal_share(&self) -> Option<f64> {
        Some((self.elapsed_s / self.optimal_s?.max(1e-9)).min(1.0))
    }
}

/// Estimates the remaining time of a run in seconds. Assumes that attempts succeed at the recent rate, and that the
/// share of given-up ops stays the same.
fn eta(snapshot: &Snapshot, remaining: u64, elapsed_s: f64) -> Option<f64> {
    if remaining == 0 {
        return Some(0.0);
    }
    let ops = snapshot.ops;
    let succeeded = Timeline::new(snapshot).counter(|point| point.succeeded);
    let per_s = match ops.succeeded {
        0 => ops.given_up as f64 / elapsed_s.max(1e-9),
        some => {
            let ended_per_success = (ops.succeeded + ops.given_up) as f64 / some as f64;
            succeeded.recent_rate((elapsed_s / 4.0).max(2.0)) * ended_per_success
        }
    };
    (per_s > 0.0).then(|| remaining as f64 / per_s)
}

/// Progress of a comparison of strategies: the share of its runs that is done, and the estimated time left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Remaining {
    pub(crate) done: usize,
    pub(crate) runs: usize,
    /// Share of the work of all runs that is done, 0 to 1, weighted by the runs' durations.
    pub(crate) share: f64,
    /// Estimated wall time in seconds until all runs are done; `None` if unknown.
    pub(crate) eta_s: Option<f64>,
}

impl Remaining {
    /// Estimates the progress of a comparison. Each remaining run is assumed to take as long as the earlier runs of the
    /// same strategy on average. If the strategy has no earlier runs, the earlier runs of all strategies are used. As
    /// long as no run has ended, the estimated duration of the run in progress is used for every run.
    pub(crate) fn new(lanes: &Lanes, time_scale: f64) -> Self {
        let sum = |of: fn(&crate::Lane) -> usize| lanes.lanes.iter().map(of).sum::<usize>();
        let (done, runs) = (sum(|lane| lane.done), sum(|lane| lane.runs));
        let took: Duration = lanes.lanes.iter().map(|lane| lane.took).sum();
        let under_way = lanes.lanes.iter().find_map(|lane| Some(Progress::new(&lane.going_on()?.snapshot)));
        let elapsed_s = under_way.map_or(0.0, |run| run.elapsed_s * time_scale);
        let usual_s = match (done, under_way) {
            (0, Some(run)) => run.eta_s.map(|eta_s| elapsed_s + eta_s * time_scale),
            (0, None) => None,
            _ => Some(took.as_secs_f64() / done as f64),
        };
        let mut left_s = usual_s.map(|_| 0.0);
        for lane in &lanes.lanes {
            let each_s =
                if lane.done > 0 { Some(lane.took.as_secs_f64() / lane.done as f64) } else { usual_s };
            let mut rest_s = each_s.map(|each_s| each_s * lane.runs.saturating_sub(lane.done) as f64);
            if lane.running {
                // The elapsed time of the run is capped at its expected duration, because a run that has taken longer
                // may end at any moment.
                rest_s = rest_s.zip(each_s).map(|(left, each)| left - elapsed_s.min(each));
            }
            left_s = left_s.zip(rest_s).map(|(left, rest)| left + rest);
        }
        let at_once = lanes.at_once.max(1) as f64;
        let spent_s = took.as_secs_f64() + elapsed_s;
        let share = match left_s {
            _ if done == runs => 1.0,
            Some(left_s) if left_s + spent_s > 0.0 => spent_s / (spent_s + left_s),
            _ => done as f64 / runs.max(1) as f64,
        };
        Self { done, runs, share, eta_s: left_s.map(|left_s| left_s / at_once) }
    }
}

/// Histograms whose number of bins depends on the available rows or columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bin {
    pub(crate) label: String,
    /// Share of all ended ops that are in the bin, 0 to 1.
    pub(crate) share: f64,
}

const FIRST_ATTEMPTS: [u64; 10] = [1, 2, 3, 4, 6, 10, 20, 50, 100, 1_000];

pub(crate) fn attempts_per_op(snapshot: &Snapshot, rows: usize) -> Vec<Bin> {
    let histogram = &snapshot.attempts_per_op;
    let firsts = &FIRST_ATTEMPTS[..rows.min(FIRST_ATTEMPTS.len())];
    let total = histogram.len().max(1) as f64;
    let bin = |(index, &first): (usize, &u64)| {
        let last = firsts.get(index + 1).map(|next| next - 1);
        let label = match last {
            None => format!("{first}+"),
            Some(last) if last == first => first.to_string(),
            Some(last) => format!("{first}–{last}"),
        };
        let count = histogram.count_between(first, last.unwrap_or(u64::MAX));
        Bin { label, share: count as f64 / total }
    };
    firsts.iter().enumerate().map(bin).collect()
}

pub(crate) fn latency_bins(latencies: &Latencies, end: Duration, bins: u32) -> Vec<u64> {
    let step = (end / bins.max(1)).max(Duration::from_micros(1));
    let low = |bin: u32| step * bin + Duration::from_micros(u64::from(bin > 0));
    (0..bins).map(|bin| latencies.count_between(low(bin), step * (bin + 1))).collect()
}

#[cfg(test)]
mod tests {

    use std::time::Duration;

    use loadgen_core::{Measurements, RunConfig};
    use vocabulary::Instant;
    use wire::{AdvertisedLimits, AdvertisedRate, AdvertisedSlots};

    use super::*;
    use crate::tests::synthetic_run::SyntheticRun;
    use crate::{Frame, Lane, PolicyName};

    fn with_lag(lag: Duration) -> Frame {
        let mut frame = Frame::default();
        (0..200).for_each(|_| frame.snapshot.send_lag.record(lag));
        frame
    }

    #[test]
    fn late_sends_and_a_full_core_are_named() {
        assert_eq!(trouble(&Frame::default(), 1.0), None);
        assert_eq!(trouble(&with_lag(Duration::from_micros(80)), 1.0), None);
        assert_eq!(
            trouble(&with_lag(Duration::from_millis(25)), 1.0).unwrap(),
            "generator is the bottleneck: sends 25 ms late at p99"
        );
        let mut busy = with_lag(Duration::from_micros(80));
        busy.generator.cpu_share = 0.99;
        assert_eq!(trouble(&busy, 1.0).unwrap(), "generator is the bottleneck: cpu at 99 % of a core");
    }

    #[test]
    fn one_late_send_before_the_first_answer_is_no_bottleneck() {
        let mut frame = Frame::default();
        frame.snapshot.send_lag.record(Duration::from_millis(25));
        assert_eq!(trouble(&frame, 1.0), None);
        (0..19).for_each(|_| frame.snapshot.send_lag.record(Duration::from_millis(5)));
        assert_eq!(trouble(&frame, 1.0), None);
    }

    #[test]
    fn screen_and_summary_say_the_same_at_the_same_figures() {
        // A send lag of 15 ms is negligible beside attempts of 600 ms, but not beside 50 ms. At time scale 0.1 it is
        // 1.5 ms of real time, which is negligible again.
        for (attempt_ms, time_scale, said) in [(600, 1.0, false), (50, 1.0, true), (50, 0.1, false)] {
            let mut frame = with_lag(Duration::from_millis(15));
            (0..200).for_each(|_| frame.snapshot.attempt_latency.record(Duration::from_millis(attempt_ms)));
            let load = GeneratorLoad {
                send_lag_ms: 15.0,
                usual_attempt_ms: attempt_ms as f64,
                time_scale,
                ..GeneratorLoad::default()
            };
            assert_eq!(load.bottleneck().is_some(), said, "{attempt_ms} {time_scale}");
            assert_eq!(trouble(&frame, time_scale).is_some(), said, "{attempt_ms} {time_scale}");
        }
    }

    #[test]
    fn attempts_that_the_machine_makes_longer_are_named() {
        let config = RunConfig { mean_service: Some(Duration::from_millis(5)), ..RunConfig::default() };
        let mut measured = Measurements::new(&config);
        let due = Instant::from_millis(7);
        (0..200).for_each(|_| measured.on_answer_due(due, due + Duration::from_micros(500)));
        let mut frame = Frame::default();
        frame.snapshot.excess = measured.excess;
        assert_eq!(trouble(&frame, 1.0).unwrap(), "attempts too long by 10 % of the service time");
    }

    fn frame() -> Frame {
        let mut frame = Frame::default();
        let places = AdvertisedSlots { stage: 1, busy: 1, cap: 2 };
        let rate = AdvertisedRate { stage: 0, remaining: 37, limit: 100, window: Duration::from_hours(1) };
        frame.snapshot.limits = AdvertisedLimits::default().with_slots(places).with_rate(rate);
        frame
    }

    #[test]
    fn limits_have_the_names_of_their_policies() {
        let policy = |name: &str, is_keyed| PolicyName { name: name.to_owned(), is_keyed };
        let mut frame = frame();
        frame.policies = vec![policy("primary", true), policy("concurrent", true)];
        let cap = CapLimit::new(&frame).unwrap();
        assert_eq!((cap.name.as_str(), cap.busy, cap.cap), ("concurrent/key", 1, 2));
        let rate = RateLimit::new(&frame).unwrap();
        assert_eq!(
            (rate.name.as_str(), rate.rate.as_str(), rate.left().as_str()),
            ("primary", "100/h", " 37 left")
        );
        // The server's own cap takes precedence, and policy names may be unknown.
        (frame.snapshot.server_cap, frame.snapshot.server_busy) = (Some(50), Some(3));
        frame.policies.clear();
        let cap = CapLimit::new(&frame).unwrap();
        assert_eq!((cap.name.as_str(), cap.busy, cap.cap), ("cap", 3, 50));
        assert_eq!(RateLimit::new(&frame).unwrap().name, "limit");
        assert_eq!((CapLimit::new(&Frame::default()), RateLimit::new(&Frame::default())), (None, None));
    }

    #[test]
    fn rates_are_printed_in_customary_units() {
        for (limit, millis, said) in [
            (100, 3_600_000, "100/h"),
            (18, 60_000, "18/min"),
            (10, 500, "20/s"),
            (5, 1_000, "5/s"),
            (3, 7_000, "26/min"),
            (1, 86_400_000, "1/day"),
            (30, 10_000, "3/s"),
        ] {
            assert_eq!(words(limit, Duration::from_millis(millis)), said);
        }
    }

    /// The first advertised value is drawn before it, and the current one at the end.
    #[test]
    fn a_limit_extends_to_the_start_and_to_the_end() {
        let advertised = [None, None, Some(50.0), Some(25.0), None];
        let drawn = [Some(50.0), Some(50.0), Some(50.0), Some(25.0), Some(20.0)];
        assert_eq!(level(&advertised, Some(20.0)), drawn);
        assert_eq!(level(&[None, None], None), [None, None]);
    }

    #[test]
    fn the_eta_of_a_steady_run_is_right() {
        let half = Progress::new(&SyntheticRun::aimd().until(12.0));
        let eta = half.eta_s.unwrap();
        assert!((12.0 + eta - 25.5).abs() < 2.0, "{half:?}");
        assert!((half.optimal_share().unwrap() - 12.0 / 20.1).abs() < 0.02, "{half:?}");
    }

    #[test]
    fn given_up_ops_are_distinguished_from_completed_ones() {
        let ops = loadgen_core::OpCounts { arrived: 20, succeeded: 5, given_up: 10, ..Default::default() };
        let progress = Progress::new(&Snapshot { ops, planned_ops: Some(20), ..Snapshot::default() });
        assert_eq!((progress.share(), progress.given_up_share()), (Some(0.75), 0.5));
        assert_eq!(progress.given_up_text().as_deref(), Some("10 given up"));
    }

    #[test]
    fn before_the_first_success_there_is_no_estimate() {
        let start = Progress::new(&SyntheticRun::aimd().until(0.3));
        assert_eq!((start.ended, start.eta_s), (0, None));
        assert_eq!(start.share(), Some(0.0));
    }

    #[test]
    fn progress_without_a_number_of_ops_is_that_of_time() {
        let snapshot = Snapshot {
            now: Instant::from_millis(4_000),
            first_arrival: Some(Instant::ORIGIN),
            planned_duration: Some(Duration::from_secs(10)),
            ..Snapshot::default()
        };
        let progress = Progress::new(&snapshot);
        assert_eq!((progress.share(), progress.eta_s), (Some(0.4), Some(6.0)));
    }

    #[test]
    fn progress_with_ops_and_a_duration_is_that_of_the_earlier_end() {
        let ops = loadgen_core::OpCounts { arrived: 40, succeeded: 0, given_up: 40, ..Default::default() };
        let at_4_s = |planned_ops, arrived| {
            Progress::new(&Snapshot {
                now: Instant::from_millis(4_000),
                first_arrival: Some(Instant::ORIGIN),
                planned_duration: Some(Duration::from_secs(10)),
                planned_ops: Some(planned_ops),
                ops: loadgen_core::OpCounts { arrived, ..ops },
                ..Snapshot::default()
            })
        };
        let by_time = at_4_s(5_000, 40);
        assert_eq!(
            (by_time.goal, by_time.share(), by_time.eta_s),
            (Goal::Seconds(10.0), Some(0.4), Some(6.0))
        );
        let by_ops = at_4_s(50, 40);
        assert_eq!((by_ops.goal, by_ops.share(), by_ops.eta_s), (Goal::Ops(50), Some(0.8), Some(1.0)));
        // Once all ops have arrived, the run ends with their ends.
        assert_eq!(at_4_s(5_000, 5_000).goal, Goal::Ops(5_000));
    }

    fn lane(done: usize, runs: usize, took_s: u64) -> Lane {
        Lane { done, runs, took: Duration::from_secs(took_s), ..Lane::default() }
    }

    fn remaining(lanes: Vec<Lane>, at_once: usize) -> Remaining {
        Remaining::new(&Lanes { at_once, lanes, ..Lanes::default() }, 1.0)
    }

    #[test]
    fn slow_strategies_count_for_as_long_as_they_take() {
        // Two runs of 10 s and three of 30 s are left.
        let halfway = remaining(vec![lane(3, 5, 30), lane(2, 5, 60)], 1);
        assert_eq!((halfway.done, halfway.runs, halfway.eta_s), (5, 10, Some(110.0)));
        assert!((halfway.share - 90.0 / 200.0).abs() < 1e-12, "{halfway:?}");
    }

    #[test]
    fn an_unmeasured_strategy_is_estimated_like_the_others() {
        assert_eq!(remaining(vec![lane(2, 2, 20), lane(0, 2, 0)], 1).eta_s, Some(20.0));
        assert_eq!(remaining(vec![lane(2, 2, 20), lane(0, 2, 0)], 2).eta_s, Some(10.0));
    }

    #[test]
    fn the_first_run_predicts_all_until_it_ends() {
        assert_eq!(remaining(vec![lane(0, 2, 0)], 1).eta_s, None);
        let frame = Frame { snapshot: SyntheticRun::aimd().until(12.0), ..Frame::default() };
        let first = Lane { running: true, run: Some(Box::new(frame)), ..lane(0, 2, 0) };
        let eta_s = remaining(vec![first, lane(0, 2, 0)], 1).eta_s.unwrap();
        assert!((eta_s - (4.0 * 25.5 - 12.0)).abs() < 8.0, "{eta_s}");
    }

    #[test]
    fn nothing_remains_when_all_is_done() {
        let over = remaining(vec![lane(5, 5, 10)], 2);
        assert_eq!((over.eta_s, over.share), (Some(0.0), 1.0));
        assert_eq!(remaining(Vec::new(), 1).eta_s, None);
    }

    fn snapshot(attempts: &[u64]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for &attempts in attempts {
            snapshot.attempts_per_op += attempts;
        }
        snapshot
    }

    #[test]
    fn attempts_fall_into_bins_and_the_rest_into_the_last() {
        let bins = attempts_per_op(&snapshot(&[1, 1, 2, 5, 7, 9_999]), 4);
        let labels: Vec<_> = bins.iter().map(|bin| bin.label.as_str()).collect();
        assert_eq!(labels, ["1", "2", "3", "4+"]);
        assert!((bins[0].share - 2.0 / 6.0).abs() < 1e-9 && (bins[3].share - 0.5).abs() < 1e-9, "{bins:?}");
        assert_eq!(attempts_per_op(&snapshot(&[]), 99).len(), FIRST_ATTEMPTS.len());
    }

    #[test]
    fn every_latency_is_in_one_bin() {
        let mut latencies = Latencies::default();
        (1..=1_000).for_each(|ms| latencies.record(Duration::from_millis(ms)));
        let bins = latency_bins(&latencies, Duration::from_secs(1), 10);
        assert!(bins.iter().all(|count| (95..=105).contains(count)), "{bins:?}");
    }
}
