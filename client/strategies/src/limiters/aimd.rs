//! `aimd`: TCP's congestion window for requests: grow with every success, cut once per congestion.
//!
//! Source: seed 000 ("Improve on exponential backoff", 2019), after RFC 5681. Three readings that the document
//! leaves open: ids are per attempt; what is flying counts the attempt being acknowledged (else the window never
//! grows); a rejected op goes to the back of the queue, which is the client's doing.

use crate::parameter::Parameter;
use crate::registry::{Context, Part, PartConfig, PartKind};
use crate::spec::SpecError;
use crate::{Admit, Ended, Gauges, Instant, Limiter, Outcome, Status, Until, View};

/// Where the window falls after a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Variant {
    /// To the new ssthresh.
    #[default]
    Reno,
    /// To the initial window.
    Tahoe,
}

/// Parameters of `aimd`.
#[derive(Clone, Debug)]
pub(crate) struct AimdConfig {
    variant: Variant,
    beta: f64,
    initial: f64,
    ssthresh: f64,
}

impl Default for AimdConfig {
    fn default() -> Self {
        Self { variant: Variant::Reno, beta: 0.9, initial: 20.0, ssthresh: 1024.0 }
    }
}

impl PartConfig for AimdConfig {
    const NAME: &'static str = "aimd";
    const KIND: PartKind = PartKind::Limiter;
    const SUMMARY: &'static str = "congestion window: additive increase, multiplicative decrease";
    const RULE: &'static str = "send while in flight < window; success: window = max(window, min(in flight + 1, window + 1)) while \
                                in flight < ssthresh, then with window + 1/window; congestion, unless the attempt was in flight at \
                                the last cut: ssthresh = beta * window, window = ssthresh (reno) or initial (tahoe)";
    const SOURCE: &'static str = "seed 000 (Sync Musings, Improve on exponential backoff); RFC 5681";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::choice(
            "variant",
            "where the window falls after a cut: to ssthresh, or to the initial window",
            &["reno", "tahoe"],
            |config| config.variant as usize,
            |config, word| config.variant = [Variant::Reno, Variant::Tahoe][word],
        ),
        Parameter::number("beta", "what a cut leaves of the window", (0.01, 0.999), |config| {
            &mut config.beta
        }),
        Parameter::number("initial", "the window at first", (1.0, 1e6), |config| &mut config.initial),
        Parameter::number(
            "ssthresh",
            "in flight below which growth is exponential, at first",
            (1.0, 1e9),
            |config| &mut config.ssthresh,
        ),
    ];

    fn build(self, _context: &mut Context) -> Result<Part, SpecError> {
        Ok(Part::Limiter(Box::new(Aimd::new(self))))
    }
}

struct Aimd {
    config: AimdConfig,
    window: f64,
    ssthresh: f64,
    /// Number of the next attempt to be sent.
    next_seq: u64,
    /// Attempts numbered below this were in flight at the last cut, or over: their congestion is old news.
    cut_seq: u64,
    phase: &'static str,
    reason: &'static str,
}

impl Aimd {
    fn new(config: AimdConfig) -> Self {
        Self {
            window: config.initial,
            ssthresh: config.ssthresh,
            next_seq: 0,
            cut_seq: 0,
            phase: "slow start",
            reason: "started",
            config,
        }
    }

    fn grow(&mut self, flying: f64) {
        let step = if flying < self.ssthresh {
            self.phase = "slow start";
            1.0
        } else {
            self.phase = "congestion avoidance";
            1.0 / self.window
        };
        self.window = self.window.max((flying + 1.0).min(self.window + step));
    }

    fn cut(&mut self, status: Status) {
        self.ssthresh = (self.window * self.config.beta).max(1.0);
        self.window = match self.config.variant {
            Variant::Reno => self.ssthresh,
            Variant::Tahoe => self.config.initial,
        };
        self.cut_seq = self.next_seq;
        self.reason = match status {
            Status::Rejected => "cut by a rejection",
            _ => "cut by a failure",
        };
    }
}

impl Limiter for Aimd {
    fn poll(&self, _now: Instant, view: &View) -> Admit {
        if f64::from(view.in_flight) < self.window { Admit::Go } else { Admit::Wait(Until::Event) }
    }

    fn on_sent(&mut self, _now: Instant, view: &View) {
        self.next_seq = view.candidate.seq + 1;
    }

    fn on_ended(&mut self, _now: Instant, ended: &Ended, outcome: &Outcome) {
        if outcome.status == Status::Succeeded {
            self.grow(f64::from(ended.in_flight));
        } else if outcome.status.is_congestion() && ended.seq >= self.cut_seq {
            self.cut(outcome.status);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(self.window);
        gauges.ssthresh = Some(self.ssthresh);
        gauges.phase = Some(self.phase);
        gauges.reason = Some(self.reason);
    }
}
