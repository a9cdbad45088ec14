//! The report: one HTML file that needs nothing else. First the answer and the table, then the plots, then everything
//! needed to repeat it and the data.
//!
//! Whatever is put into markup is escaped by `maud`; what is markup already says so by its type.

mod answer;
mod data;
mod exhibits;
mod failures;
mod joined;
mod measured;
mod plot;
mod repeat;
mod swept;
mod table;

use maud::{Markup, PreEscaped, html};

use super::document::Document;
use super::escaping::visible;
use super::named::drawn;
use super::palette;
use super::registry::PLOTS;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// SHA-256 of the script: no other script may run. A test of the program checks it.
const SCRIPT_HASH: &str = "sha256-7IrB3CWG/NAe6rzM0PSpJSepm+fd2eQaJdZw/ta2wXs=";

/// The whole report.
pub fn html(document: &Document) -> String {
    let answer = answer::answer(document);
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'"
    );
    let report = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (answer::title(document)) }
                style { "\n" (PreEscaped(palette::CSS)) (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header {
                        p class="kind" { "Tailback report" }
                        h1 { (answer) }
                        (measured::measured(document))
                        (swept::measured(document))
                    }
                    (exhibits::overview(document))
                    (table::tables(document))
                    (plots(document))
                    (exhibits::exhibits(document))
                    (repeat::repeat(document))
                    (data::data(document))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    visible(&report.into_string())
}

/// All that the registry draws of the document.
fn plots(document: &Document) -> Markup {
    let drawn = PLOTS.iter().map(|entry| (entry.name, drawn(entry, document)));
    let drawn: Vec<_> = drawn.filter(|(_, plots)| !plots.is_empty()).collect();
    html! {
        @if !drawn.is_empty() {
            section class="pictures" {
                h2 { "Pictures" }
                div { @for (name, plot) in drawn.iter().flat_map(|(name, plots)| plots.iter().map(move |plot| (name, plot))) { (plot::plot(name, plot)) } }
            }
        }
    }
}
