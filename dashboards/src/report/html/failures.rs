//! What failed: attempts by the status of their answer, or by what kept them from one.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use crate::report::document::Document;
use crate::report::number::number;

/// The most rows of a strategy.
const MOST: usize = 20;

/// A table of what failed with every strategy; nothing when nothing did, or results are too old to tell.
pub(super) fn table(document: &Document) -> Markup {
    let failed = document.strategies.iter().flat_map(|strategy| {
        let failed = counted(strategy.runs.iter().map(|run| &run.raw)).into_iter().take(MOST);
        failed.map(|(what, attempts)| (&strategy.label, what, attempts))
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

/// Failed attempts of all runs together, the most frequent first.
fn counted<'a>(runs: impl Iterator<Item = &'a Value>) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for failure in runs.filter_map(|run| run.get("failures")?.as_array()).flatten() {
        let kind = failure["kind"].as_str().map(ToOwned::to_owned);
        let what = failure["status"].as_u64().map(|status| status.to_string()).or(kind);
        if let (Some(what), Some(attempts)) = (what, failure["attempts"].as_f64()) {
            *counts.entry(what).or_default() += attempts;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn failures_of_all_runs_are_added_by_status_and_kind_and_nonsense_is_left_out() {
        let runs = [
            json!({ "failures": [{ "status": 404, "kind": null, "attempts": 3 }, { "attempts": 7 }] }),
            json!({ "failures": [{ "status": null, "kind": "refused", "attempts": 5 }, 1] }),
            json!({ "failures": [{ "status": 404, "kind": null, "attempts": 4 }] }),
            json!({ "failures": "many" }),
            json!({}),
        ];
        let told = counted(runs.iter());
        assert_eq!(told, [("404".to_owned(), 7.0), ("refused".to_owned(), 5.0)]);
    }
}
