//! The report as one HTML file that needs no other file. It starts with the answer and the table, followed by the
//! plots. Everything needed to repeat the runs, and the data, are at the end.
//!
//! `maud` escapes every text that is put into markup, except values whose type marks them as markup.

mod answer;
mod answers;
mod data;
mod measured;
mod plot;
mod repeat;
mod scenario_plots;
mod swept;
mod table;

use maud::{Markup, PreEscaped, html};

use super::escaping::visible;
use super::named::drawn;
use super::plots::window::windows;
use super::{Document, Entry, PLOTS, Plot, number, palette};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// SHA-256 hash of the report's script. The report allows no other script to run. A test of the program checks the
/// hash.
const SCRIPT_HASH: &str = "sha256-K+8S1Vw8RzJhHyH43Deq1Tp8SO86x8+td776rFxAyNc=";

pub fn html(document: &Document) -> String {
    let answer = answer::answer(document);
    let report = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            (head(&answer::title(document), &format!("script-src '{SCRIPT_HASH}'; "), ""))
            body {
                main {
                    header {
                        p class="kind" { "Tailback report" }
                        h1 { (answer) }
                        (answer::more(document))
                        (answer::incomplete(document))
                        (measured::measured(document))
                        (swept::measured(document))
                    }
                    (scenario_plots::overview(document))
                    (table::tables(document))
                    (answers::tables(document))
                    (plots(document))
                    (scenario_plots::exhibits(document))
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

/// Returns the head of a page. `scripts` is the part of the content security policy that allows scripts; empty if the
/// page has none. `style` is added to the style of all pages.
pub fn head(title: &str, scripts: &str, style: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; {scripts}base-uri 'none'; form-action 'none'"
    );
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="referrer" content="no-referrer";
            title { (title) }
            style { "\n" (PreEscaped(palette::CSS)) (PreEscaped(STYLE)) (PreEscaped(style)) }
        }
    }
}

/// Returns the plots of the registry in the order of the report. With several strategies, the plots of completion over
/// time and of cost come first. With one strategy, the plots of its window and latency come first.
fn plots(document: &Document) -> Markup {
    let strategies = document.strategies.as_slice();
    let is_single = strategies.len() == 1;
    let mut entries: Vec<&Entry> =
        PLOTS.iter().filter(|entry| !is_single || entry.name != "rate-log").collect();
    if is_single {
        entries.sort_by_key(|entry| !["window", "latency"].contains(&entry.name));
    }
    let mut pictures: Vec<Markup> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    for entry in entries {
        let plots = drawn(entry, document);
        let small = if is_single || entry.name != "window" { 0 } else { windows(document).len() };
        if small > 0 {
            pictures.push(plot::multiples(entry.name, &plots[..small]));
        }
        for plot in plots[small..].iter().filter(|plot| is_single || entry.name != "rate" || !is_flat(plot)) {
            match only_value(plot).filter(|_| !is_single) {
                Some(value) => left_out.push(format!("{} ({value})", plot.title)),
                None => pictures.push(plot::beside(entry.name, plot, strategies)),
            }
        }
    }
    html! {
        @if !pictures.is_empty() {
            section class="pictures" {
                h2 { "Pictures" }
                @if strategies.len() > 1 { (plot::shared_legend(strategies)) }
                div { @for picture in pictures { (picture) } }
                @if !left_out.is_empty() {
                    p class="note" { "Not drawn, because all strategies have one value: " (left_out.join(", ")) "." }
                }
            }
        }
    }
}

/// Returns the value of a plot in which all points of several series have the same value, in as many digits as the plot shows.
fn only_value(plot: &Plot) -> Option<String> {
    let mut values = plot.points().map(|(_, y)| number(*y));
    let first = values.next()?;
    let is_one = plot.series.len() > 1 && values.all(|value| value == first);
    is_one.then(|| format!("{first} {}", plot.y.unit).trim_end().to_owned())
}

/// Returns true if a few high values would compress most of the plot at the lower end of a linear axis.
fn is_flat(plot: &Plot) -> bool {
    const MAX_OVER_MEDIAN: f64 = 20.0;
    let points = plot.points();
    let mut values: Vec<f64> = points.map(|(_, y)| *y).filter(|y| *y > 0.0).collect();
    values.sort_by(f64::total_cmp);
    let median = values.get(values.len() / 2).copied();
    median.zip(values.last()).is_some_and(|(median, max)| *max > MAX_OVER_MEDIAN * median)
}
