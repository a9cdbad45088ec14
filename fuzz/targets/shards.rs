//! Fuzz target of documents to merge, as `loadgen merge` reads them, restores their experiments, and merges them.
#![no_main]

use experiments::restored;
use libfuzzer_sys::fuzz_target;
use results::{MergePart, merged};

fuzz_target!(|text: &str| {
    let Ok(part) = MergePart::read(text) else { return };
    for run in &part.runs {
        let _ = restored::experiment(run);
    }
    let mut next = part.clone();
    for run in &mut next.runs {
        run.seed = run.seed.wrapping_add(1);
        run.config.seed = run.seed;
    }
    let version = part.runs.first().map(|run| run.config.version.clone()).unwrap_or_default();
    let _ = merged(vec![("one".to_owned(), part), ("next".to_owned(), next)], &version);
});
