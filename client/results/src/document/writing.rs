//! Writing of documents as JSON.

use std::io;

use serde::{Serialize, Serializer, ser};

use crate::document::comparison::{Compared, Comparison};
use crate::document::merged::ShardRecord;
use crate::document::run::RunResult;
use crate::document::sweep::Swept;
use crate::document::{Document, sorted};

impl Document {
    /// Writes the document as JSON in one line. A single run and the runs of `--repeats` keep the order of the fields of their types, which
    /// is also the order in the documentation. Other documents have all keys in alphabetical order.
    ///
    /// # Errors
    /// Fails if the text cannot be written.
    pub fn write(&self, mut to: impl io::Write) -> io::Result<()> {
        fn each(runs: &[RunResult]) -> Vec<Sorted<'_, RunResult>> {
            runs.iter().map(Sorted).collect()
        }
        match self {
            Self::Run(_) | Self::Repeats(_) => serde_json::to_writer(&mut to, self)?,
            Self::Reproduction(reproduction) => serde_json::to_writer(&mut to, &Sorted(reproduction))?,
            Self::Comparison(Comparison { runs, comparison, shard }) => {
                let comparison = Some(Sorted(comparison));
                let shard = shard.as_ref().map(Sorted);
                serde_json::to_writer(
                    &mut to,
                    &InOrder { comparison, runs: each(runs), shard, sweep: None },
                )?;
            }
            Self::Sweep(swept) => {
                let (sweep, shard) = (Some(Sorted(&swept.sweep)), swept.shard.as_ref().map(Sorted));
                let runs = each(&swept.runs);
                serde_json::to_writer(&mut to, &InOrder { comparison: None, runs, shard, sweep })?;
            }
        }
        to.write_all(b"\n")
    }
}

/// Document whose keys are in alphabetical order. Its runs are sorted one by one, because there may be many.
#[derive(Serialize)]
struct InOrder<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Sorted<'a, Compared>>,
    runs: Vec<Sorted<'a, RunResult>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<Sorted<'a, ShardRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<Sorted<'a, Swept>>,
}

struct Sorted<'a, T>(&'a T);

impl<T: Serialize> Serialize for Sorted<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        sorted(self.0).map_err(ser::Error::custom)?.serialize(serializer)
    }
}
