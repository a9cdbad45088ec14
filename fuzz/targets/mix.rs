//! Fuzz target of mixes of requests: their text parses to the same mix.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadgen_core::Mix;

fuzz_target!(|text: &str| {
    if let Ok(mix) = text.parse::<Mix>() {
        let written = mix.to_string();
        assert_eq!(written.parse::<Mix>().ok().as_ref(), Some(&mix), "{text} {written}");
    }
});
