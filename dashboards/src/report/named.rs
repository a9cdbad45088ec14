//! Figures by name: those that the registry draws of all there is, and those that scenarios ask for.

use super::document::Document;
use super::exhibit::Plot;
use super::experiment::Scenario;
use super::plot::Figure;
use super::registry::Entry;

/// What a scenario asks for; several figures when every strategy has one of its own.
pub(super) fn figures_for(plot: &Plot) -> Vec<Figure> {
    let Some(entry) = Entry::named(&plot.draws) else { return Vec::new() };
    let scenario =
        Scenario { cells: plot.cells.clone(), columns: plot.columns.clone(), ..Scenario::default() };
    let document =
        Document { strategies: plot.strategies.clone(), scenarios: vec![scenario], ..Document::default() };
    let mut figures = (entry.draw)(&document);
    for figure in &mut figures {
        plot.adjustments.apply(figure);
    }
    if let [only] = figures.as_mut_slice() {
        only.title.clone_from(&plot.title);
    }
    figures
}

/// The figures of one name: those that the registry draws of the whole document, and those that scenarios ask for by
/// this name, be it their own or the registry's.
pub fn figures_named(document: &Document, name: &str) -> Vec<Figure> {
    let mut figures = Entry::named(name).map(|entry| (entry.draw)(document)).unwrap_or_default();
    for plot in document.scenarios.iter().flat_map(|scenario| &scenario.plots) {
        if plot.name == name || plot.draws == name {
            figures.extend(figures_for(plot));
        }
    }
    figures
}

/// Every name that a scenario of the document gives to a figure.
pub fn plot_names(document: &Document) -> impl Iterator<Item = &str> {
    document.scenarios.iter().flat_map(|scenario| &scenario.plots).map(|plot| plot.name.as_str())
}
