//! `--samples FILE`: every attempt as a line of JSON, streamed to a file during runs.

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loadgen_core::{Sample, SampleSink};
use results::SampleLine;

use crate::files::exporter::{Attempts, Exporter, Format, Results, Source};
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

struct Samples {
    output: Output,
    writer: Arc<Mutex<Writer>>,
}

const BUFFER_BYTES: usize = 64 << 10;

#[derive(Default)]
struct Writer {
    file: Option<BufWriter<Timed>>,
    error: Option<io::Error>,
}

impl Samples {
    fn new(output: Output) -> Self {
        Self { output, writer: Arc::default() }
    }
}

impl Exporter for Samples {
    fn begin(&mut self) -> anyhow::Result<()> {
        let timed = Timed { opened: self.output.open()?, taken: Duration::ZERO };
        lock(&self.writer).file = Some(BufWriter::with_capacity(BUFFER_BYTES, timed));
        Ok(())
    }

    fn attempts(&self) -> Option<Box<dyn Attempts>> {
        Some(Box::new(self.writer.clone()))
    }

    fn finish(self: Box<Self>, _document: &str) -> anyhow::Result<()> {
        let Writer { file, error } = std::mem::take(&mut *lock(&self.writer));
        let Some(file) = file else { return Ok(()) };
        let written = match error {
            Some(error) => Err(error),
            None => file.into_inner().map(|timed| timed.opened).map_err(io::IntoInnerError::into_error),
        };
        self.output.complete(written)
    }
}

impl Attempts for Arc<Mutex<Writer>> {
    fn of(&self, seed: u64) -> SampleSink {
        let writer = self.clone();
        // No sample is dropped. Instead, the run waits while the reader of the file is slow.
        Box::new(move |sample| {
            let Writer { file, error } = &mut *lock(&writer);
            if error.is_none()
                && let Some(file) = file
            {
                *error = write(file, seed, sample).err();
            }
        })
    }

    fn held_up(&self) -> Duration {
        let mut writer = lock(self);
        writer.file.as_mut().map_or(Duration::ZERO, |file| std::mem::take(&mut file.get_mut().taken))
    }
}

struct Timed {
    opened: Opened,
    taken: Duration,
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let begun = Instant::now();
        let written = self.opened.write(bytes);
        self.taken += begun.elapsed();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.opened.flush()
    }
}

fn lock(writer: &Mutex<Writer>) -> MutexGuard<'_, Writer> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(file: &mut impl Write, seed: u64, sample: &Sample) -> io::Result<()> {
    serde_json::to_writer(&mut *file, &SampleLine::new(seed, sample))?;
    file.write_all(b"\n")
}
