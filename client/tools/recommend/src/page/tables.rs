//! Tables of the settings that were tried, and of the servers that were assumed.

use crate::recommendation::Recommendation;
use maud::{Markup, html};
use results::numbers::{counted, percent};

use crate::page::rows::Row;

pub(super) fn settings(document: &Recommendation, rows: &[Row<'_>]) -> Markup {
    let undone = document.undone_word();
    html! {
        div class="scroll" {
            table {
                thead {
                    tr { th { "setting" } th { "worst" } th { "mean " (undone) } }
                }
                tbody { @for row in rows { (setting(row)) } }
            }
        }
        p class="note" {
            "Worst: the mark furthest right in the picture, in points. Mean: share of " (undone) " ops over the servers of the \
             search, which are chosen and not equally likely."
            @if rows.iter().any(|row| row.setting.worst_excess_points.is_none()) {
                " A dropped setting may be worse (≥) on the other servers, and its mean does not compare with the others."
            }
            @if rows.iter().any(|row| !row.setting.eligible && !row.setting.by_code) {
                " Settings with too many rejections exceed " code { "--max-rejected" } " on a server, so they cannot be chosen."
            }
        }
    }
}

fn setting(row: &Row<'_>) -> Markup {
    let marks = row.marks();
    html! {
        tr {
            td { (row.name()) @if !marks.is_empty() { small { (marks) } } }
            td { (row.worst_text()) }
            td { (row.mean_undone().map_or_else(|| "–".to_owned(), percent)) }
        }
    }
}

pub(super) fn servers(document: &Recommendation) -> Markup {
    html! {
        h3 { "Servers assumed" }
        @if !document.assumptions.is_empty() { (assumptions(document)) }
        p class="note" { (servers_of_search(document)) }
    }
}

fn assumptions(document: &Recommendation) -> Markup {
    html! {
        div class="scroll" {
            table class="points" {
                thead { tr { th { "figure" } th class="words" { "nominal" } th class="words" { "plausible" } } }
                tbody {
                    @for assumption in &document.assumptions {
                        tr {
                            td { (assumption.key) }
                            td class="words" { (assumption.nominal) }
                            td class="words" {
                                (assumption.plausible)
                                @if assumption.assumed { small { "assumed" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn servers_of_search(document: &Recommendation) -> String {
    if document.assumptions.is_empty() {
        return "Every figure of the server is taken as known, so the search used the nominal server alone."
            .to_owned();
    }
    let drawn = document.servers.iter().filter(|server| server.drawn).count();
    let ends = document.servers.len().saturating_sub(drawn + 1);
    let mut parts = vec!["the nominal one".to_owned()];
    if ends > 0 {
        parts.push(format!("{ends} with figures at the ends of their plausible values"));
    }
    if drawn > 0 {
        parts.push(format!("{drawn} drawn at random"));
    }
    let is_assumed = document.assumptions.iter().any(|assumption| assumption.assumed);
    format!(
        "{}: {}.{}",
        counted(document.servers.len() as u64, "server"),
        parts.join(", "),
        if is_assumed {
            " Assumed: no --unsure was given, so the figure was taken as uncertain."
        } else {
            ""
        },
    )
}
