//! Fuzz target of scenario files, which are parsed and checked, but not run.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    loadgen::fuzzing::scenario(text);
});
