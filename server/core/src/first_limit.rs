//! Limit that users can adjust by hand during a run. It is the limit of the first policy in the stack that has a limit.

use std::fmt;
use std::time::Duration;

use vocabulary::{duration_text, whole_nanos};

use crate::policies::{Capacity, Limit, Per};
use crate::schedule::{Quantity, Target};
use crate::{Config, Policy};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstLimit {
    /// Name of the limited policy in its stack. The server's own cap is called `cap`, unless its policy has a label.
    pub name: String,
    target: Target,
    amount: Quantity,
    per: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Down,
    Up,
}

impl Config {
    /// Returns the first limit of the stack that can be changed while requests are in flight, with its value at `elapsed` after the run
    /// began. `None` if the stack has no such limit.
    pub fn first_limit(&self, elapsed: Duration) -> Option<FirstLimit> {
        let (elapsed, courses) = (whole_nanos(elapsed), self.courses());
        let mut stages = self.policy.iter().zip(self.policy.labels()).enumerate();
        stages.find_map(|(index, (policy, label))| {
            if policy.capacity() == Capacity::Slots {
                let slots = courses.slots.as_ref().and_then(|course| course.whole(elapsed));
                let amount = Quantity::read(&slots.unwrap_or(self.max_busy).to_string())?;
                let name = policy.label().unwrap_or("cap").to_owned();
                return Some(FirstLimit { name, target: Target::MaxBusy, amount, per: String::new() });
            }
            let Limit { key, per } = policy.config().limit()?;
            policy.check_changeable(key).ok()?;
            let scheduled = courses.text(index, key, elapsed);
            let amount = Quantity::read(scheduled.as_deref().or(parameter(policy, key))?)?;
            let target = Target::Parameter { stage: label.clone(), key: key.to_owned() };
            Some(FirstLimit { name: label, target, amount, per: per_time(per, policy) })
        })
    }
}

pub(crate) fn parameter<'a>(policy: &'a Policy, key: &str) -> Option<&'a str> {
    policy.parameters().iter().find(|parameter| parameter.key == key).map(|parameter| &*parameter.value)
}

impl FirstLimit {
    /// Returns the limit changed by one step up or down. A step is a tenth of the limit, but not less than 1. The new limit is a whole
    /// number and not less than 1. If the limit is already below 1, a step is a tenth of it, and the new limit stays between 0 (exclusive)
    /// and 1.
    #[must_use]
    pub fn moved(&self, way: Direction) -> Self {
        const ONE: i64 = Quantity::ONE;
        let unit = if self.amount.millionths < ONE { 1 } else { ONE };
        let now = (self.amount.millionths + unit / 2) / unit;
        let step = (now / 10).max(1);
        let moved = match way {
            Direction::Down => (now - step).max(1),
            Direction::Up if unit == 1 => (now + step).min(ONE),
            Direction::Up => now + step,
        };
        self.clone().with_millionths(moved * unit)
    }

    fn with_millionths(self, millionths: i64) -> Self {
        Self { amount: Quantity { millionths, ..self.amount }, ..self }
    }

    /// Replaces the value of the limit by `slots`, the number of slots that answers report. Does so only if the limit is the server's own
    /// cap. Any other limit is returned unchanged.
    #[must_use]
    pub fn with_slots(self, slots: u64) -> Self {
        match (&self.target, i64::try_from(slots).ok().and_then(|slots| slots.checked_mul(Quantity::ONE))) {
            (Target::MaxBusy, Some(millionths)) => self.with_millionths(millionths),
            _ => self,
        }
    }

    pub fn slots(&self) -> Option<u64> {
        match self.target {
            Target::MaxBusy => u64::try_from(self.amount.millionths / Quantity::ONE).ok(),
            Target::Parameter { .. } => None,
        }
    }

    /// Returns the text of the setting that gives the limit its current value, such as `primary.limit=90`.
    pub fn setting(&self) -> String {
        format!("{}={}", self.target, self.amount)
    }
}

impl fmt::Display for FirstLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.amount, self.per)
    }
}

pub(crate) fn per_time(per: Per, policy: &Policy) -> String {
    let time = match per {
        Per::Nothing => return String::new(),
        Per::Day => return "/day".to_owned(),
        Per::Parameter(key) => parameter(policy, key).unwrap_or_default(),
    };
    match duration_text::parse(time).map(|time| time.as_nanos()) {
        Ok(1_000_000_000) => "/s".to_owned(),
        Ok(60_000_000_000) => "/min".to_owned(),
        Ok(3_600_000_000_000) => "/h".to_owned(),
        Ok(86_400_000_000_000) => "/day".to_owned(),
        _ => format!(" in {time}"),
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::{Instant, WallTime};

    use super::*;
    use crate::policies::{Key, POLICIES};

    fn config(policy: &str) -> Config {
        Config { policy: policy.parse().unwrap(), ..Config::default() }
    }

    fn first(config: &Config, at_s: u64) -> Option<(String, String)> {
        let limit = config.first_limit(Duration::from_secs(at_s))?;
        Some((limit.name.clone(), limit.to_string()))
    }

    #[test]
    fn the_first_policy_that_has_a_limit_is_meant() {
        for (policy, name, limit) in [
            ("concurrency-cap", "cap", "50"),
            ("concurrency", "cap", "50"),
            ("api=concurrency", "api", "50"),
            ("concurrency:cap=8 then gcra", "concurrency", "8"),
            ("random then token-bucket:rate=20/s", "token-bucket", "20/s"),
            ("primary=fixed-window:limit=5000,window=1h then concurrency", "primary", "5000/h"),
            ("a=sliding-log:limit=30,window=10s", "a", "30 in 10s"),
            ("gcra:rate=0.5/s", "gcra", "0.5/s"),
            ("daily:limit=9", "daily", "9/day"),
            ("slow-down then growing-concurrency:start=3,most=7", "growing-concurrency", "7"),
        ] {
            assert_eq!(first(&config(policy), 0), Some((name.to_owned(), limit.to_owned())), "{policy}");
        }
        for policy in ["overwhelmed-queue", "descriptor-pool", "random then script:steps=200", "penalty"] {
            assert_eq!(first(&config(policy), 0), None, "{policy}");
        }
    }

    #[test]
    fn every_policy_s_limit_can_be_moved_down_and_up_again() {
        for entry in POLICIES {
            let config = config(entry.name);
            let Some(limit) = config.first_limit(Duration::ZERO) else {
                // Only policies that report no limit in answers may have none to adjust.
                let stage = config.policy.stage(0, WallTime::VIRTUAL_START);
                let told = stage.and_then(|mut stage| {
                    stage.gate.limit_status(Instant::ORIGIN, Key::default(), &config.service_model())
                });
                assert_eq!(told, None, "{}", entry.name);
                continue;
            };
            let moved = limit.moved(Direction::Up);
            assert_ne!(moved, limit, "{}", entry.name);
            let set = config.with_setting(&moved.setting());
            assert_eq!(set.unwrap().first_limit(Duration::ZERO), Some(moved), "{}", entry.name);
            let mut down = limit;
            (0..100).for_each(|_| down = down.moved(Direction::Down));
            if let Err(error) = config.with_setting(&down.setting()) {
                assert!(error.ends_with("`start` is above `most`; lower `start` or raise `most`"), "{error}");
            }
        }
    }

    #[test]
    fn it_moves_by_a_tenth_and_at_least_by_one() {
        let moved =
            |policy: &str, way| config(policy).first_limit(Duration::ZERO).unwrap().moved(way).to_string();
        assert_eq!(
            [moved("concurrency-cap", Direction::Down), moved("concurrency-cap", Direction::Up)],
            ["45", "55"]
        );
        assert_eq!(moved("concurrency:cap=7", Direction::Down), "6");
        assert_eq!(moved("concurrency:cap=1", Direction::Down), "1");
        assert_eq!(moved("token-bucket:rate=20/s", Direction::Down), "18/s");
        assert_eq!(moved("gcra:rate=1/2s", Direction::Up), "2/2s");
        assert_eq!(moved("gcra:rate=2.5/s", Direction::Down), "2/s");
        assert_eq!(
            [moved("gcra:rate=0.5/s", Direction::Down), moved("gcra:rate=0.5/s", Direction::Up)],
            ["0.45/s", "0.55/s"]
        );
        assert_eq!(moved("gcra:rate=0.95/s", Direction::Up), "1/s");
    }

    #[test]
    fn the_first_limit_follows_the_schedule() {
        let schedule = "0s a.rate=50/s; 10s..20s a.rate=50..100/s".parse().unwrap();
        let config = Config { schedule, ..config("a=token-bucket:rate=20/s") };
        let at = |at_s| first(&config, at_s).unwrap().1;
        assert_eq!([at(0), at(15), at(30)], ["50/s", "75/s", "100/s"]);
        let schedule = "0s max-busy=20; 10s max-busy=30".parse().unwrap();
        let config = Config { schedule, ..Config::default() };
        assert_eq!(first(&config, 11).unwrap().1, "30");
        let limit = config.first_limit(Duration::ZERO).unwrap().with_slots(44);
        assert_eq!((limit.slots(), limit.setting()), (Some(44), "max-busy=44".to_owned()));
    }
}
