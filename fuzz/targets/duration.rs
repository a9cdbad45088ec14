//! Fuzz target of durations: their text parses to the same duration.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vocabulary::duration_text;

fuzz_target!(|text: &str| {
    if let Ok(duration) = duration_text::parse(text) {
        let written = duration_text::format(duration);
        assert_eq!(duration_text::parse(&written).as_ref(), Ok(&duration), "{text} {written}");
    }
});
