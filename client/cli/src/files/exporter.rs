//! What a format of output is: a flag, and what is written into its file.

use std::time::Duration;

use experiments::runs::one_run::Finished;
use loadgen_core::SampleSink;
use results::{At, RunResult};

use crate::files::output::Output;

/// A format that can be asked for.
#[derive(Debug)]
pub(crate) struct Format {
    /// Its flag, dashes included; `FILE` follows.
    pub(crate) flag: &'static str,
    /// What the help says of it where these results are written; nothing where they do not come in this format.
    pub(crate) help: fn(Results) -> Option<&'static str>,
    /// What it is made of.
    pub(crate) from: Source,
    /// Whether stdout will do, which gets everything at the end.
    pub(crate) to_stdout: bool,
    /// What is written of a run that can be said without any other; nothing where all depends on all. Asked on whichever thread did the
    /// run.
    pub(crate) text: Option<TextOf>,
    /// Whoever writes into the file, which is not opened yet.
    pub(crate) exporter: fn(Output, &Layout) -> Box<dyn Exporter>,
}

/// What is written of a run.
pub(crate) type TextOf = fn(&ExportedRun<'_>, &Layout) -> anyhow::Result<Vec<u8>>;

/// Whose results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// Of one strategy: `loadgen` itself.
    Run,
    /// Of several, with a ranking.
    Comparison,
    /// Of several at several points.
    Sweep,
    /// Of scenarios, with verdicts on claims.
    Reproduction,
    /// Of both drivers.
    Parity,
    /// Of recordings of real clients.
    Recordings,
    /// Of shards, whatever they are of; the document has a flag of its own.
    Merged,
}

/// What a file is made of, so that nothing is gathered that nobody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The document that is there at the end.
    Document,
    /// The figures of every run.
    Runs,
    /// The latencies of every run, which are kept for nobody else.
    Latencies,
    /// Every attempt, one run after the other.
    Attempts,
}

/// What all files of one program say of their runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// What is varied from run to run; empty where nothing is.
    pub(crate) varied: Vec<String>,
    /// Where the document has its runs.
    pub(crate) runs: RunsStand,
}

/// Where a document has its runs. But in the first case nobody keeps them, and the document that is there at the end lacks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RunsStand {
    /// Wherever it says: there are few, or none.
    #[default]
    InDocument,
    /// Before all else, in the order in which they come: each is written as soon as it is there.
    First,
    /// After all else, by strategy.
    Last,
}

impl Layout {
    /// Where a run stands among others: what is varied, with the values of this run.
    pub(crate) fn at(&self, values: &[String]) -> At {
        results::at(self.varied.iter().map(String::as_str).zip(values.iter().map(String::as_str)))
    }
}

/// A run that is over.
pub(crate) struct ExportedRun<'a> {
    pub(crate) result: &'a RunResult,
    /// The values of what is varied.
    pub(crate) at: &'a [String],
}

/// A run that is over, when it is its turn.
pub(crate) struct TakenRun<'a> {
    /// Which of the strategies by which runs are ordered in the end.
    pub(crate) strategy: usize,
    pub(crate) finished: &'a Finished,
    /// What the format says of it.
    pub(crate) text: &'a [u8],
}

/// Takes attempts while runs go on, perhaps side by side.
pub(crate) trait Attempts: Send + Sync {
    /// Takes those of the run with this seed, which is about to begin.
    fn of(&self, seed: u64) -> SampleSink;

    /// How long whoever brought attempts had to wait since this was last asked, in real time.
    fn held_up(&self) -> Duration;
}

/// A file that is being written.
///
/// Runs come in the order in which files show them. After an error it hears no more, and its file does not get its name.
pub(crate) trait Exporter: Send {
    /// Opens what is written while runs go on: they are about to begin, and everything was agreed to.
    fn begin(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    /// Who takes attempts, if anybody does.
    fn attempts(&self) -> Option<Box<dyn Attempts>> {
        None
    }

    /// Takes a run.
    fn on_run(&mut self, _run: &TakenRun<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// Writes what remains, and gives the file its name. `document` is JSON; empty for who is not made of it.
    fn finish(self: Box<Self>, document: &str) -> anyhow::Result<()>;
}
