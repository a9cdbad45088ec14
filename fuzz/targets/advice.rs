//! Fuzz target of advice in headers: the first line lists the headers to read, and the other lines are the headers of a
//! response, as `name: value`.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use tailback::{Advice, AdviceForms};
use vocabulary::{TextField, WallTime};

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let mut forms = AdviceForms::default();
    if TextField::read(&mut forms, lines.next().unwrap_or_default()).is_ok() {
        let mut again = AdviceForms::default();
        TextField::read(&mut again, &forms.show()).expect("what is shown is read");
        assert_eq!(forms, again);
    }
    let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    for now in [WallTime::VIRTUAL_START, WallTime::from_unix(Duration::ZERO)] {
        let advice = AdviceForms::read(&forms, headers.as_slice(), now);
        assert_eq!(advice, AdviceForms::read(&forms, headers.as_slice(), now));
        if let Advice::After(wait) = advice {
            assert!(wait < Duration::from_hours(24 * 365 * 101), "{wait:?}");
        }
    }
});
