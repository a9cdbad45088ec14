//! A concurrency limit that grows in steps while it rejects requests.
//!
//! Source: AWS Lambda Developer Guide, "Lambda scaling behavior": for each function 1000 more execution environments every 10 seconds, up
//! to the account's concurrency. Unused growth is not saved up. Lambda "makes a best attempt to refill continuously"; this model refills in
//! steps.

use std::time::Duration;

use vocabulary::{DAY, Instant, parameters};

use crate::policies::growth::{Grown, Growth};
use crate::policies::{
    Common, Decision, Key, Keys, Limit, Meaningless, PLACES_CHARGE_NOTHING, PolicyConfig, StagePolicy,
    StageRequest, downcast,
};
use crate::{LimitStatus, MAX_SLOTS, ServiceModel};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct GrowingConcurrency = "growing-concurrency" {
        start: u32 = 1000, "initial limit of concurrent requests", 1..=MAX_SLOTS;
        by: u32 = 1000, "number of concurrent requests by which each step raises the limit", 1..=MAX_SLOTS;
        most: u32 = 10_000, "highest value to which the limit grows", 1..=MAX_SLOTS;
        every: Duration = Duration::from_secs(10),
            "time from a rejection to the next step", Duration::from_millis(1)..=DAY;
        idle: Duration = Duration::from_mins(10),
            "time without requests after which the limit returns to `start`";
    }
    summary = "limits concurrent requests; the limit grows in steps while requests are rejected (Lambda)";
    rule = "a request is accepted while fewer requests than the limit are in service. The limit starts at \
        `start`. A rejection schedules a step: after `every`, the limit grows by `by`, up to `most`. Only one \
        step is scheduled at a time. After the time `idle` without requests, the limit returns to `start`. No \
        wait is advised, because the server does not know when a request will end";
    source = "AWS Lambda Developer Guide, scaling behavior";

    fn check(&self) -> Result<(), String> {
        self.growth().check(self.every)
    }
}

impl GrowingConcurrency {
    fn growth(&self) -> Growth {
        let Self { start, by, most, every, idle } = *self;
        Growth { start, by, most, every, idle }
    }
}

impl PolicyConfig for GrowingConcurrency {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::new("most"))
    }

    fn grows(&self) -> bool {
        true
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Box::new(GrowingPlaces { growth: self.growth(), keys: Keys::new(common.keys) }))
    }
}

#[derive(Debug)]
struct GrowingPlaces {
    growth: Growth,
    keys: Keys<Places>,
}

#[derive(Debug)]
struct Places {
    grown: Grown,
    busy: u64,
}

impl GrowingPlaces {
    fn places(&mut self, at: Instant, key: Key) -> &mut Places {
        let Self { growth, keys } = self;
        let places = keys.state(key, || Places { grown: growth.fresh(), busy: 0 });
        if places.busy == 0 && growth.is_idle(&places.grown, at) {
            places.grown = Grown { used: at, ..growth.fresh() };
        }
        growth.grow(&mut places.grown, at);
        // A new configuration may have lowered the maximum of the limit.
        places.grown.limit = places.grown.limit.min(growth.most);
        places
    }
}

impl StagePolicy for GrowingPlaces {
    fn reconfigure(&mut self, _at: Instant, other: Box<dyn StagePolicy>, _service: &ServiceModel) {
        if let Some(Self { growth, .. }) = downcast(other) {
            self.growth = growth;
        }
    }

    fn ask(&mut self, at: Instant, asked: &StageRequest<'_>, _service: &ServiceModel) -> Decision {
        let growth = self.growth;
        let places = self.places(at, asked.key);
        places.grown.used = at;
        if places.busy + u64::from(asked.cost) <= u64::from(places.grown.limit) {
            return Decision::Pass;
        }
        growth.press(&mut places.grown, at);
        Decision::Reject(None)
    }

    fn charge(&mut self, at: Instant, asked: &StageRequest<'_>) {
        self.places(at, asked.key).busy += u64::from(asked.cost);
    }

    fn ended(&mut self, at: Instant, asked: &StageRequest<'_>, _service: &ServiceModel) {
        let Some(places) = self.keys.get_mut(asked.key) else { return };
        places.busy = places.busy.saturating_sub(u64::from(asked.cost));
        places.grown.used = at;
    }

    fn holds_slots(&self) -> bool {
        true
    }

    fn meaningless(&self) -> Option<Meaningless> {
        Some(PLACES_CHARGE_NOTHING)
    }

    fn limit_status(&mut self, at: Instant, key: Key, _service: &ServiceModel) -> Option<LimitStatus> {
        let places = self.places(at, key);
        let limit = u64::from(places.grown.limit);
        let remaining = limit.saturating_sub(places.busy);
        Some(LimitStatus { limit, remaining, reset: Duration::ZERO, window: None })
    }

    fn evicted(&self) -> u64 {
        self.keys.evicted
    }
}
