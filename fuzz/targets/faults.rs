//! Fuzz target of faults: their text parses to the same faults.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mockserver_core::Faults;

fuzz_target!(|text: &str| {
    if let Ok(faults) = text.parse::<Faults>() {
        let written = faults.to_string();
        assert_eq!(written.parse::<Faults>().ok().as_ref(), Some(&faults), "{text} {written}");
    }
});
