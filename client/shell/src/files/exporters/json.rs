//! `--json FILE`: writes the result document as JSON in one line.

use crate::files::exporter::{Format, Results};

pub(super) const FORMAT: Format = Format {
    flag: "--json",
    help: |results| {
        Some(match results {
            Results::Merged => return None,
            Results::Run => "Write the result as JSON to a file, or to stdout (`-`)",
            Results::Recordings => "Write all verdicts as JSON to a file, or to stdout (`-`)",
            _ => "Write all figures as JSON to a file, or to stdout (`-`)",
        })
    },
    write: Some(|exported, to| exported.document.write(to)),
};
