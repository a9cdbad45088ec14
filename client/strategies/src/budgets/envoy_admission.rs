//! `envoy-admission`: Envoy's admission control, which refuses launches at random while too few answers have a status
//! below 500.
//!
//! Source: envoyproxy/envoy
//! `source/extensions/filters/http/admission_control/{admission_control,thread_local_controller}.cc`. The defaults are
//! those of `api/envoy/extensions/filters/http/admission_control/v3/admission_control.proto`. Ended attempts are counted in
//! samples of one second each. A sample starts with the first event after the end of the previous sample. Every answer
//! with a status below 500 counts as a success, including 429. Refused launches are not counted. The probability of a
//! refusal has four decimal places.

use std::collections::VecDeque;
use std::time::Duration;

use vocabulary::{Rate, Rng, parameters};

use super::refusal::{OnRefusal, surplus};
use super::tally::Counts;
use crate::gauges::REFUSED;
use crate::part_config::part;
use crate::{AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit, Status};

const SAMPLE: Duration = Duration::from_secs(1);

const ACCURACY: u64 = 10_000;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct EnvoyAdmission = "envoy-admission" {
        window: Duration = Duration::from_secs(30),
            "how far back ended attempts are counted", Duration::from_secs(1)..=Duration::from_mins(10);
        threshold: f64 = 0.95, "share of successes below which launches are refused", 0.01..=1.0;
        aggression: f64 = 1.0,
            "how strongly launches are refused; the higher, the more and the earlier", 1.0..=1000.0;
        min_rate("least-rate"): Rate = Rate::per_second(0.0),
            "request rate below which no launch is refused", 0.0..=1e6;
        most: f64 = 0.8, "highest probability of refusal", 0.0..=0.999;
        on_refusal: choice OnRefusal = OnRefusal::BackOff,
            "whether a refused launch backs off as after a failure, or ends its op";
    }
    summary = "refuses some launches at random while too few succeed, as in Envoy";
    rule = "n is the number of attempts that ended in the last `window`, and ok those of them with a status \
        below 500. If there were at least `least-rate` requests per second, a launch is refused with \
        probability min(most, max(0, (n - ok / threshold) / (n + 1))^(1 / aggression))";
    source = "envoyproxy/envoy source/extensions/filters/http/admission_control/admission_control.cc";
}

part!(EnvoyAdmission: Budget, |config, _| Admission::new(config));

struct Admission {
    config: EnvoyAdmission,
    /// Start and counts of ended attempts of each time sample, oldest sample first. There is at most one sample per
    /// second of the window.
    samples: VecDeque<(Instant, Counts)>,
    refused: f64,
}

impl Admission {
    fn new(config: EnvoyAdmission) -> Self {
        Self { config, samples: VecDeque::new(), refused: 0.0 }
    }

    /// Drops expired samples of ended attempts. Starts a new sample, unless the newest sample began less than a second
    /// ago. Envoy also drops and starts samples when it only reads the counts.
    fn update(&mut self, now: Instant) {
        while self.samples.front().is_some_and(|(began, _)| now.since(*began) >= self.config.window) {
            self.samples.pop_front();
        }
        if self.samples.back().is_none_or(|(began, _)| now.since(*began) >= SAMPLE) {
            self.samples.push_back((now, Counts::default()));
        }
    }

    fn refusal(&self, now: Instant) -> f64 {
        let live = self.samples.iter().filter(|(began, _)| now.since(*began) < self.config.window);
        let (mut oldest, mut requests, mut successes) = (None, 0, 0);
        for (began, counts) in live {
            oldest.get_or_insert(*began);
            requests += counts.requests;
            successes += counts.accepted;
        }
        let seconds = oldest.map_or(0, |oldest| now.since(oldest).as_secs()).max(1);
        if ((requests / seconds) as f64) < self.config.min_rate.per_s() {
            return 0.0;
        }
        let surplus = surplus(requests as f64, successes as f64 / self.config.threshold);
        libm::pow(surplus, 1.0 / self.config.aggression).min(self.config.most)
    }
}

impl Budget for Admission {
    fn ask(&self, now: Instant, _launch: &Candidate, rng: &mut dyn Rng) -> BudgetDecision {
        let refused = ACCURACY as f64 * self.refusal(now) > (rng.next_u64() % ACCURACY) as f64;
        if refused { self.config.on_refusal.gate() } else { BudgetDecision::Permit }
    }

    fn on_sent(&mut self, now: Instant, _launch: &Candidate) -> Permit {
        self.update(now);
        Permit::default()
    }

    fn on_shed(&mut self, now: Instant, _launch: &Candidate) {
        self.update(now);
        self.refused = self.refusal(now);
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
        let success = match outcome.status {
            Status::Shed | Status::Deferred | Status::Cancelled => return,
            Status::Succeeded => true,
            Status::Rejected | Status::Failed(_) => (100..500).contains(&outcome.facts.code),
        };
        self.update(now);
        if let Some((_, newest)) = self.samples.back_mut() {
            newest.count(success);
        }
        self.refused = self.refusal(now);
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&REFUSED, 100.0 * self.refused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Always, OK, REJECTED, ended, launch};
    use crate::{Advice, Facts};

    fn secs(secs: u64) -> Instant {
        Instant::from_millis(1000 * secs)
    }

    fn code(code: u16) -> Outcome {
        Outcome { facts: Facts::code(code), ..REJECTED }
    }

    fn after(config: EnvoyAdmission, outcomes: &[(Outcome, u32)]) -> Admission {
        let mut admission = Admission::new(config);
        for (outcome, count) in outcomes {
            for _ in 0..*count {
                admission.on_ended(secs(0), &ended(0, 1), outcome, Permit::default());
            }
        }
        admission
    }

    fn refusal(aggression: f64, threshold: f64, ok: u32, failed: u32) -> f64 {
        let config = EnvoyAdmission { aggression, threshold, most: 0.999, ..EnvoyAdmission::default() };
        after(config, &[(OK, ok), (code(503), failed)]).refusal(secs(0))
    }

    #[test]
    fn it_refuses_what_is_above_the_successes_over_the_threshold() {
        assert!(refusal(1.0, 0.95, 95, 5).abs() < 1e-12);
        assert!((refusal(1.0, 1.0, 500, 500) - 500.0 / 1001.0).abs() < 1e-12);
        assert!((refusal(1.0, 0.5, 100, 300) - 200.0 / 401.0).abs() < 1e-12);
        assert!((refusal(2.0, 1.0, 500, 500) - libm::sqrt(500.0 / 1001.0)).abs() < 1e-12);
        let capped = after(EnvoyAdmission::default(), &[(code(500), 1000)]).refusal(secs(0));
        assert!((capped - 0.8).abs() < 1e-12);
    }

    /// Envoy, `admission_control_filter_test.cc`, `FilterBehaviorBasic`: half of a thousand requests fail; draws of
    /// 5500 and 4500.
    #[test]
    fn the_draw_is_to_four_places() {
        let config = EnvoyAdmission { threshold: 1.0, ..EnvoyAdmission::default() };
        let admission = after(config, &[(OK, 500), (code(503), 500)]);
        let ask =
            |draw: u64| admission.ask(secs(0), &launch(0, None), &mut Always(whose_last_places_are(draw)));
        assert_eq!((ask(5500), ask(4500)), (BudgetDecision::Permit, BudgetDecision::Shed(Advice::None)));
    }

    /// Returns a draw in [0, 1) whose 64 bits modulo 10⁴ have the same hundreds as `places`.
    fn whose_last_places_are(places: u64) -> f64 {
        let bits =
            (0..1 << 20).map(|step| step << 11).find(|bits: &u64| bits % ACCURACY / 100 == places / 100);
        (bits.expect("2048 and 10000 share no large factor") >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[test]
    fn statuses_below_500_succeed_and_samples_expire() {
        let admission = after(EnvoyAdmission::default(), &[(code(429), 10), (code(404), 10)]);
        assert!(admission.refusal(secs(0)).abs() < 1e-12);
        let mut admission = after(EnvoyAdmission::default(), &[(code(500), 9)]);
        assert!((admission.refusal(secs(29)) - 0.8).abs() < 1e-12);
        assert!(admission.refusal(secs(30)).abs() < 1e-12);
        for at in 0..100 {
            admission.on_ended(secs(at), &ended(0, 1), &OK, Permit::default());
        }
        assert_eq!(admission.samples.len(), 30);
    }

    #[test]
    fn it_refuses_nothing_below_a_minimum_request_rate() {
        let config = EnvoyAdmission { min_rate: Rate::per_second(5.0), ..EnvoyAdmission::default() };
        let admission = after(config, &[(code(503), 20)]);
        assert!(admission.refusal(secs(4)) > 0.7);
        assert!(admission.refusal(secs(5)).abs() < 1e-12, "4 per second");
    }
}
