//! Fuzz target of schedules: their text parses to the same schedule.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mockserver_core::Schedule;

fuzz_target!(|text: &str| {
    if let Ok(schedule) = text.parse::<Schedule>() {
        let written = schedule.to_string();
        assert_eq!(written.parse::<Schedule>().ok().as_ref(), Some(&schedule), "{text} {written}");
    }
});
