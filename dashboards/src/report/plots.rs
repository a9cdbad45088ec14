//! Plots of result documents. Each submodule has the plots that answer one question.

pub(super) mod calls;
pub(super) mod clients;
pub(super) mod cost;
pub(super) mod delays;
mod gauges;
pub(super) mod latency;
pub(super) mod over_time;
pub(super) mod service;
pub(super) mod share;
pub(super) mod summary;
pub(super) mod varied;
pub(super) mod window;

use super::{Document, LOOKS, Strategy};

/// Returns the strategies that a plot shows, each with the index of its look (colour, dash pattern, marker). The number
/// of strategies is limited, because more strategies than looks could not be distinguished.
fn drawn(document: &Document) -> impl Iterator<Item = (usize, &Strategy)> + Clone {
    document.strategies.iter().enumerate().take(LOOKS)
}

/// Returns the labels of the drawn strategies that left ops undone.
fn incomplete(document: &Document) -> Vec<&str> {
    let incomplete = drawn(document).filter(|(_, strategy)| !strategy.complete());
    incomplete.map(|(_, strategy)| strategy.label.as_str()).collect()
}

fn note(document: &Document) -> String {
    let mut parts = Vec::new();
    let most = drawn(document).map(|(_, strategy)| strategy.runs.len()).max().unwrap_or(0);
    if most > 1 {
        parts.push("line: the run with the median makespan".to_owned());
    }
    if most >= 5 {
        parts.push("band: 5th to 95th percentile of all runs".to_owned());
    }
    let all = document.strategies.len();
    if all > LOOKS {
        parts.push(format!("the first {LOOKS} of {all} strategies"));
    }
    parts.join("; ")
}

pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
