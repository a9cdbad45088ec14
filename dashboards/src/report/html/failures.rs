//! What failed: attempts by the status of their answer, or by what kept them from one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::report::document::Document;
use crate::report::escaping::escaped;
use crate::report::number::number;

/// The most rows of a strategy.
const MOST: usize = 20;

/// A table of what failed with every strategy; nothing when nothing did, or results are too old to tell.
pub(super) fn table(document: &Document) -> String {
    let mut rows = String::new();
    for strategy in &document.strategies {
        for (what, attempts) in counted(strategy.runs.iter().map(|run| &run.raw)).into_iter().take(MOST) {
            let (label, what) = (escaped(&strategy.label), escaped(&what));
            let _ = writeln!(
                rows,
                "<tr><td><code>{label}</code></td><td>{what}</td><td>{}</td></tr>",
                number(attempts)
            );
        }
    }
    if rows.is_empty() {
        return rows;
    }
    let head = "<tr><th>strategy</th><th>status or error</th><th>attempts</th></tr>";
    format!(
        "<h2>What failed</h2>\n<div class=\"scroll\"><table>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
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
