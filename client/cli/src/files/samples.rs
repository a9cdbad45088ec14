//! Every attempt as a line of JSON, streamed to a file while runs go on.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use loadgen_core::{Cause, Sample, SampleSink};
use serde_json::json;
use tailback::{Failure, Status};

use crate::exit::{Exit, Fatal};
use crate::files::output::Output;

/// The file that samples go to; it gets its name when all are written.
pub(crate) struct Samples {
    output: Output,
    writer: Arc<Mutex<Writer>>,
}

struct Writer {
    file: BufWriter<File>,
    /// The first thing that went wrong; nothing is written after it.
    error: Option<io::Error>,
}

impl Samples {
    /// Opens the file under a temporary name.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Err(Fatal::error(
                Exit::Usage,
                "`--samples` needs a file; stdout is for the summary or `--json -`",
            ));
        }
        let output = Output::prepare(path, "--samples")?;
        let file = BufWriter::new(output.open()?);
        Ok(Self { output, writer: Arc::new(Mutex::new(Writer { file, error: None })) })
    }

    /// Takes the attempts of the run with this seed.
    pub(crate) fn sink(&self, seed: u64) -> SampleSink {
        let writer = self.writer.clone();
        Box::new(move |sample| {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            if writer.error.is_none()
                && let Err(error) = write(&mut writer.file, seed, sample)
            {
                writer.error = Some(error);
            }
        })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When something could not be written.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match writer.error.take() {
            Some(error) => Err(error),
            None => writer.file.flush().and_then(|()| writer.file.get_ref().try_clone()),
        };
        self.output.complete(written)
    }
}

fn write(file: &mut impl Write, seed: u64, sample: &Sample) -> io::Result<()> {
    let (status, kind) = match sample.cause {
        Some(Cause::Status(status)) => (Some(status), None),
        Some(Cause::Error(kind)) => (None, Some(kind)),
        None => (None, None),
    };
    let line = json!({
        "seed": seed,
        "serial": sample.serial,
        "op": sample.op,
        "attempt": sample.attempt,
        "client": sample.client,
        "arrived_s": sample.arrived.as_secs_f64(),
        "due_s": sample.due.as_secs_f64(),
        "sent_s": sample.sent.as_secs_f64(),
        "ended_s": sample.ended.as_secs_f64(),
        "outcome": outcome(sample.status),
        "status": status,
        "kind": kind,
        "by_gateway": sample.by_gateway,
        "window": sample.window,
    });
    serde_json::to_writer(&mut *file, &line)?;
    file.write_all(b"\n")
}

fn outcome(status: Status) -> &'static str {
    match status {
        Status::Succeeded => "succeeded",
        Status::Rejected => "rejected",
        Status::Failed(Failure::Timeout) => "timed out",
        Status::Failed(Failure::Transport) => "no answer",
        Status::Failed(Failure::Server) => "server error",
        Status::Failed(Failure::Fatal) => "refused for good",
        Status::Shed => "shed",
        Status::Deferred => "deferred",
        Status::Cancelled => "withdrawn",
    }
}
