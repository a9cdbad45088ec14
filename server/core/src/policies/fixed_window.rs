//! Rate limit with a counter of requests that restarts from zero with every time window.
//!
//! Source: envoyproxy/ratelimit, Kong's rate-limiting plugin and GitHub's hourly limits align windows with the clock; microsoft/dev-proxy
//! starts a window with the first request.

use std::time::Duration;

use vocabulary::{Configurable, DAY, Instant, Parameter, choices};

use crate::policies::{
    Charge, Common, Decision, Keyed, Limit, PolicyConfig, RateAlgorithm, StagePolicy, after, nanos,
};
use crate::{LimitStatus, Pace, RateLaw};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FixedWindow {
    pub(crate) limit: u32,
    pub(crate) window: Duration,
    pub(crate) align: Align,
    /// Nanoseconds from the start of a clock-aligned window to the start of the server.
    pub(crate) phase: u64,
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Align {
        /// The first window starts with the server. Each further window follows the previous one without a gap.
        Start = "start",
        /// Windows are aligned with the clock, for example with full hours. They follow each other without gaps from 1970-01-01, 00:00 UTC.
        Epoch = "epoch",
        /// The first window starts with the first request of the run. Each further window follows the previous one without a gap.
        Run = "run",
        /// Each window starts with the first request after the end of the previous window.
        First = "first",
    }
}

impl Default for FixedWindow {
    fn default() -> Self {
        Self { limit: 100, window: Duration::from_secs(1), align: Align::Start, phase: 0 }
    }
}

impl Configurable for FixedWindow {
    const NAME: &'static str = "fixed-window";
    const SUMMARY: &'static str =
        "accepts a number of requests in each window of time; further requests are rejected";
    const RULE: &'static str = "a request is accepted if fewer than `limit` requests were accepted since \
                                the window began. Windows follow one another, counted from the server's \
                                start (align=start), from 1970-01-01 (align=epoch) or from the run's first \
                                request (align=run). With align=first, each window begins with a request \
                                instead. The advised wait is the rest of the window";
    const SOURCE: &'static str =
        "envoyproxy/ratelimit; Kong's plugin rate-limiting; microsoft/dev-proxy for align=first";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::count("limit", "number of requests accepted per window", 1..=1_000_000_000, |config| {
            &mut config.limit
        }),
        Parameter::duration_in("window", "length of a window", Duration::from_millis(1)..=DAY, |config| {
            &mut config.window
        }),
        Parameter::choice(
            "align",
            "when windows begin: counted from the server's start, from 1970, or from a run's first request, or each with a key's first request",
            |config| &mut config.align,
        ),
    ];
}

impl PolicyConfig for FixedWindow {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::within("limit", "window"))
    }

    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        let since_epoch = common.anchor.since_unix().as_nanos() % self.window.as_nanos();
        let phase = if self.align == Align::Epoch { u64::try_from(since_epoch).unwrap_or(0) } else { 0 };
        Some(Keyed::stage(Self { phase, ..self.clone() }, common))
    }

    fn pace(&self) -> Option<Pace> {
        (self.align != Align::First).then(|| Pace::of_windows(self.limit, self.window))
    }

    fn rate_law(&self) -> Option<RateLaw> {
        Some(RateLaw::of_windows(self.pace().unwrap_or_else(|| Pace::new(self.clone()))))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// Start of the current window. If the window began before the server's start, the server's start is stored.
    began: Instant,
    ends: Instant,
    accepted: u32,
    /// Start of the run, from which windows are counted if they are aligned with the run ([`Align::Run`]). Unused with any other alignment.
    run_began: Instant,
}

impl RateAlgorithm for FixedWindow {
    type State = Window;

    fn fresh(&self) -> Window {
        Window::default()
    }

    fn begin(&self, window: &mut Window, began: Option<Instant>) {
        let began = began.filter(|began| self.align == Align::Run && *began != window.run_began);
        if let Some(began) = began {
            *window = Window { began, run_began: began, ..self.fresh() };
        }
    }

    fn advance(&self, window: &mut Window, at: Instant) {
        if at >= window.ends {
            window.accepted = 0;
            if self.align != Align::First {
                let length = self.window.as_nanos();
                let first = if self.align == Align::Run { window.run_began } else { Instant::ORIGIN };
                let passed = (at.since(first).as_nanos() + u128::from(self.phase)) % length;
                let passed = u64::try_from(passed).unwrap_or(u64::MAX);
                window.began = Instant::from_nanos(at.as_nanos().saturating_sub(passed));
                window.ends = at + nanos(length - u128::from(passed));
            }
        }
    }

    fn ask(&self, window: &Window, at: Instant, cost: u32) -> Decision {
        match self.limit.checked_sub(window.accepted) {
            _ if cost > self.limit => Decision::Reject(None),
            Some(left) if cost <= left => Decision::Pass,
            _ => after(window.ends.since(at).as_nanos()),
        }
    }

    fn charge(&self, window: &mut Window, at: Instant, cost: u32) {
        if at >= window.ends {
            (window.began, window.ends) = (at, at + self.window);
        }
        window.accepted = window.accepted.saturating_add(cost);
    }

    fn refund(&self, window: &mut Window, at: Instant, taken: Charge) {
        self.advance(window, at);
        // A charge of an earlier window no longer counts, so nothing is refunded for it.
        if taken.at >= window.began && at < window.ends {
            window.accepted = window.accepted.saturating_sub(taken.cost);
        }
    }

    fn limit_status(&self, window: &Window, at: Instant) -> LimitStatus {
        LimitStatus {
            limit: self.limit.into(),
            remaining: self.limit.saturating_sub(window.accepted).into(),
            reset: window.ends.since(at),
            window: Some(self.window),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::tests::timelines::{A, R, assert_timeline};

    fn algorithm(align: Align) -> FixedWindow {
        FixedWindow { limit: 2, window: Duration::from_secs(10), align, phase: 0 }
    }

    #[test]
    fn twice_the_limit_passes_where_two_windows_adjoin() {
        assert_timeline(
            &algorithm(Align::Start),
            &[(9000, A), (9500, A), (9900, R(100)), (10_000, A), (10_000, A), (10_000, R(10_000))],
        );
    }

    #[test]
    fn a_window_may_begin_with_the_first_request() {
        assert_timeline(
            &algorithm(Align::First),
            &[
                (9000, A),
                (9500, A),
                (10_000, R(9000)),
                (18_999, R(1)),
                (19_000, A),
                (40_000, A),
                (41_000, A),
                (41_000, R(9000)),
            ],
        );
    }

    /// This holds even if windows have become longer since.
    #[test]
    fn charges_of_an_earlier_window_are_not_refunded() {
        for align in [Align::Start, Align::First] {
            let (algorithm, at) = (algorithm(align), Instant::from_millis);
            let longer = FixedWindow { window: Duration::from_mins(1), ..algorithm.clone() };
            let mut window = algorithm.fresh();
            for at_ms in [9000, 19_500, 19_600] {
                algorithm.advance(&mut window, at(at_ms));
                algorithm.charge(&mut window, at(at_ms), 1);
            }
            longer.reconfigure(&mut window, at(19_700), &algorithm);
            longer.refund(&mut window, at(19_800), Charge { at: at(9000), cost: 1 });
            assert!(matches!(longer.ask(&window, at(19_800), 1), Decision::Reject(_)), "{align:?}");
            longer.refund(&mut window, at(19_800), Charge { at: at(19_600), cost: 1 });
            assert_eq!(longer.ask(&window, at(19_800), 1), Decision::Pass, "{align:?}");
        }
    }

    #[test]
    fn windows_of_the_epoch_begin_by_the_calendar() {
        // The server starts 7 s into a window.
        let algorithm = FixedWindow { phase: 7_000_000_000, ..algorithm(Align::Epoch) };
        assert_timeline(
            &algorithm,
            &[
                (0, A),
                (0, A),
                (0, R(3000)),
                (2999, R(1)),
                (3000, A),
                (12_999, A),
                (12_999, R(1)),
                (13_000, A),
            ],
        );
    }
}
