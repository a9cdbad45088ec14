//! Table of failed attempts by the status of the response, or by the error that prevented a response.

use std::collections::BTreeMap;

use loadgen_core::FailureResult;
use maud::{Markup, html};

use crate::report::document::Document;
use crate::report::number::number;

const MOST: usize = 20;

/// Returns a table of the failed attempts of every strategy. The markup is empty if no attempt failed, or if the
/// results are too old to record failures.
pub(super) fn table(document: &Document) -> Markup {
    let failed = document.strategies.iter().flat_map(|strategy| {
        let results = strategy.runs.iter().filter_map(|run| run.result.as_ref());
        let failed = counted(results.flat_map(|result| &result.failures));
        failed.into_iter().take(MOST).map(|(what, attempts)| (&strategy.label, what, attempts))
    });
    let failed: Vec<_> = failed.collect();
    html! {
        @if !failed.is_empty() {
            h2 { "What failed" }
            div class="scroll" {
                table {
                    thead { tr { th { "strategy" } th { "status or error" } th { "attempts" } } }
                    tbody {
                        @for (label, what, attempts) in failed {
                            tr { td { code { (label) } } td { (what) } td { (number(attempts)) } }
                        }
                    }
                }
            }
        }
    }
}

fn counted<'a>(failures: impl Iterator<Item = &'a FailureResult>) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for failure in failures {
        let status = failure.status.map(|status| status.to_string());
        let what = status.or_else(|| Some(failure.kind?.to_string()));
        if let Some(what) = what {
            *counts.entry(what).or_default() += failure.attempts as f64;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Failures with neither are left out.
    #[test]
    fn failures_are_summed_by_status_and_kind_over_all_runs() {
        let runs = [
            r#"[{ "status": 404, "kind": null, "attempts": 3 }, { "attempts": 7 }]"#,
            r#"[{ "status": null, "kind": "long-headers", "attempts": 5 }]"#,
            r#"[{ "status": 404, "kind": null, "attempts": 4 }]"#,
            "[]",
        ];
        let failures: Vec<FailureResult> =
            runs.iter().flat_map(|run| results::read::<Vec<FailureResult>>(run).unwrap()).collect();
        let expected = [("404".to_owned(), 7.0), ("long-headers".to_owned(), 5.0)];
        assert_eq!(counted(failures.iter()), expected);
    }
}
