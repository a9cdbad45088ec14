//! HTML page of a recommendation: the answer, and one picture of all settings on all servers.

mod picture;
mod rows;
mod tables;
#[cfg(test)]
mod tests;

use crate::recommendation::{Decision, Recommendation};
use maud::{Markup, PreEscaped, html};
use results::numbers::{counted, thousands};

use dashboards::report::head;
use dashboards::report::visible;
use rows::rows;

const STYLE: &str = include_str!("page/style.css");

const AGAIN: &str = "Again";

/// Returns the page. `lines` are labels and words of the answer, and `settings` the text of the library's settings, if any.
pub(crate) fn page(document: &Recommendation, lines: &[(&str, String)], settings: Option<&str>) -> String {
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
                    @if let Some(settings) = settings {
                        section {
                            h2 { "Settings of the library" }
                            pre { (settings) }
                        }
                    }
                    section class="search" {
                        h2 { "Settings tried" }
                        div class="exhibit" {
                            (picture::picture(document, &rows))
                            div { (tables::settings(document, &rows)) (tables::servers(document)) }
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
    let count = |number: usize, one: &str| counted(number as u64, one);
    let mut sentences = vec![
        "All figures are from virtual time, not from a real server.".to_owned(),
        format!(
            "The search tried {} on {}, with {} attempts.",
            count(document.candidates.len(), "setting"),
            count(document.servers.len(), "server"),
            thousands(document.search_attempts),
        ),
    ];
    if !document.assumptions.is_empty() {
        sentences.push(format!(
            "The answer was then checked on {} that the search had not used, with {} each.",
            count(document.fresh.servers.len(), "server"),
            counted(document.fresh.seeds.into(), "seed"),
        ));
    }
    let left_out = [(document.left_out.servers, "server"), (document.left_out.candidates, "setting")];
    let left_out = left_out.iter().filter(|(number, _)| *number > 0);
    let left_out: Vec<String> = left_out.map(|(number, one)| count(*number, one)).collect();
    if !left_out.is_empty() {
        let what = left_out.join(" and ");
        sentences.push(format!("The search left out {what}, because it is limited to 6 million attempts."));
    }
    sentences.join(" ")
}
