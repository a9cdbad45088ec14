//! HTML page of a recommendation: the answer, and one picture of all settings on all servers.

mod picture;
mod rows;

#[cfg(test)]
mod tests;

use dashboards::report::{head, visible};
use maud::{Markup, PreEscaped, html};
use results::numbers::{counted, percent, thousands};
use rows::rows;

use crate::page::rows::Row;
use crate::recommendation::{Decision, Recommendation};

const STYLE: &str = include_str!("page/style.css");

const AGAIN: &str = "Again";

/// Returns the page. `lines` are labels and words of the answer.
pub(crate) fn page(document: &Recommendation, lines: &[(&str, String)]) -> String {
    let rows = rows(document);
    let (first, others) = lines.split_at(lines.len().min(1));
    let whole = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            (head("Recommendation · Tailback", "", STYLE))
            body {
                main {
                    header {
                        p class="kind" { "Tailback recommendation" }
                        h1 { (heading(document, first)) }
                        (answer(others))
                    }
                    @if let Some(settings) = &document.library_settings {
                        section {
                            h2 { "Settings of the library" }
                            pre { (settings) }
                        }
                    }
                    section class="search" {
                        h2 { "Settings tried" }
                        div class="exhibit" {
                            (picture::picture(document, &rows))
                            div {
                                (settings_table(document, &rows))
                                h3 { "Servers assumed" }
                                @if !document.assumptions.is_empty() { (assumptions(document)) }
                                p class="note" { (servers_of_search(document)) }
                            }
                        }
                    }
                    p class="note" { (search(document)) }
                }
            }
        }
        "\n"
    };
    visible(&whole.into_string())
}

fn heading(document: &Recommendation, first: &[(&str, String)]) -> String {
    match (first, document.decision) {
        ([(label, words), ..], _) => format!("{label} {words}."),
        ([], Decision::Change) => "Change the setting.".to_owned(),
        ([], Decision::Keep) => "Keep today's setting.".to_owned(),
    }
}

/// Returns the lines as a list of labels. A line without a label belongs to the label before it.
fn answer(lines: &[(&str, String)]) -> Markup {
    let groups = lines.chunk_by(|_, (next, _)| next.is_empty());
    html! {
        dl {
            @for group in groups {
                dt { (group[0].0) }
                dd {
                    @for (_, words) in group {
                        @if group[0].0 == AGAIN { pre class="command" { (words) } } @else { div { (words) } }
                    }
                }
            }
        }
    }
}

fn search(document: &Recommendation) -> String {
    let mut sentences = vec![
        "All figures are from virtual time, not from a real server.".to_owned(),
        format!(
            "The search tried {} on {}, with {} attempts.",
            counted(document.candidates.len() as u64, "setting"),
            counted(document.servers.len() as u64, "server"),
            thousands(document.search_attempts),
        ),
    ];
    if !document.assumptions.is_empty() {
        sentences.push(format!(
            "The answer was then checked on {} that the search had not used, with {} each.",
            counted(document.fresh.servers.len() as u64, "server"),
            counted(document.fresh.seeds.into(), "seed"),
        ));
    }
    if let Some(what) = document.left_out.text() {
        sentences.push(format!("The search left out {what}, because it is limited to 6 million attempts."));
    }
    sentences.join(" ")
}

/// Tables of the settings that were tried, and of the servers that were assumed.
fn settings_table(document: &Recommendation, rows: &[Row<'_>]) -> Markup {
    let undone = document.undone_word();
    html! {
        div class="scroll" {
            table {
                thead {
                    tr { th { "setting" } th { "worst" } th { "mean " (undone) } }
                }
                tbody {
                    @for row in rows {
                        @let marks = row.marks();
                        tr {
                            td { (row.setting.name()) @if !marks.is_empty() { small { (marks) } } }
                            td { (row.worst_text()) }
                            td { (row.mean_undone().map_or_else(|| "–".to_owned(), percent)) }
                        }
                    }
                }
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
    let mut text = format!("{}: {}.", counted(document.servers.len() as u64, "server"), parts.join(", "));
    if document.assumptions.iter().any(|assumption| assumption.assumed) {
        text += " Assumed: no --unsure was given, so the figure was taken as uncertain.";
    }
    text
}
