//! Result files, as `report` and `plot` read and draw them, and baselines.
#![no_main]

use dashboards::report::{Document, FIGURES, figures_named, page, plain, plot_names, svg};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    loadgen::fuzzing::baseline(text);
    let Ok(document) = Document::read(&[("fuzzed.json".to_owned(), text.to_owned())]) else { return };
    let _ = page(&document);
    let own: Vec<&str> = plot_names(&document).collect();
    for name in FIGURES.iter().map(|entry| entry.name).chain(own) {
        let figures = figures_named(&document, name);
        let _ = (svg(&figures), plain(&figures, 100));
    }
});
