//! `palantir`: grows by one per round trip while nine tenths of the limit are used, and shrinks by a tenth per drop.
//! Status codes determine which answers are drops.
//!
//! Source: palantir/dialogue, `dialogue-core/src/main/java/com/palantir/dialogue/core/`,
//! `CautiousIncreaseAggressiveDecreaseConcurrencyLimiter.java` and `Responses.java`. In dialogue, every request passes
//! two limiters: one of its host and one of its endpoint. The strategy `palantir+palantir:variant=endpoint` has both.
//! The limiter has no slow start, and does not depend on time.
//!
//! This limiter receives only status codes and no headers. So it assumes that a 308 has a `Location`, and that no 429
//! or 503 has `Qos-Due-To: custom`. (That header means that the answer comes from the service itself, so the limiter of
//! the host would ignore the answer.)

use vocabulary::{choices, parameters};

use crate::part_config::part;
use crate::{AttemptEnd, Failure, Gauges, Instant, Limiter, Outcome, Status};

/// Upper bound of the limit on attempts in flight (`MAX_LIMIT` of the source).
const MAX: f64 = 1e6;

choices! {
    /// Scope of the limiter, which determines the answers that are drops (`Behavior` in the source).
    enum Variant {
        /// One limiter per host. Missing answers are drops, and so are answers which show that the host is in trouble.
        Host = "host",
        /// One limiter per endpoint. Answers that the endpoint itself causes are drops.
        Endpoint = "endpoint",
        /// One limiter per sticky session. No outcome counts as a drop.
        Sticky = "sticky",
    }
}

parameters! {
    pub(crate) struct PalantirConfig = "palantir" {
        variant: choice Variant = Variant::Host,
            "variant of the limiter; it defines which answers count as drops";
        initial: f64 = 20.0, "initial limit, in attempts in flight", 1.0..=MAX;
        ratio: f64 = 0.9,
            "share of the limit that remains after a drop; also the share that must be in use for it to grow",
            0.01..=0.999;
    }
    summary = "Palantir's window: grows slowly, shrinks fast on certain status codes";
    rule = "an attempt may start while fewer than floor(limit) are in flight. After a success, limit = limit \
        + 1 / limit, at most 1e6, if at least floor(limit * ratio) attempts were in flight when it was sent. \
        After a drop, limit = max(1, floor(limit * ratio)). With variant=host, 308, 501 to 599 and missing \
        answers are drops, and 429 and 500 are ignored. With variant=endpoint, 429 and 500 are drops, and \
        501 to 599 and missing answers are ignored. With variant=sticky, missing answers are ignored. All \
        other answers are successes";
    source = "palantir/dialogue dialogue-core/.../CautiousIncreaseAggressiveDecreaseConcurrencyLimiter.java";
}

part!(PalantirConfig: Limiter, |config, _| Palantir::new(config));

/// Effect of an ended attempt on the limiter (`PermitControl` in the source).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Success,
    Dropped,
    Ignored,
}

impl Variant {
    fn kind(self, outcome: &Outcome) -> Kind {
        if matches!(outcome.status, Status::Shed | Status::Deferred | Status::Cancelled) {
            return Kind::Ignored;
        }
        let code = code(outcome);
        match self {
            Self::Host => match code {
                None | Some(308 | 501..=599) => Kind::Dropped,
                Some(429 | 500) => Kind::Ignored,
                Some(_) => Kind::Success,
            },
            Self::Endpoint => match code {
                Some(429 | 500) => Kind::Dropped,
                None | Some(501..=599) => Kind::Ignored,
                Some(_) => Kind::Success,
            },
            Self::Sticky => code.map_or(Kind::Ignored, |_| Kind::Success),
        }
    }
}

/// Returns the status code of the answer, or `None` without an answer. If only the status of the outcome is known,
/// returns the usual status code for that status.
fn code(outcome: &Outcome) -> Option<u16> {
    if outcome.facts.missing.is_some() {
        return None;
    }
    let usual = match outcome.status {
        Status::Rejected => Some(503),
        Status::Failed(Failure::Server) => Some(500),
        Status::Failed(Failure::Fatal) => Some(400),
        Status::Failed(Failure::Timeout | Failure::Transport) => None,
        Status::Succeeded | Status::Shed | Status::Deferred | Status::Cancelled => Some(200),
    };
    if outcome.facts.code == 0 { usual } else { Some(outcome.facts.code) }
}

struct Palantir {
    config: PalantirConfig,
    limit: f64,
    phase: &'static str,
    reason: &'static str,
}

impl Palantir {
    fn new(config: PalantirConfig) -> Self {
        Self { limit: config.initial, config, phase: "growing", reason: "started" }
    }

    /// Returns the limit after a dropped attempt. The limit grows only if at least as many attempts are in flight as
    /// the returned number.
    fn lower(&self) -> f64 {
        libm::floor(self.limit * self.config.ratio)
    }
}

impl Limiter for Palantir {
    fn is_full(&self, in_flight: u32) -> bool {
        // The limit on attempts in flight is rounded down, as in the source. With a limit of 4.9, there is no fifth
        // attempt.
        f64::from(in_flight) >= libm::floor(self.limit)
    }

    fn on_ended(&mut self, _now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        match self.config.variant.kind(outcome) {
            Kind::Ignored => {}
            Kind::Dropped => {
                self.limit = self.lower().max(1.0);
                (self.phase, self.reason) = ("shrinking", "cut by a drop");
            }
            Kind::Success if f64::from(ended.in_flight_when_sent) >= self.lower() => {
                self.limit = (self.limit + 1.0 / self.limit).min(MAX);
                (self.phase, self.reason) = ("growing", "grown by a success");
            }
            Kind::Success => self.phase = "less than nine tenths of the limit used",
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(self.limit);
        gauges.explain(self.phase, self.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CANCELLED, FATAL, OK, REJECTED, TIMEOUT, ended, view};
    use crate::{Admit, Facts, Missing, Until};

    const NOW: Instant = Instant::ORIGIN;
    const VARIANTS: [Variant; 3] = [Variant::Host, Variant::Endpoint, Variant::Sticky];

    fn palantir(variant: Variant) -> Palantir {
        Palantir::new(PalantirConfig { variant, ..PalantirConfig::default() })
    }

    /// Returns an answer with this code. Its status does not matter to the limiter.
    fn answer(code: u16) -> Outcome {
        let counted = if code < 400 { OK } else { FATAL };
        Outcome { facts: Facts::code(code), ..counted }
    }

    /// Returns the limit, at first 20, after an attempt that was alone in flight.
    fn limit(variant: Variant, outcome: &Outcome) -> f64 {
        let mut palantir = palantir(variant);
        palantir.on_ended(NOW, &ended(0, 1), outcome);
        palantir.limit
    }

    #[track_caller]
    fn is(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < f64::EPSILON, "{value} instead of {wanted}");
    }

    #[test]
    fn attempts_go_while_whole_places_are_left() {
        // `acquire_returnsPermitsWhileInflightPermitLimitNotReached`, `acquire_doesNotAcquirePartialPermits`.
        for variant in VARIANTS {
            let mut palantir = palantir(variant);
            assert_eq!(palantir.poll(NOW, &view(19, 0)), Admit::Go);
            assert_eq!(palantir.poll(NOW, &view(20, 0)), Admit::Wait(Until::Event));
            palantir.on_ended(NOW, &ended(19, 20), &OK);
            is(palantir.limit, 20.05);
            assert_eq!(palantir.poll(NOW, &view(19, 0)), Admit::Go);
            assert_eq!(palantir.poll(NOW, &view(20, 0)), Admit::Wait(Until::Event));
        }
    }

    #[test]
    fn the_limit_grows_only_while_nine_tenths_were_used() {
        // `success_increasesLimitOnlyIfSufficientNumberOfRequestsAreInflight`, `onSuccess_releasesSuccessfully`.
        for variant in VARIANTS {
            is(limit(variant, &answer(200)), 20.0);
            let mut palantir = palantir(variant);
            palantir.on_ended(NOW, &ended(0, 17), &OK);
            is(palantir.limit, 20.0);
            palantir.on_ended(NOW, &ended(0, 18), &OK);
            is(palantir.limit, 20.05);
        }
    }

    #[test]
    fn a_drop_takes_a_tenth_and_the_fraction() {
        // `dropped_reducesLimit`: `(int) (max * 0.9)`.
        is(limit(Variant::Host, &answer(503)), 18.0);
        let mut low = palantir(Variant::Host);
        let limits = [(); 20].map(|()| {
            low.on_ended(NOW, &ended(0, 1), &REJECTED);
            low.limit
        });
        assert_eq!(limits[..4], [18.0, 16.0, 14.0, 12.0]);
        assert_eq!(limits[14..], [1.0; 6]);
        assert_eq!(low.poll(NOW, &view(0, 0)), Admit::Go);
    }

    #[test]
    fn the_host_is_in_trouble_by_308_and_5xx_but_not_by_500_and_429() {
        for code in [308, 501, 503, 599] {
            is(limit(Variant::Host, &answer(code)), 18.0);
        }
        for code in [200, 404, 429, 500] {
            is(limit(Variant::Host, &answer(code)), 20.0);
        }
    }

    /// In a sticky session, no status lowers the limit.
    #[test]
    fn only_429_and_500_lower_the_limit_of_an_endpoint() {
        for (code, wanted) in [(429, 18.0), (500, 18.0), (503, 20.0), (599, 20.0), (308, 20.0), (404, 20.0)] {
            is(limit(Variant::Endpoint, &answer(code)), wanted);
            is(limit(Variant::Sticky, &answer(code)), 20.0);
        }
    }

    #[test]
    fn answers_that_are_ignored_are_no_successes() {
        let kinds = |code| VARIANTS.map(|variant| variant.kind(&answer(code)));
        assert_eq!(kinds(429), [Kind::Ignored, Kind::Dropped, Kind::Success]);
        assert_eq!(kinds(503), [Kind::Dropped, Kind::Ignored, Kind::Success]);
        assert_eq!(kinds(404), [Kind::Success; 3]);
        assert_eq!(kinds(308), [Kind::Dropped, Kind::Success, Kind::Success]);
    }

    #[test]
    fn no_answer_is_a_drop_for_the_host_only() {
        // `onFailure_dropsIfIoException_host`, `onFailure_ignoresIfIoException_endpoint`,
        // `onFailure_ignoresForNonIoExceptions`.
        let closed = Outcome { facts: Facts::missing(Missing::Closed), ..FATAL };
        for outcome in [TIMEOUT, closed] {
            is(limit(Variant::Host, &outcome), 18.0);
            is(limit(Variant::Endpoint, &outcome), 20.0);
        }
        for variant in VARIANTS {
            assert_eq!(variant.kind(&CANCELLED), Kind::Ignored);
        }
    }
}
