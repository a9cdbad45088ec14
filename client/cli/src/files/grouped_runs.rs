//! Serialised runs, which are written grouped by strategy, although they arrive in any order. Also determines the position of the runs in
//! the result document.

use std::io::{self, Write};

use anyhow::Context as _;

use crate::files::exporter::RunsStand;
use crate::files::spool::Spool;

#[derive(Default)]
pub(super) struct GroupedRuns {
    by_strategy: Vec<Spool>,
    between: &'static [u8],
}

impl GroupedRuns {
    pub(super) fn new(between: &'static [u8]) -> Self {
        Self { by_strategy: Vec::new(), between }
    }

    pub(super) fn push(&mut self, strategy: usize, text: &[u8]) -> io::Result<()> {
        if self.by_strategy.len() <= strategy {
            self.by_strategy.resize_with(strategy + 1, Spool::default);
        }
        let spool = &mut self.by_strategy[strategy];
        if !spool.is_empty() {
            spool.write_all(self.between)?;
        }
        spool.write_all(text)
    }

    pub(super) fn copy_to(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let mut any = false;
        for spool in self.by_strategy.iter_mut().filter(|spool| !spool.is_empty()) {
            if std::mem::replace(&mut any, true) {
                to.write_all(self.between)?;
            }
            spool.copy_to(to)?;
        }
        Ok(())
    }
}

/// Start of a result document in which the runs come first. It is written before the rest of the document is known.
pub(super) const RUNS: &str = "{\"runs\":[";

/// Place of the runs in a document in which they come last but for the shard.
const LAST: &str = "\"runs\":[]";

/// Splits a serialised document that contains no runs at the position where the runs belong. Returns the part before this position and the
/// part after it.
pub(super) fn around(document: &str, runs: RunsStand) -> anyhow::Result<(&str, &str)> {
    let parts = match runs {
        RunsStand::First => document.strip_prefix(RUNS).map(|rest| (RUNS, rest)),
        RunsStand::Last => document.rfind(LAST).map(|at| document.split_at(at + LAST.len() - 1)),
        RunsStand::InDocument => Some((document, "")),
    };
    parts.context("the document contains no runs here; this is a bug")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_grouped_by_strategy_in_any_order_of_arrival() {
        let mut gathered = GroupedRuns::new(b",");
        for (strategy, text) in [(2, "c1"), (0, "a1"), (2, "c2"), (0, "a2")] {
            gathered.push(strategy, text.as_bytes()).unwrap();
        }
        let mut text = Vec::new();
        gathered.copy_to(&mut text).unwrap();
        assert_eq!(text, b"a1,a2,c1,c2");
    }

    #[test]
    fn runs_only_go_into_a_document_that_leaves_them_room() {
        let parts = |document, runs| around(document, runs).map_err(|error| error.to_string());
        assert_eq!(parts("{\"runs\":[],\"schema\":1}\n", RunsStand::First), Ok((RUNS, "],\"schema\":1}\n")));
        assert_eq!(parts("{\"at\":1,\"runs\":[]}\n", RunsStand::Last), Ok(("{\"at\":1,\"runs\":[", "]}\n")));
        let of_shard = "{\"at\":1,\"runs\":[],\"shard\":{}}\n";
        assert_eq!(parts(of_shard, RunsStand::Last), Ok(("{\"at\":1,\"runs\":[", "],\"shard\":{}}\n")));
        assert!(parts("{\"at\":1,\"runs\":[]}\n", RunsStand::First).unwrap_err().contains("a bug"));
        assert!(parts("{\"z\":1}\n", RunsStand::Last).unwrap_err().contains("a bug"));
    }
}
