//! `--samples FILE`: every attempt as a line of JSON, streamed to a file during runs.

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loadgen_core::{Sample, SampleSink};
use results::SampleLine;

use crate::files::exporter::{Format, Results};
use crate::files::output::Opened;
use crate::{Output, locked};

pub(super) const FORMAT: Format = Format {
    flag: "--samples",
    help: |results| match results {
        Results::Run => Some("Write every attempt to a file, one JSON object a line, while runs go on"),
        _ => None,
    },
    write: None,
};

pub struct SamplesFile {
    output: Output,
    samples: Samples,
}

/// Writer of attempts while runs are in progress. Several runs may be in progress at once.
#[derive(Clone, Default)]
pub struct Samples(Arc<Mutex<Writer>>);

const BUFFER_BYTES: usize = 64 << 10;

#[derive(Default)]
struct Writer {
    file: Option<BufWriter<Timed>>,
    error: Option<io::Error>,
}

impl SamplesFile {
    pub fn new(output: Output) -> Self {
        Self { output, samples: Samples::default() }
    }

    pub fn begin(&self) -> anyhow::Result<()> {
        let timed = Timed { opened: self.output.open()?, taken: Duration::ZERO };
        locked(&self.samples.0).file = Some(BufWriter::with_capacity(BUFFER_BYTES, timed));
        Ok(())
    }

    pub fn samples(&self) -> Samples {
        self.samples.clone()
    }

    pub fn finish(self) -> anyhow::Result<()> {
        let Writer { file, error } = std::mem::take(&mut *locked(&self.samples.0));
        let Some(file) = file else { return Ok(()) };
        let written = match error {
            Some(error) => Err(error),
            None => file.into_inner().map(|timed| timed.opened).map_err(io::IntoInnerError::into_error),
        };
        self.output.complete(written)
    }
}

impl Samples {
    pub fn of(&self, seed: u64) -> SampleSink {
        let samples = self.clone();
        // No sample is dropped. Instead, the run waits while the reader of the file is slow.
        Box::new(move |sample| {
            let Writer { file, error } = &mut *locked(&samples.0);
            if error.is_none()
                && let Some(file) = file
            {
                *error = write(file, seed, sample).err();
            }
        })
    }

    /// Returns the real time for which the senders of attempts were blocked since the last call of this method.
    pub fn held_up(&self) -> Duration {
        let mut writer = locked(&self.0);
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

fn write(file: &mut impl Write, seed: u64, sample: &Sample) -> io::Result<()> {
    serde_json::to_writer(&mut *file, &SampleLine::new(seed, sample))?;
    file.write_all(b"\n")
}
