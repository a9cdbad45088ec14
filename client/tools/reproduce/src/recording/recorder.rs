//! Recorders of the data of one run that plots need. Each plot that shows the run has its own recorder.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use loadgen_core::{Sample, SampleSink};
use results::{Basis, Calls, Clients, DrawnRun, RunResult, Wait};
use tailback::Status;
use vocabulary::Instant;

use crate::recording::rounded::rounded;
use crate::recording::series::{columns, outline};
use crate::recording::steps::StepRecorder;
use crate::scenario::{Cell, Plot, over_seeds};

pub(crate) struct Recorder(Kind);

enum Kind {
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
    pub(crate) fn new(plot: &Plot, basis: Basis, cell: &Cell) -> Option<Self> {
        Some(Self(match basis {
            Basis::Cells | Basis::Chosen | Basis::Columns => return None,
            Basis::Runs => Kind::Series,
            Basis::Calls => Kind::Calls(CallRecorder::default()),
            Basis::Clients => Kind::Clients(ClientRecorder::new(cell.settings.run.clients)),
            Basis::Steps => Kind::Steps(StepRecorder::new(plot.step(&[cell])?, &plot.series)),
            Basis::Waits => Kind::Waits(WaitRecorder::default()),
        }))
    }

    fn note(&mut self, sample: &Sample) {
        match &mut self.0 {
            _ if !sample.is_sent => {}
            Kind::Series => {}
            Kind::Calls(calls) => calls.note(sample),
            Kind::Clients(clients) => clients.note(sample),
            Kind::Steps(steps) => steps.note(sample),
            Kind::Waits(waits) => waits.note(sample),
        }
    }

    fn finish(self, label: &str, result: &RunResult) -> DrawnRun {
        let run = outline(label, result);
        match self.0 {
            Kind::Series => DrawnRun { series: Some(columns(&result.series)), ..run },
            Kind::Calls(calls) => DrawnRun { calls: Some(calls.finish()), ..run },
            Kind::Clients(clients) => DrawnRun { clients: Some(clients.finish()), ..run },
            Kind::Steps(steps) => DrawnRun { steps: Some(steps.finish()), ..run },
            Kind::Waits(waits) => DrawnRun { waits: Some(waits.finish()), ..run },
        }
    }
}

#[derive(Clone)]
pub(crate) struct Recording(Arc<Mutex<Vec<Recorder>>>);

impl Recording {
    pub(crate) fn new(recorders: Vec<Recorder>) -> Self {
        Self(Arc::new(Mutex::new(recorders)))
    }

    /// Returns the sink that passes attempts to the recorders. The sink must receive every attempt of the run, from the first to the last.
    pub(crate) fn sink(&self) -> SampleSink {
        let recorders = self.0.clone();
        Box::new(move |sample| {
            for recorder in recorders.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
                recorder.note(sample);
            }
        })
    }

    pub(crate) fn finish(self, label: &str, result: &RunResult) -> Vec<DrawnRun> {
        let recorders = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        recorders.into_iter().map(|recorder| recorder.finish(label, result)).collect()
    }
}

/// Maximum number of recorded calls. A plot draws one line per call, and more lines could not be distinguished.
const MAX_CALLS: usize = 5000;

/// Recorder of calls (attempts). If there are too many calls, only those of every n-th op are kept. Either all calls of an op are kept or
/// none, so that clusters of calls stay visible.
pub(super) struct CallRecorder {
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
    pub(super) fn note(&mut self, sample: &Sample) {
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

    pub(super) fn finish(mut self) -> Calls {
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

pub(super) struct ClientRecorder {
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
    pub(super) fn new(clients: u32) -> Self {
        Self { by_op: clients <= 1, clients: Vec::new() }
    }

    pub(super) fn note(&mut self, sample: &Sample) {
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

    pub(super) fn finish(mut self) -> Clients {
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
pub(super) struct WaitRecorder {
    /// End of the latest attempt of each op, by op number. An op is left out if its latest attempt succeeded or was cancelled.
    ended: BTreeMap<u64, Instant>,
    waits: Vec<Vec<f64>>,
}

impl WaitRecorder {
    pub(super) fn note(&mut self, sample: &Sample) {
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

    pub(super) fn finish(self) -> Vec<Wait> {
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
}
