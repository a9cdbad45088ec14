//! List of the explicit delays of a backoff, which replace computed delays.

use std::time::Duration;

use vocabulary::{TextField, duration_text};

use crate::shape::optional::up_to_a_day;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DelayList(pub(crate) Vec<Duration>);

impl TextField for DelayList {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = match text {
            "none" => Vec::new(),
            text => text.split('|').map(|delay| up_to_a_day(delay.trim())).collect::<Result<_, _>>()?,
        };
        Ok(())
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "none".to_owned();
        }
        self.0.iter().map(|delay| duration_text::format(*delay)).collect::<Vec<_>>().join("|")
    }

    fn accepted(&self) -> &'static str {
        "durations up to a day, joined by `|`, or `none`, such as `1s|4s|9s` or `none`"
    }
}
