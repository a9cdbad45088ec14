//! Capacity of a server: the number of requests per second that it can serve in the long run.
//!
//! The limit that is reached first determines the capacity. At each limit, a request counts with its mean cost at this limit. A limit per
//! key is reached when the key with the largest share of the load reaches it. A cap on slots allows (number of slots) / (mean service time)
//! requests per second. Some servers let a rejected request hold a slot. This does not lower the capacity, because at a load equal to the
//! capacity no request needs to be rejected.

use std::collections::BTreeMap;
use std::time::Duration;

use vocabulary::{Instant, WallTime};

use crate::first_limit::{parameter, per_time};
use crate::policies::Common;
use crate::schedule::Quantity;
use crate::{Config, Key, Policy, RequestFields};

/// Description of the requests that clients send. It contains only the properties by which limits distinguish requests.
#[derive(Clone, Debug)]
pub struct Traffic {
    pub kinds: Vec<TrafficKind>,
    /// Number of API keys. Each key is used for an equal share of the requests.
    pub api_keys: u32,
}

/// Kind of requests in [`Traffic`].
#[derive(Clone, Debug, Default)]
pub struct TrafficKind {
    /// Share of all requests.
    pub share: f64,
    /// Properties of the requests, without numbers in the body.
    pub details: RequestFields,
    /// Body of each request, from which limits may read its cost; `None` if it is not known.
    pub body: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    pub per_s: f64,
    /// Number of requests that are accepted at once after a pause without requests.
    pub burst: f64,
    pub limit: CapacityLimit,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CapacityLimit {
    Slots {
        slots: u64,
        /// Mean time for which a request occupies its slot.
        service: Duration,
    },
    Rate {
        amount: String,
        /// Period of the rate limit as configured, such as `/min` or ` in 5m`.
        per: String,
        burst: Option<u64>,
        /// Mean cost that the rate limit charges for a request.
        cost: f64,
    },
}

impl Config {
    /// Returns the server's long-term capacity for the given traffic. `None` if the capacity is unknown. It is unknown if limits change
    /// during the run, if the policy has its own service times, or if nothing limits requests. It is also unknown if the number of slots is
    /// the lowest limit and service times grow with the load.
    pub fn capacity(&self, traffic: &Traffic) -> Option<Capacity> {
        least(&self.limits(traffic)?).cloned()
    }

    /// Returns the capacity at each limit of the server, in the order of its stages. `None` if the server's capacity is unknown, also
    /// because a limit needs a body that is not known.
    pub fn limits(&self, traffic: &Traffic) -> Option<Vec<Capacity>> {
        let courses = self.courses();
        let slots_change = !self.caps.is_empty() || courses.slots.is_some();
        if self.policy.mean_service().is_some() || (slots_change && self.has_cap()) {
            return None;
        }
        let (changed, service) = (courses.changed(), self.service_model());
        let wants = self.policy.wants();
        let with_fields = |kind: &TrafficKind| {
            let fields = match &kind.body {
                Some(body) => wants.fields_in(body),
                None if wants.fields.is_empty() => Vec::new(),
                None => return None,
            };
            Some((kind.share, RequestFields { fields, ..kind.details.clone() }))
        };
        let kinds: Vec<(f64, RequestFields)> =
            traffic.kinds.iter().map(with_fields).collect::<Option<_>>()?;
        let (mut limits, mut is_stretched): (Vec<Capacity>, bool) = (Vec::new(), false);
        for (index, policy) in self.policy.iter().enumerate() {
            let mut stage = policy.stage(WallTime::VIRTUAL_START)?;
            is_stretched |= stage.gate.stretch(u32::MAX) != 1000;
            // A policy without its own limit, such as a policy that only rejects or penalizes, does not affect the capacity.
            let Some(limit_status) = stage.gate.limit_status(Instant::ORIGIN, Key::default(), &service)
            else {
                continue;
            };
            if changed.contains(&index) || policy.config().grows() {
                return None;
            }
            let (cost, of_busiest_key) = costs(&stage.common, &kinds, traffic.api_keys.max(1));
            let amount = limit_status.limit as f64;
            let (per_s, limit) = if let Some(window) = limit_status.window {
                (amount / window.as_secs_f64(), rate_limit(policy, cost)?)
            } else {
                let service = self.mean_service();
                (amount / service.as_secs_f64(), CapacityLimit::Slots { slots: limit_status.limit, service })
            };
            let capacity = Capacity { per_s: per_s / of_busiest_key, burst: amount / of_busiest_key, limit };
            // A limit with an infinite rate limits nothing. The rate is infinite if requests cost nothing at this limit, or if serving them
            // takes no time.
            if capacity.per_s.is_finite() {
                limits.push(capacity);
            }
        }
        let is_unknown = least(&limits)
            .is_none_or(|least| is_stretched && matches!(least.limit, CapacityLimit::Slots { .. }));
        (!is_unknown).then_some(limits)
    }
}

/// Returns the lowest limit; of equal ones, the first.
fn least(limits: &[Capacity]) -> Option<&Capacity> {
    limits.iter().reduce(|one, other| if other.per_s < one.per_s { other } else { one })
}

/// Returns two mean costs per request at one policy. The first is the mean cost charged to all keys together. The second is the part of it
/// that is charged to the busiest key.
fn costs(common: &Common, kinds: &[(f64, RequestFields)], api_keys: u32) -> (f64, f64) {
    let mut of_keys: BTreeMap<Key, f64> = BTreeMap::new();
    let mut mean = 0.0;
    for (share, details) in kinds {
        let charged = common.cost.of(Some(details));
        let cost = common.refund.of(Some(details), charged).unwrap_or(charged);
        let key_of = |details: &RequestFields| common.key.of(details, common.missing);
        let key = key_of(details);
        if common.exempts(key) {
            continue;
        }
        let users = if key_of(&of_another_user(details)) == key { 1 } else { api_keys };
        mean += share * f64::from(cost);
        *of_keys.entry(key).or_default() += share * f64::from(cost) / f64::from(users);
    }
    (mean, of_keys.into_values().fold(0.0, f64::max))
}

fn of_another_user(details: &RequestFields) -> RequestFields {
    let other = |(name, value): &(Box<str>, Box<str>)| {
        let value =
            if **name == *"authorization" { format!("{value} of another").into() } else { value.clone() };
        (name.clone(), value)
    };
    RequestFields { headers: details.headers.iter().map(other).collect(), ..details.clone() }
}

fn rate_limit(policy: &Policy, cost: f64) -> Option<CapacityLimit> {
    let limit = policy.config().limit()?;
    let quantity = Quantity::read(parameter(policy, limit.key)?)?;
    let per = if quantity.unit.is_empty() { per_time(limit.per, policy) } else { quantity.unit.clone() };
    let amount = Quantity { unit: String::new(), ..quantity }.to_string();
    let burst = parameter(policy, "burst").and_then(|burst| burst.parse().ok());
    Some(CapacityLimit::Rate { amount, per, burst, cost })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Traffic {
        Traffic {
            kinds: vec![TrafficKind { share: 1.0, body: Some(Vec::new()), ..TrafficKind::default() }],
            api_keys: 1,
        }
    }

    fn with_policy(policy: &str) -> Config {
        Config { policy: policy.parse().unwrap(), ..Config::default() }
    }

    fn per_s(config: &Config, traffic: &Traffic) -> Option<f64> {
        config.capacity(traffic).map(|capacity| capacity.per_s)
    }

    fn assert_per_s(config: &Config, traffic: &Traffic, wanted: f64) {
        let found = per_s(config, traffic).unwrap();
        assert!((found / wanted - 1.0).abs() < 1e-6, "{}: {found}, not {wanted}", config.policy);
    }

    /// Slots that rejections occupy do not lower the capacity.
    #[test]
    fn slots_serve_as_many_as_fit_into_their_service_time() {
        let service = Duration::from_millis(500);
        let capacity = Config::default().capacity(&plain()).unwrap();
        let limit = CapacityLimit::Slots { slots: 50, service };
        assert_eq!(capacity, Capacity { per_s: 100.0, burst: 50.0, limit });
        assert_per_s(&Config { rejects_occupy: false, ..Config::default() }, &plain(), 100.0);
        let service_time = "exp(200ms)".parse().unwrap();
        assert_per_s(&Config { max_busy: 8, service_time, ..Config::default() }, &plain(), 40.0);
    }

    #[test]
    fn a_rate_policy_serves_its_rate_and_a_stack_its_lowest() {
        for (policy, wanted) in [
            ("token-bucket:rate=500/min,burst=500", 500.0 / 60.0),
            ("gcra:rate=0.5/s,burst=3", 0.5),
            ("leaky-queue:rate=10/s,burst=20", 10.0),
            ("reserve:rate=100/s,burst=50", 100.0),
            ("fixed-window:limit=1200,window=5m", 4.0),
            ("sliding-counter:limit=1000,window=10s", 100.0),
            ("sliding-log:limit=30,window=10s", 3.0),
            ("daily:limit=86400", 1.0),
            ("concurrency:cap=5 then gcra:rate=8/s", 8.0),
            ("concurrency:cap=5,queue=10 then gcra:rate=80/s", 10.0),
            ("penalty then random then gcra:rate=7/s", 7.0),
        ] {
            assert_per_s(&with_policy(policy), &plain(), wanted);
        }
    }

    #[test]
    fn capacity_is_unknown_if_limits_change_or_policies_serve() {
        for policy in [
            "overwhelmed-queue",
            "descriptor-pool",
            "script:steps=200",
            "growing-rate then gcra",
            "growing-concurrency",
            "slow-down then concurrency",
            "random",
            "penalty",
        ] {
            assert_eq!(per_s(&with_policy(policy), &plain()), None, "{policy}");
        }
        let caps = "10s=25".parse().unwrap();
        assert_eq!(per_s(&Config { caps, ..Config::default() }, &plain()), None);
        let schedule = "10s gcra.rate=5/s".parse().unwrap();
        assert_eq!(per_s(&Config { schedule, ..with_policy("gcra") }, &plain()), None);
        let schedule = "10s down; 20s up".parse().unwrap();
        assert_per_s(&Config { schedule, ..with_policy("gcra:rate=9/s") }, &plain(), 9.0);
    }

    #[test]
    fn unequal_costs_count_by_their_mean_and_keys_separately() {
        let kind = |share: f64, method: &str, cost: &str, user: &str| {
            let headers =
                vec![("x-tailback-cost".into(), cost.into()), ("authorization".into(), user.into())];
            let details = RequestFields { method: method.into(), headers, ..RequestFields::default() };
            TrafficKind { share, details, body: Some(b"{\"max_tokens\": 40}".to_vec()) }
        };
        let kinds = vec![kind(0.75, "GET", "1", "a"), kind(0.25, "POST", "5", "a")];
        let traffic = Traffic { kinds, api_keys: 4 };
        let by_cost = with_policy("token-bucket:rate=100/s,cost=header:x-tailback-cost|1");
        assert_per_s(&by_cost, &traffic, 50.0);
        let of_users =
            with_policy("token-bucket:rate=100/s,cost=header:x-tailback-cost|1,key=header:authorization");
        assert_per_s(&of_users, &traffic, 200.0);
        // Three of four requests have the same key.
        assert_per_s(&with_policy("token-bucket:rate=30/s,key=method"), &traffic, 40.0);
        assert_per_s(&with_policy("token-bucket:rate=30/s,cost=PUT 1|POST 1|0"), &traffic, 120.0);
        assert_eq!(
            per_s(&with_policy("token-bucket:cost=PUT 1|0"), &traffic),
            None,
            "nothing costs anything"
        );
        assert_per_s(&with_policy("token-bucket:rate=80/s,cost=body:max_tokens"), &traffic, 2.0);
        // No request has the header.
        let exempt = "token-bucket:rate=1/s,key=header:x,missing=unlimited then token-bucket:rate=7/s";
        assert_per_s(&with_policy(exempt), &traffic, 7.0);
        let half_comes_back = with_policy("token-bucket:rate=80/s,cost=10,refund=50%");
        assert_per_s(&half_comes_back, &traffic, 16.0);
    }

    #[test]
    fn presets_have_the_capacity_of_their_first_limit() {
        let preset = |text, scale| Config::default().with_preset(text, scale).unwrap();
        let openai = preset("openai", None).capacity(&plain()).unwrap();
        assert!((openai.per_s - 500.0 / 60.0).abs() < 1e-9, "{openai:?}");
        assert_eq!(
            openai.limit,
            CapacityLimit::Rate { amount: "500".into(), per: "/min".into(), burst: Some(500), cost: 1.0 }
        );
        assert_per_s(&preset("openai", Some(0.1)), &plain(), 50.0 / 60.0);
        assert_per_s(&preset("kubernetes", None), &plain(), 1200.0);
        // 5000 per hour and user are fewer than 900 per minute and endpoint.
        assert_per_s(&preset("github", None), &plain(), 5000.0 / 3600.0);
    }
}
