//! Plots in the HTML report, with title, legend, drawing area and note.

use maud::{Markup, PreEscaped, html};

use crate::report::svg::{Size, area, swatch};
use crate::report::{LOOKS, Plot, Series, Strategy};

/// Returns a plot for a page with one legend for all plots. On screens, the plot's own legend leaves out the strategies
/// in `strategies`, because the shared legend already contains them.
pub(super) fn beside(name: &str, plot: &Plot, strategies: &[Strategy]) -> Markup {
    let is_shared = |series: &Series| {
        let strategy = strategies.get(series.look).filter(|_| series.look < LOOKS);
        strategy.is_some_and(|strategy| strategy.label == series.label)
    };
    html! {
        figure data-name=(name) {
            h3 { (plot.title) }
            ul class="legend" { @for series in &plot.series { (entry(series, is_shared(series))) } }
            (drawing(plot, Size::FULL))
            figcaption { (plot.note) }
        }
    }
}

pub(super) fn multiples(name: &str, plots: &[Plot]) -> Markup {
    let mut series: Vec<&Series> = Vec::new();
    for one in plots.iter().flat_map(|plot| &plot.series) {
        if series.iter().all(|other| other.label != one.label) {
            series.push(one);
        }
    }
    let title = plots.iter().map(|plot| parts(plot).0).max_by_key(|title| title.len()).unwrap_or_default();
    html! {
        div class="multiples" {
            h3 { (title) ", one axis" }
            ul class="legend" { @for series in series { (entry(series, false)) } }
            div {
                @for plot in plots {
                    figure data-name=(name) data-strategy=(parts(plot).1) {
                        h4 { (parts(plot).1) }
                        (drawing(plot, Size::SMALL))
                        figcaption { (plot.note) }
                    }
                }
            }
        }
    }
}

fn parts(plot: &Plot) -> (&str, &str) {
    plot.title.split_once(": ").unwrap_or((&plot.title, ""))
}

pub(super) fn shared_legend(strategies: &[Strategy]) -> Markup {
    html! {
        ul class="legend all" {
            @for (look, strategy) in strategies.iter().enumerate().take(LOOKS) {
                (entry(&Series::line(&strategy.label, look, Vec::new()), false))
            }
        }
    }
}

fn entry(series: &Series, is_shared: bool) -> Markup {
    html! {
        li class=[is_shared.then_some("shared")] {
            svg class="figure" viewBox="0 0 30 12" width="30" height="12" aria-hidden="true" {
                (PreEscaped(swatch(series)))
            }
            span { (series.label) }
        }
    }
}

fn drawing(plot: &Plot, size: Size) -> Markup {
    let area = area(plot, size);
    html! {
        svg class="figure plot" viewBox={ "0 0 " (size.width.to_string()) " " (size.height.to_string()) } role="img" aria-label=(plot.title)
            data-x=(area.x) data-y=(area.y) data-unit=(plot.x.unit) { (PreEscaped(area.drawn)) }
    }
}
