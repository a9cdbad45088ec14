//! Fuzz target of result files, as `report` and `plot` read and draw them, and of baselines.
#![no_main]

use dashboards::report::{Document, PLOTS, exhibit_names, html, plain, plots_named, svg};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    loadgen::fuzzing::baseline(text);
    let Ok(document) = Document::read(&[("fuzzed.json".to_owned(), text.to_owned())]) else { return };
    let _ = html(&document);
    let own: Vec<&str> = exhibit_names(&document).collect();
    for name in PLOTS.iter().map(|entry| entry.name).chain(own) {
        let plots = plots_named(&document, name);
        let _ = (svg(&plots), plain(&plots, 100));
    }
});
