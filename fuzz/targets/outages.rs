//! Fuzz target of outages: their text parses to the same outages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mockserver_core::Outages;

fuzz_target!(|text: &str| {
    if let Ok(outages) = text.parse::<Outages>() {
        let written = outages.to_string();
        assert_eq!(written.parse::<Outages>().ok().as_ref(), Some(&outages), "{text} {written}");
    }
});
