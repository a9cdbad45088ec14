//! Result of one run, in the format in which files contain it. Other programs depend on its keys.
//!
//! Files of earlier versions lack newer keys, so fields with a default may be missing from a file. Unknown keys are skipped. A number above
//! 2⁶⁴ is an error, even in an unknown key.

use loadgen_core::{
    AdviceFigures, AttemptCounts, ExcessFigures, FailureResult, FairnessFigures, Gauge, GivenUpCounts,
    LatencyBar, LatencyFigures, RateFigures, Run, Series, StatusCount, WindowFigures,
};
use serde::{Deserialize, Serialize};
use tailback::StrategySpec;
use wire::{ServerCounts, ServerStats};

use crate::{At, Malformed, OpLatencies, SchemaVersion, SharedConfig};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunResult {
    pub schema_version: SchemaVersion,
    pub mode: Mode,
    /// Strategy as given on the command line.
    pub strategy: String,
    pub seed: u64,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::document::config::ConfigRecord"))]
    pub config: SharedConfig,
    pub ops: OpsResult,
    pub attempts: AttemptCounts,
    pub amplification: Option<f64>,
    pub efficiency: Option<f64>,
    pub attempts_per_success: Option<f64>,
    pub makespan_s: Option<f64>,
    pub makespan_complete: bool,
    pub optimal_makespan_s: Option<f64>,
    pub goodput_per_s: Option<f64>,
    #[serde(default)]
    pub load_factor: Option<f64>,
    #[serde(default)]
    pub load: Option<String>,
    #[serde(default, deserialize_with = "crate::document::fields::failures")]
    pub failures: Vec<FailureResult>,
    /// Statuses of all answers over HTTP; empty if simulated.
    #[serde(
        default,
        deserialize_with = "crate::document::fields::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub statuses: Vec<StatusCount>,
    /// Counts of ops that were given up, by reason. A reason is, for example, the outcome of the op's last try.
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub given_up_after: GivenUpCounts,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub op_latency_ms: OpLatencies,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub op_latency_curve: Vec<[f64; 2]>,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub attempt_latency_ms: LatencyFigures,
    /// Histogram of `attempt_latency_ms`; empty if simulated.
    #[serde(
        default,
        deserialize_with = "crate::document::fields::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub attempt_latency_bars: Vec<LatencyBar>,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub success_latency_ms: LatencyFigures,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub rejection_latency_ms: LatencyFigures,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub failure_latency_ms: LatencyFigures,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub attempts_per_op: AttemptsResult,
    pub stalled_at_s: Option<f64>,
    pub late_share: Option<f64>,
    pub done_share: Option<f64>,
    #[serde(default)]
    pub share_is_lower_bound: bool,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub advice: AdviceFigures,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub window: WindowFigures,
    pub fairness: Option<FairnessFigures>,
    pub wasted_server_s: Option<f64>,
    pub server_work_per_success_ms: Option<f64>,
    pub server: Option<ServerCounts>,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub generator: GeneratorResult,
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub started_at: Option<String>,
    /// Duration of the run in real time, in seconds; null if simulated.
    pub wall_s: Option<f64>,
    /// Cause of an early end of the run: `user` (a key of the dashboard), `SIGINT`, `SIGTERM` or `SIGHUP`. Null if the run was not
    /// interrupted.
    pub interrupted: Option<String>,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub warnings: Vec<String>,
    #[serde(default, deserialize_with = "crate::document::fields::or_default")]
    pub series: Vec<SeriesPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The run was executed in real time, over HTTP.
    Http,
    /// The run was simulated in virtual time.
    #[default]
    Simulated,
}

impl Mode {
    pub const fn new(is_simulated: bool) -> Self {
        if is_simulated { Self::Simulated } else { Self::Http }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Simulated => "simulated",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpsResult {
    pub total: u64,
    #[serde(default)]
    pub offered: Option<u64>,
    pub succeeded: u64,
    pub given_up: u64,
    #[serde(default)]
    pub unfinished: u64,
    /// Number of times that an attempt was deferred, because the server had too little free capacity to start it.
    #[serde(default)]
    pub deferred: u64,
    #[serde(default)]
    pub failed_for_good: u64,
    #[serde(default)]
    pub failed: u64,
}

impl OpsResult {
    /// Returns the number of ops to which shares are relative. It counts all offered ops or, if their number is unknown, the ops that
    /// arrived.
    pub fn share_base(&self) -> u64 {
        self.offered.unwrap_or(self.total)
    }

    pub fn share(&self, ops: u64) -> Option<f64> {
        (self.share_base() > 0).then(|| ops as f64 / self.share_base() as f64)
    }

    pub fn all_succeeded(&self) -> bool {
        self.share_base() > 0 && self.succeeded == self.share_base()
    }

    pub fn some_did_not_end(&self) -> bool {
        self.succeeded.saturating_add(self.given_up) < self.share_base()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AttemptsResult {
    pub p50: Option<u64>,
    pub p99: Option<u64>,
    pub max: Option<u64>,
}

/// Load of the load generator itself, and delays that it causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GeneratorResult {
    /// Delay from the instant an attempt was due to the instant it was sent; null if simulated.
    pub send_lag_ms: LagResult,
    pub excess_ms: ExcessFigures,
    /// Processor time of the whole program, in seconds. An embedded server is part of the program, so its time is included.
    pub cpu_s: Option<f64>,
    pub peak_rss_bytes: Option<u64>,
    /// Number of connections that the load generator opened.
    pub connections: Option<u64>,
    /// Time from the request for a new connection until the connection is open. It includes the wait while enough other
    /// connections are already being opened.
    pub connect_ms: LagResult,
    /// Number of times that a request was sent again over HTTP/2 within its attempt, because the server reported that it did not process
    /// the request. These requests are no attempts of their own.
    pub resent: Option<u64>,
    /// Number of attempts that waited for a connection before they were passed to the HTTP client. An attempt waits if no connection is
    /// free and enough new connections are already being opened.
    pub waited_for_connection: Option<u64>,
    /// Times for which attempts waited for a connection, in experiment time. These waits are part of the send lag.
    pub connection_wait_ms: LagResult,
}

/// Percentiles of a delay that the load generator causes, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LagResult {
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

impl From<LatencyFigures> for LagResult {
    fn from(figures: LatencyFigures) -> Self {
        Self { p50: figures.p50, p99: figures.p99, max: figures.max }
    }
}

/// One bucket of the time series. A count covers the whole bucket, and a gauge has its last value in the bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesPoint {
    /// Start of the bucket, in seconds since the run began.
    pub t_s: f64,
    #[serde(default)]
    pub sent: u32,
    #[serde(default)]
    pub succeeded: u32,
    #[serde(default)]
    pub rejected: u32,
    #[serde(default)]
    pub failed: u32,
    pub in_flight: Option<f64>,
    pub in_flight_max: Option<f64>,
    pub window: Option<f64>,
    pub window_min: Option<f64>,
    pub window_max: Option<f64>,
    pub ssthresh: Option<f64>,
    pub server_busy: Option<f64>,
    pub server_busy_max: Option<f64>,
    pub server_cap: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gauges: Vec<GaugePoint>,
}

impl SeriesPoint {
    fn merged(&self, later: &Self) -> Self {
        let last = |one: Option<f64>, later: Option<f64>| later.or(one);
        let extreme = |of: fn(f64, f64) -> f64, one: Option<f64>, later: Option<f64>| match (one, later) {
            (Some(one), Some(later)) => Some(of(one, later)),
            (one, later) => one.or(later),
        };
        let gauges = self.gauges.iter().zip(&later.gauges);
        Self {
            t_s: self.t_s,
            sent: self.sent.saturating_add(later.sent),
            succeeded: self.succeeded.saturating_add(later.succeeded),
            rejected: self.rejected.saturating_add(later.rejected),
            failed: self.failed.saturating_add(later.failed),
            in_flight: last(self.in_flight, later.in_flight),
            in_flight_max: extreme(f64::max, self.in_flight_max, later.in_flight_max),
            window: last(self.window, later.window),
            window_min: extreme(f64::min, self.window_min, later.window_min),
            window_max: extreme(f64::max, self.window_max, later.window_max),
            ssthresh: last(self.ssthresh, later.ssthresh),
            server_busy: last(self.server_busy, later.server_busy),
            server_busy_max: extreme(f64::max, self.server_busy_max, later.server_busy_max),
            server_cap: last(self.server_cap, later.server_cap),
            gauges: gauges
                .map(|(one, later)| GaugePoint { value: last(one.value, later.value), ..one.clone() })
                .collect(),
        }
    }
}

/// Gauge with its name, its unit, and its value at the end of a bucket. It is defined by the strategy or by the server's rate limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GaugePoint {
    /// Name of the gauge, as it appears in legends of plots.
    pub name: String,
    /// Unit of the gauge; empty if the gauge counts attempts.
    pub unit: String,
    /// Value of the gauge; null before the value was first known.
    pub value: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadRecord {
    /// Ratio of the arrival rate of ops to the server's capacity.
    pub factor: f64,
    /// Load factor in words, with the limit that determines the server's capacity.
    pub words: String,
}

#[derive(Clone, Debug)]
pub struct ResultContext {
    pub mode: Mode,
    pub config: SharedConfig,
    pub seed: u64,
    pub load: Option<LoadRecord>,
    pub server: Option<ServerStats>,
    pub generator: GeneratorResult,
    pub started_at: Option<String>,
    pub wall_s: Option<f64>,
    pub interrupted: Option<&'static str>,
    pub warnings: Vec<String>,
    /// Maximum number of points in the time series. Without this limit, files with many results would consist mostly of time series.
    pub series_points: usize,
}

impl RunResult {
    /// Checks that the result contains no values that are impossible in a run. The error contains the path of an impossible value, and the
    /// reason.
    pub(crate) fn possible(&self, at: &str) -> Result<(), Malformed> {
        let refuse = |path: &str, what: String| Err(Malformed::at(&format!("{at}{path}"), what));
        let OpsResult { total, offered, succeeded, .. } = self.ops;
        if let Some(offered) = offered.filter(|offered| *offered < total) {
            return refuse("ops.offered", format!("{offered} is less than the {total} ops that arrived"));
        }
        if succeeded > total {
            return refuse("ops.succeeded", format!("{succeeded} is more than all {total} ops"));
        }
        if !self.attempt_latency_bars.is_sorted_by(|one, next| 0.0 <= one.to_ms && one.to_ms < next.to_ms) {
            return refuse("attempt_latency_bars", "the bounds are not in ascending order".to_owned());
        }
        for (index, pair) in self.series.windows(2).enumerate() {
            if pair[0].t_s < 0.0 || pair[1].t_s <= pair[0].t_s {
                let path = format!("series[{}].t_s", index + 1);
                return refuse(&path, "is not later than the previous entry".to_owned());
            }
        }
        Ok(())
    }

    /// Merges points of the time series in pairs until there are at most `points`. Runs of a file with more runs have fewer points.
    pub fn thin(&mut self, points: usize) {
        while self.series.len() > points.max(1) {
            let halved = self.series.chunks(2).map(|pair| match pair {
                [one, later] => one.merged(later),
                rest => rest[0].clone(),
            });
            self.series = halved.collect();
        }
    }

    /// Returns true for a run over HTTP against a server that is not a mockserver.
    pub fn is_foreign(&self) -> bool {
        self.mode == Mode::Http && self.config.server_model.is_none()
    }

    /// Returns the number of answers per second, from the first arrival to the last end of an op. If ops were unfinished, the time ends
    /// with the run.
    pub fn answers_per_s(&self) -> Option<f64> {
        let answers: u64 = self.statuses.iter().map(|status| status.attempts).sum();
        let whole_run_s = self.wall_s.filter(|_| self.ops.unfinished > 0).map(|s| s / self.config.time_scale);
        let s = whole_run_s.or(self.makespan_s).filter(|s| *s > 0.0 && answers > 0)?;
        Some(answers as f64 / s)
    }

    /// Returns true if an op was retried, or waited in the client before it was sent: if ops took a tenth longer than the attempts that
    /// ended them.
    pub fn ops_took_longer(&self) -> bool {
        let (ops, attempts) = (&*self.op_latency_ms, &self.success_latency_ms);
        let is_longer = |op: Option<f64>, attempt: Option<f64>| {
            op.zip(attempt).is_some_and(|(op, attempt)| op > attempt * 1.1)
        };
        self.attempts.total > self.ops.total
            || is_longer(ops.mean, attempts.mean)
            || is_longer(ops.p99, attempts.p99)
            || is_longer(ops.max, attempts.max)
    }

    pub fn new(strategy: &StrategySpec, run: &Run, context: ResultContext) -> Self {
        let measured = run.measurements();
        let ops = measured.ops;
        let counts = OpsResult {
            total: ops.arrived,
            offered: run.offered(),
            succeeded: ops.succeeded,
            given_up: ops.given_up,
            unfinished: ops.unfinished(),
            deferred: ops.deferred,
            failed_for_good: run.failed_for_good(),
            failed: run.failed(),
        };
        let attempt_latency = measured.attempt_latency();
        let is_http = context.mode == Mode::Http;
        let was_stopped = run.stalled_at().is_some() || context.interrupted.is_some();
        let makespan_s = measured.makespan().map(|makespan| makespan.as_secs_f64());
        let per = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        Self {
            schema_version: SchemaVersion::default(),
            mode: context.mode,
            strategy: strategy.to_string(),
            seed: context.seed,
            config: context.config,
            ops: counts,
            attempts: measured.attempts,
            amplification: per(measured.attempts.total, ops.arrived),
            efficiency: per(ops.succeeded, measured.attempts.total),
            attempts_per_success: per(measured.attempts.total, ops.succeeded),
            makespan_s,
            makespan_complete: counts.all_succeeded(),
            optimal_makespan_s: run.optimal_makespan().map(|optimal| optimal.as_secs_f64()),
            goodput_per_s: makespan_s.filter(|s| *s > 0.0).map(|s| ops.succeeded as f64 / s),
            load_factor: context.load.as_ref().map(|load| load.factor),
            load: context.load.map(|load| load.words),
            failures: measured.failures.results(),
            statuses: if is_http { measured.statuses.statuses() } else { Vec::new() },
            given_up_after: measured.given_up_after,
            op_latency_ms: OpLatencies::new(&measured.op_latency, is_http),
            op_latency_curve: measured.op_latency_curve(),
            attempt_latency_ms: attempt_latency.figures(),
            attempt_latency_bars: if is_http { attempt_latency.bars() } else { Vec::new() },
            success_latency_ms: measured.success_latency.figures(),
            rejection_latency_ms: measured.rejection_latency.figures(),
            failure_latency_ms: measured.failure_latency.figures(),
            attempts_per_op: {
                let histogram = &measured.attempts_per_op;
                let most = measured.most_attempts_per_op;
                let known = |value: u64| (!histogram.is_empty()).then_some(value.min(most));
                AttemptsResult {
                    p50: known(histogram.value_at_quantile(0.5)),
                    p99: known(histogram.value_at_quantile(0.99)),
                    max: known(most),
                }
            },
            stalled_at_s: run.stalled_at().map(vocabulary::Instant::as_secs_f64),
            late_share: measured
                .in_time()
                .and_then(|in_time| counts.share(counts.share_base().saturating_sub(in_time))),
            done_share: counts.share(measured.done_in_time()),
            share_is_lower_bound: was_stopped && counts.some_did_not_end(),
            advice: measured.advice_figures(),
            window: measured.window_figures(),
            fairness: measured.fairness_figures(),
            wasted_server_s: context.server.as_ref().map(|stats| stats.wasted_ms / 1e3),
            server_work_per_success_ms: context.server.as_ref().and_then(|stats| {
                let work_ms = stats.served_ms? + stats.wasted_ms;
                (ops.succeeded > 0 && work_ms > 0.0).then(|| work_ms / ops.succeeded as f64)
            }),
            server: context.server.map(|stats| stats.counts),
            generator: context.generator,
            started_at: context.started_at,
            wall_s: context.wall_s,
            interrupted: context.interrupted.map(ToOwned::to_owned),
            warnings: context.warnings,
            series: points(&measured.series.at_most(context.series_points)),
            rate: measured.rate_figures(),
            at: None,
        }
    }
}

fn points(series: &Series) -> Vec<SeriesPoint> {
    let known = |value: f32| (!value.is_nan()).then_some(f64::from(value));
    let width_s = series.width().as_secs_f64();
    let last = |gauge: Gauge| known(gauge.last);
    series
        .points()
        .iter()
        .enumerate()
        .map(|(index, point)| SeriesPoint {
            t_s: index as f64 * width_s,
            sent: point.sent,
            succeeded: point.succeeded,
            rejected: point.rejected,
            failed: point.failed,
            in_flight: last(point.in_flight),
            in_flight_max: known(point.in_flight.max),
            window: last(point.window),
            window_min: known(point.window.min),
            window_max: known(point.window.max),
            ssthresh: last(point.ssthresh),
            server_busy: last(point.server_busy),
            server_busy_max: known(point.server_busy.max),
            server_cap: last(point.server_cap),
            gauges: series
                .drawn()
                .iter()
                .map(|drawn| GaugePoint {
                    name: drawn.kind.name.to_owned(),
                    unit: drawn.kind.unit.to_owned(),
                    value: drawn.values[index].value(),
                })
                .collect(),
        })
        .collect()
}
