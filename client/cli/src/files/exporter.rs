//! Output formats: the command-line flag of each format, and the trait that writes its file.

use std::time::Duration;

use experiments::runs::one_run::Finished;
use loadgen_core::SampleSink;
use results::{At, RunResult};

use crate::files::output::Output;

#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) flag: &'static str,
    /// Help text of the flag per kind of result; `None` for kinds of result that cannot be written in this format.
    pub(crate) help: fn(Results) -> Option<&'static str>,
    pub(crate) from: Source,
    /// True if `-` (stdout) is a valid path for this format. Output to stdout is written as a whole at the end.
    pub(crate) to_stdout: bool,
    /// Function that formats the part of the file that depends on one run only. It is called on the thread that executed the run. `None` if
    /// every part of the file depends on all runs.
    pub(crate) text: Option<TextOf>,
    pub(crate) exporter: fn(Output, &Layout) -> Box<dyn Exporter>,
}

pub(crate) type TextOf = fn(&ExportedRun<'_>, &Layout) -> anyhow::Result<Vec<u8>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    Run,
    Comparison,
    Sweep,
    Reproduction,
    Recordings,
    /// Result of `loadgen merge`, whichever command the shards belong to. The path of the merged document is given by a separate flag.
    Merged,
}

/// Kind of data from which an output file is made. Data that no output file needs is not collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Document,
    Runs,
    /// Latencies of the ops of every run, which are kept in memory only for formats with this source.
    Latencies,
    /// All attempts of all runs. Attempts of different runs never interleave in the file.
    Attempts,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) varied: Vec<String>,
    pub(crate) runs: RunsStand,
}

/// Position of the runs in a document. With `First` or `Last`, each run can be written at once, so that runs are not kept in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RunsStand {
    /// Runs are serialised together with the rest of the document, because there are few runs or none.
    #[default]
    InDocument,
    /// Runs are written before the rest of the document, in the order of completion. Each run is written as soon as it ends.
    First,
    /// Runs are written after the rest of the document, grouped by strategy.
    Last,
}

impl Layout {
    pub(crate) fn at(&self, values: &[String]) -> At {
        results::at(self.varied.iter().map(String::as_str).zip(values.iter().map(String::as_str)))
    }
}

pub(crate) struct ExportedRun<'a> {
    pub(crate) result: &'a RunResult,
    pub(crate) at: &'a [String],
}

pub(crate) struct TakenRun<'a> {
    pub(crate) strategy: usize,
    pub(crate) finished: &'a Finished,
    pub(crate) text: &'a [u8],
}

/// Receiver of attempts while runs are in progress. Several runs may be in progress at once.
pub(crate) trait Attempts: Send + Sync {
    fn of(&self, seed: u64) -> SampleSink;

    /// Returns the real time for which the senders of attempts were blocked since the last call of this method.
    fn held_up(&self) -> Duration;
}

/// Writer of one output file.
///
/// Receives runs in the order in which the file shows them. After an error no method is called again, and the file does not get its final
/// name.
pub(crate) trait Exporter: Send {
    /// Opens the files that are written during the runs. Called just before the first run begins, after all checks passed.
    fn begin(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn attempts(&self) -> Option<Box<dyn Attempts>> {
        None
    }

    fn on_run(&mut self, _run: &TakenRun<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// Writes the rest of the output file and gives the file its final name. `document` is the result as JSON. It is empty if the file's
    /// format is not made from the document.
    fn finish(self: Box<Self>, document: &str) -> anyhow::Result<()>;
}
