//! A concurrency limit that grows in steps while it rejects requests.
//!
//! Source: AWS Lambda Developer Guide, "Lambda scaling behavior": for each function 1000 more execution environments every 10 seconds, up
//! to the account's concurrency. Unused growth is not saved up. Lambda "makes a best attempt to refill continuously"; this model refills in
//! steps.

use std::time::Duration;

use vocabulary::{Configurable, DAY, Instant, Parameter};

use crate::caps::MAX_SLOTS;
use crate::limit_status::LimitStatus;
use crate::policies::common::Common;
use crate::policies::growth::{Grown, Growth};
use crate::policies::key::Key;
use crate::policies::keys::Keys;
use crate::policies::limit::Limit;
use crate::policies::policy_config::PolicyConfig;
use crate::policies::stage_policy::{
    Charge, Decision, PLACES_CHARGE_NOTHING, StagePolicy, StageRequest, downcast,
};
use crate::service::ServiceModel;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GrowingConcurrency(Growth);

impl Default for GrowingConcurrency {
    fn default() -> Self {
        let (every, idle) = (Duration::from_secs(10), Duration::from_mins(10));
        Self(Growth { start: 1000, by: 1000, most: 10_000, every, idle })
    }
}

impl Configurable for GrowingConcurrency {
    const NAME: &'static str = "growing-concurrency";
    const SUMMARY: &'static str =
        "limits concurrent requests; the limit grows in steps while requests are rejected (Lambda)";
    const RULE: &'static str = "a request is accepted while fewer requests than the limit are in service. \
                                The limit starts at `start`. A rejection schedules a step: after `every`, \
                                the limit grows by `by`, up to `most`. Only one step is scheduled at a \
                                time. After the time `idle` without requests, the limit returns to `start`. \
                                No wait is advised, because the server does not know when a request will \
                                end";
    const SOURCE: &'static str = "AWS Lambda Developer Guide, scaling behavior";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::count("start", "initial limit of concurrent requests", 1..=MAX_SLOTS, |config| {
            &mut config.0.start
        }),
        Parameter::count(
            "by",
            "number of concurrent requests by which each step raises the limit",
            1..=MAX_SLOTS,
            |config| &mut config.0.by,
        ),
        Parameter::count("most", "highest value to which the limit grows", 1..=MAX_SLOTS, |config| {
            &mut config.0.most
        }),
        Parameter::duration_in(
            "every",
            "time from a rejection to the next step",
            Duration::from_millis(1)..=DAY,
            |config| &mut config.0.every,
        ),
        Parameter::duration(
            "idle",
            "time without requests after which the limit returns to `start`",
            |config| &mut config.0.idle,
        ),
    ];

    fn check(&self) -> Result<(), String> {
        self.0.check(self.0.every)
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
        Some(Box::new(GrowingPlaces { growth: self.0, keys: Keys::new(common.keys) }))
    }

    fn obeys_rejects_occupy(&self) -> bool {
        true
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

    /// Does nothing, because a place becomes free only when its request has [ended](StagePolicy::ended).
    fn refund(&mut self, _at: Instant, _asked: &StageRequest<'_>, _taken: Charge) {}

    fn ended(&mut self, at: Instant, asked: &StageRequest<'_>, _service: &ServiceModel) {
        let Some(places) = self.keys.get_mut(asked.key) else { return };
        places.busy = places.busy.saturating_sub(u64::from(asked.cost));
        places.grown.used = at;
    }

    fn holds_slots(&self) -> bool {
        true
    }

    fn meaningless(&self) -> Option<(&'static [&'static str], &'static str)> {
        Some(PLACES_CHARGE_NOTHING)
    }

    fn limit_status(&mut self, at: Instant, key: Key, _service: &ServiceModel) -> Option<LimitStatus> {
        let places = self.places(at, key);
        let limit = u64::from(places.grown.limit);
        let remaining = limit.saturating_sub(places.busy);
        Some(LimitStatus { limit, remaining, reset: Duration::ZERO, window: None })
    }

    fn evicted(&self) -> u64 {
        self.keys.evicted()
    }
}
