//! Serialised runs of all shards during a merge. They are kept in a temporary file, so that few runs are in memory at a time.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, ensure};
use experiments::runs::stored::Stored;
use results::TaskRecord;

use crate::files::spool::Spool;

/// Position in bytes of a serialised run in the spool of a merge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpoolRange {
    from: u64,
    length: usize,
}

#[derive(Default)]
pub(crate) struct Texts(Spool);

impl Texts {
    pub(crate) fn keep(&mut self, text: &str) -> anyhow::Result<SpoolRange> {
        let place = SpoolRange { from: self.0.length(), length: text.len() };
        self.0
            .write_all(text.as_bytes())
            .context("the runs cannot be written to a temporary file while they are merged")?;
        Ok(place)
    }

    pub(crate) fn stored(self, places: BTreeMap<u64, SpoolRange>) -> Stored {
        let texts = Mutex::new(self.0);
        Stored::new(Box::new(move |number| {
            let Some(SpoolRange { from, length }) = places.get(&number) else { return Ok(None) };
            let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
            let text =
                texts.piece(*from, *length).context("the temporary file with the runs cannot be read")?;
            drop(texts);
            let record = TaskRecord::read(std::str::from_utf8(&text)?)?;
            ensure!(record.task == number, "the temporary file with the runs is damaged; this is a bug");
            Ok(Some(record))
        }))
    }
}
