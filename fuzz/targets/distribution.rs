//! Fuzz target of distributions: their text parses to the same distribution, which can be sampled.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vocabulary::{Distribution, Purpose, draws};

fuzz_target!(|text: &str| {
    if let Ok(distribution) = text.parse::<Distribution>() {
        let written = distribution.to_string();
        assert_eq!(written.parse::<Distribution>().as_ref(), Ok(&distribution), "{text} {written}");
        let _ = (distribution.mean(), distribution.is_zero(), distribution.is_constant());
        for op in 0..16 {
            let _ = distribution.sample(&mut draws(1, Purpose::ServiceTime, op, 1));
        }
    }
});
