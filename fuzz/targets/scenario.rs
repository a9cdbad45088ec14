//! Scenario files, read and checked and not run.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| loadgen::fuzzing::scenario(text));
