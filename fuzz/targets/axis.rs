//! What `sweep --vary` takes.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| loadgen::fuzzing::axis(text));
