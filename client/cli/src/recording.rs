//! What is kept of single runs for the plots that a scenario asks for. Everything is bounded, however long a run is: what
//! does not fit is thinned, and the figure says how.

mod calls;
mod clients;
mod series;
mod steps;
mod waits;

use std::sync::{Arc, Mutex, PoisonError};

use experiments::scenario::{Basis, Cell, Plot};
use loadgen_core::{Sample, SampleSink};
use results::RunResult;
use serde_json::{Value, json};

use calls::Calls;
use clients::Clients;
use steps::Steps;
use waits::Waits;

/// Takes what one figure needs of one run.
pub(crate) enum Recorder {
    /// The result has it all.
    Series,
    Calls(Calls),
    Clients(Clients),
    Steps(Steps),
    Waits(Waits),
}

impl Recorder {
    /// What a plot needs of a run of this cell; nothing when it is drawn from figures over seeds.
    pub(crate) fn of(plot: &Plot, basis: Basis, cell: &Cell) -> Option<Self> {
        Some(match basis {
            Basis::Cells | Basis::Chosen | Basis::Columns => return None,
            Basis::Runs => Self::Series,
            Basis::Calls => Self::Calls(Calls::default()),
            Basis::Clients => Self::Clients(Clients::new(cell.settings.run.clients)),
            Basis::Steps => Self::Steps(Steps::new(plot.step(&[cell])?, &plot.series)),
            Basis::Waits => Self::Waits(Waits::default()),
        })
    }

    fn note(&mut self, sample: &Sample) {
        match self {
            Self::Series => {}
            Self::Calls(calls) => calls.note(sample),
            Self::Clients(clients) => clients.note(sample),
            Self::Steps(steps) => steps.note(sample),
            Self::Waits(waits) => waits.note(sample),
        }
    }

    /// The run as the figure needs it.
    fn json(self, label: &str, result: &RunResult) -> anyhow::Result<Value> {
        let mut run = series::outline(label, result)?;
        let (key, kept) = match self {
            Self::Series => ("series", series::columns(&result.series)),
            Self::Calls(calls) => ("calls", calls.json()),
            Self::Clients(clients) => ("clients", clients.json()),
            Self::Steps(steps) => ("steps", steps.json()),
            Self::Waits(waits) => ("waits", waits.json()),
        };
        run.insert(key.to_owned(), kept);
        Ok(json!(run))
    }
}

/// Several plots' recorders of one run.
#[derive(Clone)]
pub(crate) struct Recording(Arc<Mutex<Vec<Recorder>>>);

impl Recording {
    pub(crate) fn new(recorders: Vec<Recorder>) -> Self {
        Self(Arc::new(Mutex::new(recorders)))
    }

    /// To be told of every attempt.
    pub(crate) fn sink(&self) -> SampleSink {
        let held = self.0.clone();
        Box::new(move |sample| {
            for recorder in held.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
                recorder.note(sample);
            }
        })
    }

    /// What was kept, recorder by recorder.
    pub(crate) fn finish(self, label: &str, result: &RunResult) -> anyhow::Result<Vec<Value>> {
        let recorders = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        recorders.into_iter().map(|recorder| recorder.json(label, result)).collect()
    }
}

/// A number with no more digits than a picture shows: six behind the point, or three of a large one.
pub(super) fn rounded(value: f64) -> f64 {
    let digits = |digits: f64| (value * digits).round() / digits;
    if value.abs() >= 1000.0 { digits(1e3) } else { digits(1e6) }
}

#[cfg(test)]
mod tests {
    use tailback::Status;
    use vocabulary::Instant;

    use super::*;

    /// A success that was sent and ended at these milliseconds; its op arrived at zero.
    pub(super) fn sample(op: u64, attempt: u32, sent_ms: u64, ended_ms: u64) -> Sample {
        Sample {
            op,
            attempt,
            client: 0,
            serial: 0,
            arrived: Instant::ORIGIN,
            due: Instant::from_millis(sent_ms),
            sent: Instant::from_millis(sent_ms),
            ended: Instant::from_millis(ended_ms),
            status: Status::Succeeded,
            cause: None,
            by_gateway: false,
            window: None,
        }
    }

    pub(super) fn rejected(sample: Sample) -> Sample {
        Sample { status: Status::Rejected, ..sample }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.123_456_78, 1_234.567_89].map(|value| rounded(value).to_string()),
            ["0.123457", "1234.568"]
        );
    }
}
