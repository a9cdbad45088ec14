//! Plots requested by scenarios. The report shows each plot beside the statement of the scenario's source, and beside
//! the claims to which the plot belongs.

use std::collections::BTreeSet;

use maud::{Markup, html};
use results::{Claim, ClaimVerdict};

use super::plot;
use super::table::condition;
use crate::report::named::plots_for;
use crate::report::scenario_plot::ScenarioPlot;
use crate::report::{Document, Plot, Scenario, Series, Shape, number};

/// Maximum number of positions on the x axis of a plot whose values are also listed in a table. With more positions,
/// the plot is easier to read than the table.
const FEW: usize = 12;

const VERDICTS: [&str; 4] = ["holds", "holds partly", "does not hold", "too few runs"];

pub(super) fn overview(document: &Document) -> Markup {
    if plotted(document).next().is_none() {
        return html! {};
    }
    html! {
        div class="scroll" {
            table {
                thead {
                    tr {
                        th { "scenario" } th { "claims" }
                        @for verdict in VERDICTS { th { (verdict) } }
                        th { "not as expected" }
                    }
                }
                tbody { @for (index, scenario) in plotted(document).enumerate() { (counts(index, scenario)) } }
            }
        }
    }
}

fn counts(index: usize, scenario: &Scenario) -> Markup {
    let sources = || scenario.claims.iter().filter(|claim| !claim.ours_alone);
    html! {
        tr {
            td {
                a href={ "#scenario-" (index) } { (scenario.name) }
                " " small { (scenario.title) }
            }
            td { (sources().count()) }
            @for verdict in VERDICTS { td { (sources().filter(|claim| claim.verdict.words() == verdict).count()) } }
            td { (sources().filter(|claim| claim.as_expected == Some(false)).count()) }
        }
    }
}

pub(super) fn exhibits(document: &Document) -> Markup {
    html! { @for (index, scenario) in plotted(document).enumerate() { (section(index, scenario)) } }
}

fn plotted(document: &Document) -> impl Iterator<Item = &Scenario> {
    document.scenarios.iter().filter(|scenario| !scenario.exhibits.is_empty())
}

fn section(index: usize, scenario: &Scenario) -> Markup {
    let title = if scenario.title.is_empty() { &scenario.name } else { &scenario.title };
    let shown: BTreeSet<usize> =
        scenario.exhibits.iter().flat_map(|exhibit| exhibit.plot.claims.iter().copied()).collect();
    let others: Vec<usize> = (0..scenario.claims.len()).filter(|claim| !shown.contains(claim)).collect();
    html! {
        section class="exhibits" id={ "scenario-" (index) } {
            h2 { (title) }
            p class="note" { (scenario.source) }
            p class="about" { (scenario.about) }
            @for shown in &scenario.exhibits { (exhibit(shown, scenario)) }
            @if !others.is_empty() {
                div class="exhibit rest" { h3 { "Claims that no figure shows" } (claims(&others, scenario)) }
            }
        }
    }
}

fn exhibit(exhibit: &ScenarioPlot, scenario: &Scenario) -> Markup {
    let plots = plots_for(exhibit);
    let exhibit = &exhibit.plot;
    let class = if plots.len() > 1 { "exhibit several" } else { "exhibit" };
    html! {
        div class=(class) data-plot=(exhibit.name) {
            @if plots.len() != 1 { h3 { (exhibit.title) } }
            div class="drawn" {
                @for drawn in &plots { (plot::beside(&exhibit.draw, drawn, &[])) }
                @if plots.is_empty() {
                    p class="note" { "Nothing is drawn, because the runs lack the data for this plot." }
                }
            }
            div class="said" {
                @if !exhibit.shows.is_empty() { p class="shows" { b { "The source says:" } " " (exhibit.shows) } }
                @if !exhibit.note.is_empty() { p class="note" { (exhibit.note) } }
                (claims(&exhibit.claims, scenario))
                @for drawn in &plots { (values(drawn)) }
            }
        }
    }
}

fn claims(numbers: &[usize], scenario: &Scenario) -> Markup {
    let claims: Vec<&Claim> = numbers.iter().filter_map(|index| scenario.claims.get(*index)).collect();
    html! { @if !claims.is_empty() { ul class="claims" { @for shown in claims { (claim(shown)) } } } }
}

fn claim(claim: &Claim) -> Markup {
    let class = if claim.verdict == ClaimVerdict::Holds { "verdict" } else { "verdict other" };
    let grounds = [("published", claim.published.clone()), ("tested:", condition(claim))];
    html! {
        li {
            span class=(class) { (claim.verdict.words()) }
            " " (claim.says)
            @if claim.ours_alone { " " em { "(ours, not the source’s)" } }
            @if claim.as_expected == Some(false) { " " strong { "(not as expected)" } }
            small {
                @for (what, text) in grounds {
                    @if !["", "-"].contains(&text.as_str()) { (what) " " (text) "; " }
                }
                "here " (claim.ours)
                @if !claim.note.is_empty() { ". " (claim.note) }
            }
        }
    }
}

fn values(plot: &Plot) -> Markup {
    let points = plot.points();
    let mut places: Vec<f64> = points.map(|(x, _)| *x).filter(|x| x.is_finite()).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let lines = plot.series.iter().all(|series| !matches!(series.shape, Shape::Events | Shape::Marks));
    if !lines || places.is_empty() || places.len() > FEW {
        return html! {};
    }
    html! {
        details {
            summary { "values" }
            div class="scroll" {
                table {
                    thead {
                        tr { th { (plot.x.caption()) } @for series in &plot.series { th { (series.label) } } }
                    }
                    tbody { @for place in places { (row(plot, place)) } }
                }
            }
        }
    }
}

fn row(plot: &Plot, place: f64) -> Markup {
    let name = plot.x.name_at(place).unwrap_or_else(|| number(place));
    let at = |series: &Series| {
        let at = series.points.iter().find(|(x, _)| x.total_cmp(&place).is_eq());
        at.map_or_else(|| "–".to_owned(), |(_, y)| number(*y))
    };
    html! { tr { td { (name) } @for series in &plot.series { td { (at(series)) } } } }
}
