//! Distributions of a survey's settings.
//!
//! Sizes and times whose order of magnitude is unknown are drawn log-uniformly. Loads and numbers of ops are drawn uniformly. All values
//! are rounded to three significant digits. The flags of a setting are therefore short, and they still reproduce the run exactly.

use std::fmt;
use std::time::Duration;

use vocabulary::{Draws, Purpose, draws, unit};

use super::setting::{Limit, Setting};

/// Returns the settings of a survey with the given seed. Settings with concurrency limits come first, followed by settings with rate
/// limits. A setting depends only on the seed and on its index among the settings with the same kind of limit. A longer survey with the
/// same seed therefore contains all settings of a shorter one.
pub fn settings(seed: u64, concurrency_limits: u32, rate_limits: u32) -> Vec<Setting> {
    let concurrency = (0..concurrency_limits).map(|place| Drawing::new(seed, place, 1).concurrency());
    let rate = (0..rate_limits).map(|place| Drawing::new(seed, place, 2).rate());
    let numbered = |(number, setting)| Setting { number, ..setting };
    (0..).zip(concurrency.chain(rate)).map(numbered).collect()
}

struct Drawing {
    draws: Draws,
    flags: Vec<[String; 2]>,
}

impl Drawing {
    fn new(seed: u64, place: u32, kind: u32) -> Self {
        Self { draws: draws(seed, Purpose::Setting, place.into(), kind), flags: Vec::new() }
    }

    fn concurrency(mut self) -> Setting {
        let slots = self.log_whole(4.0, 400.0);
        self.flag("--max-busy", &slots);
        let service = self.server();
        let occupy = self.happens(0.5);
        self.flag("--rejects-occupy", &occupy);
        if self.happens(0.2) {
            self.flag("--retry-after", &"1s");
        }
        let clients = self.workload(f64::from(slots) / service.as_secs_f64());
        let flags = self.flags;
        Setting { number: 0, limit: Limit::Concurrency, clients, slots, rejected_count: false, flags }
    }

    fn rate(mut self) -> Setting {
        let rate_per_s = rounded(self.log_uniform(2.0, 300.0));
        let rejected_count = self.happens(0.3);
        let burst = (rounded(self.log_uniform(0.1, 10.0)) * rate_per_s).round().max(1.0);
        let window_s = self.one_of(&[1, 10, 60]);
        let limit = (rate_per_s * f64::from(window_s)).round().max(1.0);
        let own = if rejected_count { ",own=yes" } else { "" };
        let law = match self.one_of(&[0, 1, 2, 3]) {
            0 => format!("token-bucket:rate={rate_per_s}/s,burst={burst}{own}"),
            1 => format!("gcra:rate={rate_per_s}/s,burst={burst}{own}"),
            2 => format!("fixed-window:limit={limit},window={window_s}s{own}"),
            _ => format!("sliding-log:limit={limit},window={window_s}s{own}"),
        };
        self.flag("--policy", &law);
        if self.happens(0.5) {
            self.flag("--advice", &"none");
        }
        self.server();
        let clients = self.workload(rate_per_s);
        let flags = self.flags;
        Setting { number: 0, limit: Limit::Rate, clients, slots: 0, rejected_count, flags }
    }

    /// Draws the service time, the duration of rejections, and the network delay. Returns the mean service time.
    fn server(&mut self) -> Duration {
        let service = self.time(20, 3_000);
        let text = duration(service);
        let service_time = match self.one_of(&[0, 1, 2]) {
            0 => text,
            1 => format!("exp({text})"),
            _ => format!("lognormal({text},{})", self.one_of(&[0.3, 0.6])),
        };
        self.flag("--service-time", &service_time);
        let rejection = self.time(1, 200);
        self.flag("--reject-time", &duration(rejection));
        let delay = self.time(1, 200);
        let noise = match self.one_of(&[0, 1, 2]) {
            0 => Duration::from_micros(200),
            1 => delay.mul_f64(0.05),
            _ => delay.mul_f64(0.2),
        };
        let way = format!("uniform({},{})", duration(delay.saturating_sub(noise)), duration(delay + noise));
        if self.happens(0.5) {
            self.flag("--return-delay", &way);
        }
        self.flag("--network-delay", &way);
        service
    }

    /// Draws the numbers of clients and ops, and an arrival rate above the given capacity. Returns the number of clients.
    fn workload(&mut self, capacity_per_s: f64) -> u32 {
        let clients = if self.happens(1.0 / 3.0) { 4 } else { 1 };
        self.flag("--clients", &clients);
        let rate = rounded(capacity_per_s * self.uniform(1.5, 10.0));
        self.flag("--rate", &format!("{rate}/s"));
        let ops = rounded(self.uniform(500.0, 6_000.0));
        self.flag("--ops", &ops);
        let seed = self.uniform(1.0, 1e6).floor();
        self.flag("--seed", &seed);
        clients
    }

    fn flag(&mut self, name: &str, value: &dyn fmt::Display) {
        self.flags.push([name.to_owned(), value.to_string()]);
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * unit(&mut self.draws)
    }

    fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.uniform(libm::log(low), libm::log(high)))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the bounds are small and positive, so the value fits"
    )]
    fn log_whole(&mut self, low: f64, high: f64) -> u32 {
        rounded(self.log_uniform(low, high)).round() as u32
    }

    /// Draws a time between two limits (in milliseconds), log-uniformly, in whole microseconds.
    fn time(&mut self, low_ms: u32, high_ms: u32) -> Duration {
        let micros = self.log_whole(f64::from(low_ms) * 1e3, f64::from(high_ms) * 1e3);
        Duration::from_micros(micros.into())
    }

    fn happens(&mut self, probability: f64) -> bool {
        unit(&mut self.draws) < probability
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the index is below the number of choices"
    )]
    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(unit(&mut self.draws) * choices.len() as f64) as usize]
    }
}

fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn duration(time: Duration) -> String {
    let micros = time.as_micros();
    if micros.is_multiple_of(1_000) { format!("{}ms", micros / 1_000) } else { format!("{micros}us") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_survey_begins_with_the_settings_of_a_shorter_one() {
        let short = settings(7, 3, 2);
        let long = settings(7, 5, 4);
        let alike = |one: &Setting, other: &Setting| one.flags == other.flags && one.limit == other.limit;
        assert!(short[..3].iter().zip(&long[..3]).all(|(one, other)| alike(one, other)));
        assert!(short[3..].iter().zip(&long[5..]).all(|(one, other)| alike(one, other)));
        assert_eq!(long.iter().map(|setting| setting.number).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
        assert_ne!(settings(8, 1, 0), settings(7, 1, 0));
    }

    #[test]
    fn draws_stay_within_their_ranges_and_reach_all_choices() {
        let all = settings(1, 600, 600);
        let share = |limit: Limit, is_so: &dyn Fn(&Setting) -> bool| {
            let of_kind = all.iter().filter(|setting| setting.limit == limit);
            of_kind.filter(|setting| is_so(setting)).count() as f64 / 600.0
        };
        let has = |words: &'static str| {
            move |setting: &Setting| {
                setting.flags.iter().any(|[flag, value]| flag == words || value.contains(words))
            }
        };
        for (limit, words, expected) in [
            (Limit::Concurrency, "exp(", 1.0 / 3.0),
            (Limit::Concurrency, ",0.3)", 1.0 / 6.0),
            (Limit::Concurrency, "--retry-after", 0.2),
            (Limit::Concurrency, "--return-delay", 0.5),
            (Limit::Rate, "own=yes", 0.3),
            (Limit::Rate, "--advice", 0.5),
            (Limit::Rate, "sliding-log", 0.25),
            (Limit::Rate, "window=60s", 1.0 / 6.0),
        ] {
            // Four standard errors of a share of 600.
            let found = share(limit, &has(words));
            assert!((found - expected).abs() < 4.0 * 0.5 / 600.0_f64.sqrt(), "{words}: {found}");
        }
        assert!((share(Limit::Concurrency, &|setting| setting.clients == 4) - 1.0 / 3.0).abs() < 0.08);
        for setting in all.iter().filter(|setting| setting.limit == Limit::Concurrency) {
            assert!((4..=400).contains(&setting.slots), "{setting:?}");
        }
    }
}
