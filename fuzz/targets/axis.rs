//! Fuzz target of the axes of `sweep --vary`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    loadgen::fuzzing::axis(text);
});
