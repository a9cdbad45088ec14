//! Recorders of single runs, for the plots that a scenario requests. The amount of recorded data is limited, even for long runs. Excess
//! data is thinned, and the plot states how the data was thinned.

#[cfg(test)]
pub(crate) mod testing;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loadgen_core::{Sample, SampleSink};
use results::{
    Basis, Calls, Clients, Columns, DrawnRun, GaugeColumn, GaugePoint, RunResult, SeriesPoint, Steps, Wait,
};
use tailback::Status;
use vocabulary::Instant;

use crate::scenario::{Cell, Counted, Plot, Scenario, over_seeds};

/// Recorded data of runs. The key consists of the number of the plot and the number of the cell (one strategy at one point).
pub type Kept = BTreeMap<(usize, usize), DrawnRun>;

/// Recorders of the data of one run of a cell. Each plot that shows the run has its own recorder.
pub(crate) struct PlotRecording {
    cell: usize,
    label: String,
    /// Recorders, each with the number of its plot. The sink of the run shares them.
    recorders: Arc<Mutex<Vec<(usize, Recorder)>>>,
}

impl PlotRecording {
    /// Creates the recorders that plots need for one run of a cell. Returns `None` if no plot shows the run.
    pub(crate) fn new(scenario: &Scenario, cells: &[Cell], cell: usize) -> Option<Self> {
        let recorder = |(number, plot): (usize, &Plot)| {
            let recorder = Recorder::new(plot, &cells[cell])?;
            plot.cells(scenario, cells).contains(&cell).then_some((number, recorder))
        };
        let recorders: Vec<_> = scenario.plot.values().enumerate().filter_map(recorder).collect();
        let label = cells[cell].label.clone();
        (!recorders.is_empty()).then(|| Self { cell, label, recorders: Arc::new(Mutex::new(recorders)) })
    }

    /// Returns the sink that passes attempts to the recorders. The sink must receive every attempt of the run, from the first to the last.
    pub(crate) fn sink(&self) -> SampleSink {
        let recorders = self.recorders.clone();
        Box::new(move |sample| {
            for (_, recorder) in recorders.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
                recorder.note(sample);
            }
        })
    }

    /// Takes the recorded data, and adds the parts of the run's result that plots need.
    pub(crate) fn finish(&self, result: &RunResult) -> Kept {
        let recorders = std::mem::take(&mut *self.recorders.lock().unwrap_or_else(PoisonError::into_inner));
        let drawn = |(plot, recorder): (usize, Recorder)| {
            ((plot, self.cell), recorder.finish(outline(&self.label, result), result))
        };
        recorders.into_iter().map(drawn).collect()
    }
}

enum Recorder {
    /// Recorder for a plot that needs only the time series. It records nothing, because the result already contains the time series.
    Series,
    Calls(CallRecorder),
    Clients(ClientRecorder),
    Steps(StepRecorder),
    Waits(WaitRecorder),
}

impl Recorder {
    /// Creates the recorder that a plot needs for one run of a cell (one strategy at one point). Returns `None` if the plot shows only
    /// figures over all seeds and therefore needs no recorded run.
    fn new(plot: &Plot, cell: &Cell) -> Option<Self> {
        Some(match plot.basis? {
            Basis::Cells | Basis::Chosen | Basis::Columns => return None,
            Basis::Runs => Self::Series,
            Basis::Calls => Self::Calls(CallRecorder::default()),
            Basis::Clients => Self::Clients(ClientRecorder::new(cell.settings.run.clients)),
            Basis::Steps => Self::Steps(StepRecorder::new(plot.step(cell)?, &plot.series)),
            Basis::Waits => Self::Waits(WaitRecorder::default()),
        })
    }

    fn note(&mut self, sample: &Sample) {
        match self {
            _ if !sample.is_sent => {}
            Self::Series => {}
            Self::Calls(calls) => calls.note(sample),
            Self::Clients(clients) => clients.note(sample),
            Self::Steps(steps) => steps.note(sample),
            Self::Waits(waits) => waits.note(sample),
        }
    }

    /// Adds the recorded data to the outline of the run.
    fn finish(self, mut run: DrawnRun, result: &RunResult) -> DrawnRun {
        match self {
            Self::Series => run.series = Some(columns(&result.series)),
            Self::Calls(calls) => run.calls = Some(calls.finish()),
            Self::Clients(clients) => run.clients = Some(clients.finish()),
            Self::Steps(steps) => run.steps = Some(steps.finish()),
            Self::Waits(waits) => run.waits = Some(waits.finish()),
        }
        run
    }
}

/// Maximum number of recorded calls. A plot draws one line per call, and more lines could not be distinguished.
const MAX_CALLS: usize = 5000;

/// Recorder of calls (attempts). If there are too many calls, only those of every n-th op are kept. Either all calls of an op are kept or
/// none, so that clusters of calls stay visible.
struct CallRecorder {
    every: u64,
    kept: Vec<(Instant, u64)>,
    /// True once op 0 alone has more calls than the maximum. From then on, no further call is recorded.
    full: bool,
}

impl Default for CallRecorder {
    fn default() -> Self {
        Self { every: 1, kept: Vec::new(), full: false }
    }
}

impl CallRecorder {
    fn note(&mut self, sample: &Sample) {
        if self.full || !sample.op.is_multiple_of(self.every) {
            return;
        }
        self.kept.push((sample.sent, sample.op));
        while self.kept.len() > MAX_CALLS {
            let before = self.kept.len();
            self.every = self.every.saturating_mul(2);
            self.kept.retain(|(_, op)| op.is_multiple_of(self.every));
            if self.kept.len() == before && self.kept.iter().all(|(_, op)| *op == 0) {
                self.full = true;
                return;
            }
        }
    }

    fn finish(mut self) -> Calls {
        self.kept.sort_unstable();
        Calls {
            every: self.every,
            full: self.full,
            t_s: self.kept.iter().map(|(at, _)| rounded(at.as_secs_f64())).collect(),
            op: self.kept.iter().map(|(_, op)| *op).collect(),
        }
    }
}

const MAX_CLIENTS: usize = 100_000;
/// Maximum number of clients or ops written to the document. A curve over ranks does not need more points.
const MAX_RANKS: usize = 1000;

struct ClientRecorder {
    by_op: bool,
    clients: Vec<Client>,
}

#[derive(Clone, Copy, Default)]
struct Client {
    attempts: u64,
    succeeded: u64,
    /// Sum of the latencies of the client's successful ops, in seconds.
    latency_s: f64,
}

impl Client {
    fn latency_s(&self) -> Option<f64> {
        (self.succeeded > 0).then(|| self.latency_s / self.succeeded as f64)
    }
}

impl ClientRecorder {
    fn new(clients: u32) -> Self {
        Self { by_op: clients <= 1, clients: Vec::new() }
    }

    fn note(&mut self, sample: &Sample) {
        let who = if self.by_op { sample.op } else { u64::from(sample.client) };
        let Some(who) = usize::try_from(who).ok().filter(|who| *who < MAX_CLIENTS) else { return };
        if who >= self.clients.len() {
            self.clients.resize(who + 1, Client::default());
        }
        let client = &mut self.clients[who];
        client.attempts += 1;
        if sample.status == Status::Succeeded {
            client.succeeded += 1;
            client.latency_s += sample.ended.since(sample.arrived).as_secs_f64();
        }
    }

    fn finish(mut self) -> Clients {
        self.clients.retain(|client| client.attempts > 0);
        // A client without any success has no latency. It is ranked as if its latency were infinite.
        let key = |client: &Client| client.latency_s().unwrap_or(f64::INFINITY);
        self.clients.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.attempts.cmp(&b.attempts)));
        let count = self.clients.len();
        let every = count.div_ceil(MAX_RANKS).max(1);
        // Only every n-th rank is kept. The last rank is always included, because its client has the longest latency.
        let ranks: Vec<usize> = (0..count).filter(|index| index % every == 0 || index + 1 == count).collect();
        let latency = |index: &usize| self.clients[*index].latency_s().map(rounded);
        Clients {
            by_op: self.by_op,
            of: count as u64,
            rank: ranks.iter().map(|index| *index as u64 + 1).collect(),
            latency_s: ranks.iter().map(latency).collect(),
            attempts: ranks.iter().map(|index| self.clients[*index].attempts).collect(),
        }
    }
}

/// Maximum number of retries of one op for which waits are recorded.
const MAX_RETRIES: usize = 30;
const MAX_WAITS: usize = 20_000;
const MAX_OPS: usize = 100_000;

/// Recorder of the waits before retries, in seconds, grouped by the number of the retry within its op.
#[derive(Default)]
struct WaitRecorder {
    /// End of the latest attempt of each op, by op number. An op is left out if its latest attempt succeeded or was cancelled.
    ended: BTreeMap<u64, Instant>,
    waits: Vec<Vec<f64>>,
}

impl WaitRecorder {
    fn note(&mut self, sample: &Sample) {
        let retry = usize::try_from(sample.attempt).unwrap_or(usize::MAX).saturating_sub(1);
        // A retry is sent after the previous attempt of the op has ended. A hedged copy is sent earlier than that, so no wait is recorded
        // for the copy.
        let is_retry = |ended: &Instant| sample.sent >= *ended && (1..=MAX_RETRIES).contains(&retry);
        if let Some(ended) = self.ended.remove(&sample.op).filter(is_retry) {
            if self.waits.len() < retry {
                self.waits.resize(retry, Vec::new());
            }
            let waits = &mut self.waits[retry - 1];
            if waits.len() < MAX_WAITS {
                waits.push(sample.sent.since(ended).as_secs_f64());
            }
        }
        let is_over = matches!(sample.status, Status::Succeeded | Status::Cancelled);
        if !is_over && self.ended.len() < MAX_OPS {
            self.ended.insert(sample.op, sample.ended);
        }
    }

    fn finish(self) -> Vec<Wait> {
        let of = |(index, waits): (usize, &Vec<f64>)| {
            let over = over_seeds(waits)?;
            Some(Wait {
                retry: index as u64 + 1,
                count: over.count as u64,
                mean_s: rounded(over.mean),
                min_s: Some(rounded(over.min)),
                p5_s: Some(rounded(over.p5)),
                p95_s: Some(rounded(over.p95)),
                max_s: Some(rounded(over.max)),
            })
        };
        self.waits.iter().enumerate().filter_map(of).collect()
    }
}

/// Returns the part of a result that plots need, with the label that the plot shows. The time series is not included. The configuration is
/// not included either, because the scenario determines it.
fn outline(label: &str, result: &RunResult) -> DrawnRun {
    DrawnRun {
        label: label.to_owned(),
        schema_version: result.schema_version,
        mode: result.mode,
        strategy: result.strategy.clone(),
        seed: result.seed,
        ops: result.ops,
        attempts: result.attempts,
        amplification: result.amplification,
        efficiency: result.efficiency,
        makespan_s: result.makespan_s,
        makespan_complete: result.makespan_complete,
        optimal_makespan_s: result.optimal_makespan_s,
        stalled_at_s: result.stalled_at_s,
        op_latency_ms: result.op_latency_ms.figures,
        series: None,
        calls: None,
        clients: None,
        steps: None,
        waits: None,
    }
}

fn columns(series: &[SeriesPoint]) -> Columns {
    let step_s = match series {
        [first, second, ..] => second.t_s - first.t_s,
        _ => 0.01,
    };
    let count = |of: fn(&SeriesPoint) -> u32| series.iter().map(|point| of(point).into()).collect();
    let gauge = |of: fn(&SeriesPoint) -> Option<f64>| {
        let values: Vec<Option<f64>> = series.iter().map(|point| of(point).map(rounded)).collect();
        values.iter().any(Option::is_some).then_some(values)
    };
    Columns {
        step_s: rounded(step_s),
        sent: count(|point| point.sent),
        succeeded: count(|point| point.succeeded),
        rejected: count(|point| point.rejected),
        in_flight: gauge(|point| point.in_flight),
        window: gauge(|point| point.window),
        ssthresh: gauge(|point| point.ssthresh),
        server_cap: gauge(|point| point.server_cap),
        gauges: drawn(series),
    }
}

fn drawn(series: &[SeriesPoint]) -> Vec<GaugeColumn> {
    let kinds = series.first().map_or(&[][..], |first| &first.gauges);
    let column = |(index, kind): (usize, &GaugePoint)| {
        let value = |point: &SeriesPoint| point.gauges.get(index)?.value.map(rounded);
        let values = series.iter().map(value).collect();
        GaugeColumn { name: kind.name.clone(), unit: kind.unit.clone(), values }
    };
    kinds.iter().enumerate().map(column).collect()
}

/// Rounding of numbers to the digits that a plot shows.
fn rounded(value: f64) -> f64 {
    let digits = |digits: f64| (value * digits).round() / digits;
    if value.abs() >= 1000.0 { digits(1e3) } else { digits(1e6) }
}

/// Maximum number of time steps. If a run needs more, the steps become wider.
const MAX_STEPS: usize = 6000;

struct StepRecorder {
    wanted: Vec<Counted>,
    width_nanos: u64,
    counts: Vec<Step>,
}

#[derive(Clone, Copy, Default)]
struct Step {
    sent: u32,
    turned_away: u32,
    first: u32,
    succeeded: u32,
    /// Change of the queue length from the start to the end of the step.
    queue: i64,
}

impl StepRecorder {
    fn new(step: Duration, wanted: &[Counted]) -> Self {
        const USUAL: [Counted; 4] = [Counted::Sent, Counted::TurnedAway, Counted::First, Counted::Queued];
        let wanted = if wanted.is_empty() { USUAL.to_vec() } else { wanted.to_vec() };
        let width_nanos = u64::try_from(step.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self { wanted, width_nanos, counts: Vec::new() }
    }

    fn note(&mut self, sample: &Sample) {
        let sent = self.at(sample.sent);
        sent.sent += 1;
        sent.first += u32::from(sample.attempt == 1);
        match sample.status {
            Status::Succeeded => {
                // An attempt that succeeds counts as queued from the time at which it is sent until it ends.
                sent.queue += 1;
                let ended = self.at(sample.ended);
                ended.succeeded += 1;
                ended.queue -= 1;
            }
            Status::Rejected | Status::Failed(_) => self.at(sample.ended).turned_away += 1,
            Status::Cancelled | Status::Shed | Status::Deferred => {}
        }
    }

    fn at(&mut self, at: Instant) -> &mut Step {
        while at.as_nanos() / self.width_nanos >= MAX_STEPS as u64 {
            self.width_nanos *= 2;
            self.counts = self.counts.chunks(2).map(Step::merged).collect();
        }
        let index = usize::try_from(at.as_nanos() / self.width_nanos).unwrap_or(MAX_STEPS - 1);
        if index >= self.counts.len() {
            self.counts.resize(index + 1, Step::default());
        }
        &mut self.counts[index]
    }

    fn finish(self) -> Steps {
        let mut queued = 0;
        let lengths = self.counts.iter().map(|step| {
            queued += step.queue;
            queued
        });
        let lengths = self.wanted.contains(&Counted::Queued).then(|| lengths.collect());
        let count = |counted: Counted, of: fn(&Step) -> u32| {
            let column = || self.counts.iter().map(|step| of(step).into()).collect();
            self.wanted.contains(&counted).then(column)
        };
        Steps {
            step_s: rounded(self.width_nanos as f64 / 1e9),
            sent: count(Counted::Sent, |step| step.sent),
            turned_away: count(Counted::TurnedAway, |step| step.turned_away),
            first: count(Counted::First, |step| step.first),
            succeeded: count(Counted::Succeeded, |step| step.succeeded),
            queued: lengths,
        }
    }
}

impl Step {
    fn merged(steps: &[Self]) -> Self {
        steps.iter().fold(Self::default(), |sum, step| Self {
            sent: sum.sent + step.sent,
            turned_away: sum.turned_away + step.turned_away,
            first: sum.first + step.first,
            succeeded: sum.succeeded + step.succeeded,
            queue: sum.queue + step.queue,
        })
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::recording::testing::{rejected, sample};

    #[test]
    fn too_many_calls_are_thinned_by_whole_ops() {
        let mut calls = CallRecorder::default();
        for round in 0..10 {
            for op in 0..2000 {
                calls.note(&sample(op, round + 1, u64::from(round) * 1000, u64::from(round) * 1000 + 1));
            }
        }
        let calls = calls.finish();
        assert_eq!((calls.every, calls.op.len()), (4, 500 * 10));
        assert!(calls.op.iter().all(|op| op % 4 == 0));
        assert_eq!((calls.t_s[0].to_string(), calls.t_s[4999].to_string()), ("0".to_owned(), "9".to_owned()));
    }

    #[test]
    fn one_op_without_end_is_cut() {
        let mut calls = CallRecorder::default();
        for round in 0..100_000 {
            calls.note(&sample(0, round, u64::from(round), u64::from(round)));
        }
        assert_eq!(calls.kept.len(), MAX_CALLS + 1);
        assert!(calls.finish().full);
    }

    #[test]
    fn clients_are_sorted_by_latency_those_without_success_last() {
        let mut clients = ClientRecorder::new(1);
        clients.note(&rejected(sample(0, 1, 0, 10)));
        clients.note(&sample(1, 1, 0, 30));
        clients.note(&rejected(sample(2, 1, 0, 10)));
        clients.note(&sample(2, 2, 10, 20));
        let clients = clients.finish();
        assert_eq!(clients.latency_s, [Some(0.02), Some(0.03), None]);
        assert_eq!((clients.attempts, clients.rank), (vec![2, 1, 1], vec![1, 2, 3]));
        assert!(clients.by_op);
    }

    #[test]
    fn a_wait_runs_from_the_end_of_an_attempt_to_the_next() {
        let mut waits = WaitRecorder::default();
        for (op, second) in [(0, 110), (1, 130)] {
            waits.note(&rejected(sample(op, 1, 0, 10)));
            waits.note(&rejected(sample(op, 2, second, second + 10)));
            waits.note(&sample(op, 3, second + 210, second + 220));
        }
        let waits = waits.finish();
        assert_eq!((waits[0].min_s, waits[0].max_s, waits[0].mean_s), (Some(0.1), Some(0.12), 0.11));
        assert_eq!((waits[1].mean_s, waits[1].retry, waits[1].count, waits.len()), (0.2, 2, 2, 2));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.123_456_78, 1_234.567_89].map(|value| rounded(value).to_string()),
            ["0.123457", "1234.568"]
        );
    }

    #[test]
    fn requests_count_when_sent_and_are_queued_until_success() {
        let mut steps = StepRecorder::new(Duration::from_millis(10), &[]);
        steps.note(&rejected(sample(1, 1, 10, 20)));
        steps.note(&sample(0, 1, 10, 40));
        steps.note(&sample(1, 2, 20, 50));
        let wanted = Steps {
            step_s: 0.01,
            sent: Some(vec![0, 2, 1, 0, 0, 0]),
            turned_away: Some(vec![0, 0, 1, 0, 0, 0]),
            first: Some(vec![0, 2, 0, 0, 0, 0]),
            succeeded: None,
            queued: Some(vec![0, 1, 2, 2, 1, 0]),
        };
        assert_eq!(steps.finish(), wanted);
    }

    #[test]
    fn steps_of_a_long_run_are_wider_and_lose_nothing() {
        let mut steps = StepRecorder::new(Duration::from_millis(1), &[Counted::Sent]);
        for op in 0..20_000 {
            steps.note(&sample(op, 1, op, op + 3));
        }
        let steps = steps.finish();
        let sent = steps.sent.unwrap();
        assert!(sent.len() <= MAX_STEPS && sent.iter().sum::<i64>() == 20_000);
        assert_eq!(steps.step_s.to_string(), "0.004");
    }
}
