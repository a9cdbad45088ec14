//! Lookup of plots by name. There are two kinds of plots: those in the registry, which show the whole document, and
//! those that a scenario requests.

use super::document::Document;
use super::experiment::Scenario;
use super::long_times::in_fitting_unit;
use super::plot::Plot;
use super::registry::Entry;
use super::scenario_plot::ScenarioPlot;

pub(super) fn plots_for(exhibit: &ScenarioPlot) -> Vec<Plot> {
    let Some(entry) = Entry::named(&exhibit.draws) else { return Vec::new() };
    let scenario =
        Scenario { cells: exhibit.cells.clone(), columns: exhibit.columns.clone(), ..Scenario::default() };
    let document =
        Document { strategies: exhibit.strategies.clone(), scenarios: vec![scenario], ..Document::default() };
    let mut plots = (entry.draw)(&document);
    for plot in &mut plots {
        exhibit.adjustments.apply(plot);
    }
    if let [only] = plots.as_mut_slice() {
        only.title.clone_from(&exhibit.title);
    }
    plots
}

pub(super) fn drawn(entry: &Entry, document: &Document) -> Vec<Plot> {
    (entry.draw)(document).into_iter().map(in_fitting_unit).collect()
}

pub fn plots_named(document: &Document, name: &str) -> Vec<Plot> {
    let mut plots = Entry::named(name).map(|entry| drawn(entry, document)).unwrap_or_default();
    for exhibit in document.scenarios.iter().flat_map(|scenario| &scenario.exhibits) {
        if exhibit.name == name || exhibit.draws == name {
            plots.extend(plots_for(exhibit));
        }
    }
    plots
}

pub fn exhibit_names(document: &Document) -> impl Iterator<Item = &str> {
    document.scenarios.iter().flat_map(|scenario| &scenario.exhibits).map(|exhibit| exhibit.name.as_str())
}
