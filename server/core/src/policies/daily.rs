//! Daily request limit: a fixed window of one day.
//!
//! Source: requests per day of `OpenAI`; daily limits of `HubSpot`.

use std::time::Duration;

use vocabulary::parameters;

use crate::Pace;
use crate::policies::fixed_window::{Align, FixedWindow};
use crate::policies::{Common, Limit, Per, PolicyConfig, StagePolicy};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Daily = "daily" {
        limit: u32 = 10_000, "number of requests accepted per day", 1..=1_000_000_000;
        align: choice Align = Align::Start, "when a day starts: at the server's start, at midnight (UTC), at \
            a run's first request, or at a key's first request";
    }
    summary = "accepts a number of requests per day; further requests are rejected";
    rule = "the same as `fixed-window` with a window of one day";
    source = "OpenAI's limits on requests per day; HubSpot's daily limits";
}

const DAY: Duration = Duration::from_hours(24);

impl Daily {
    fn window(&self) -> FixedWindow {
        FixedWindow { limit: self.limit, window: DAY, align: self.align, phase: 0 }
    }
}

impl PolicyConfig for Daily {
    fn limit(&self) -> Option<Limit> {
        Some(Limit { key: "limit", per: Per::Day })
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        self.window().gate(common)
    }

    fn pace(&self) -> Option<Pace> {
        self.window().pace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::tests::timelines::{A, R, assert_timeline};

    #[test]
    fn a_day_s_requests_are_there_again_on_the_next() {
        const HOUR: u64 = 3_600_000;
        let algorithm = |align| Daily { limit: 2, align }.window();
        let timeline = [
            (0, A),
            (20 * HOUR, A),
            (23 * HOUR, R(HOUR)),
            (24 * HOUR, A),
            (47 * HOUR, A),
            (47 * HOUR, R(HOUR)),
        ];
        assert_timeline(&algorithm(Align::Start), &timeline);
        assert_timeline(
            &algorithm(Align::First),
            &[(HOUR, A), (20 * HOUR, A), (24 * HOUR, R(HOUR)), (25 * HOUR, A)],
        );
    }
}
