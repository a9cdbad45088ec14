//! Every attempt as a line of JSON, streamed to a file while runs go on.

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loadgen_core::Sample;
use results::SampleLine;

use crate::files::exporter::{AttemptsOf, Exporter, Format, Results, Source};
use crate::files::output::{Opened, Output};

pub(super) const FORMAT: Format = Format {
    flag: "--samples",
    help: |results| match results {
        Results::Run => Some("Write every attempt to a file, one JSON object a line, while runs go on"),
        _ => None,
    },
    from: Source::Attempts,
    to_stdout: false,
    text: None,
    exporter: |output, _| Box::new(Samples::new(output)),
};

/// The file that samples go to; it gets its name when all are written.
struct Samples {
    output: Output,
    writer: Arc<Mutex<Writer>>,
}

#[derive(Default)]
struct Writer {
    /// There once runs are about to begin.
    file: Option<BufWriter<Opened>>,
    /// The first thing that went wrong; nothing is written after it.
    error: Option<io::Error>,
}

impl Samples {
    fn new(output: Output) -> Self {
        Self { output, writer: Arc::default() }
    }
}

impl Exporter for Samples {
    fn begin(&mut self) -> anyhow::Result<()> {
        lock(&self.writer).file = Some(BufWriter::new(self.output.open()?));
        Ok(())
    }

    fn attempts(&self) -> Option<AttemptsOf> {
        let writer = self.writer.clone();
        Some(Box::new(move |seed| {
            let writer = writer.clone();
            Box::new(move |sample| {
                let Writer { file, error } = &mut *lock(&writer);
                if error.is_none()
                    && let Some(file) = file
                {
                    *error = write(file, seed, sample).err();
                }
            })
        }))
    }

    fn finish(self: Box<Self>, _document: &str) -> anyhow::Result<()> {
        let Writer { file, error } = std::mem::take(&mut *lock(&self.writer));
        let Some(file) = file else { return Ok(()) };
        let written = match error {
            Some(error) => Err(error),
            None => file.into_inner().map_err(io::IntoInnerError::into_error),
        };
        self.output.complete(written)
    }
}

fn lock(writer: &Mutex<Writer>) -> MutexGuard<'_, Writer> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(file: &mut impl Write, seed: u64, sample: &Sample) -> io::Result<()> {
    serde_json::to_writer(&mut *file, &SampleLine::new(seed, sample))?;
    file.write_all(b"\n")
}
