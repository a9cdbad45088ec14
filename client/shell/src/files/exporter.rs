//! Output formats: the command-line flag of each format, and the function that writes its file.

use std::io::{self, Write};
use std::sync::Arc;

use experiments::runs::one_run::KeptLatencies;
use results::Document;

#[derive(Debug)]
pub struct Format {
    pub flag: &'static str,
    /// Help text of the flag per kind of result; `None` for kinds of result that cannot be written in this format.
    pub help: fn(Results) -> Option<&'static str>,
    /// Function that writes the whole file after the last run. `None` for attempts, which are written during the runs, and never to stdout.
    pub write: Option<WriteFile>,
}

pub type WriteFile = fn(&Exported, &mut dyn Write) -> io::Result<()>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    Run,
    Comparison,
    Sweep,
    Reproduction,
    Recordings,
    /// Result of `loadgen merge`, whichever command the shards belong to. The path of the merged document is given by a separate flag.
    Merged,
}

/// Content of output files.
pub struct Exported {
    pub document: Document,
    /// Op latencies of the runs of the document, in its order. Empty unless a format needs them.
    pub latencies: Vec<Arc<KeptLatencies>>,
}
