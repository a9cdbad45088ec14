//! `hold`: one advised wait holds all ops of the client, not only the op whose attempt was rejected.
//!
//! Own rule. Until the latest instant that the server has advised in a rejection or failure, nothing is sent. Nothing but time ends the
//! hold. Then the client does not send all that has waited meanwhile, because all of it would be rejected together. It sends at once as
//! many attempts as the server accepted between the last two holds, and beyond them only a few at a time (*feelers*), whose number
//! doubles per round trip.

use std::time::Duration;

use vocabulary::{Rng, choices, parameters};

use crate::delay::grown;
use crate::part_config::part;
use crate::{
    Advice, AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit, Status, Until,
};

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Release {
        Learn = "learn",
        Double = "double",
        All = "all",
    }
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Beyond {
        Cut = "cut",
        Ignore = "ignore",
    }
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum WhenHeld {
        Wait = "wait",
        Shed = "shed",
    }
}

/// Factor by which `blind` grows with each further hold, and the longest such hold.
const BLIND_FACTOR: f64 = 2.0;
const BLIND_CAP: Duration = Duration::from_secs(30);

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct HoldConfig = "hold" {
        release: choice Release = Release::Learn,
            "what is sent when a hold ends: as many attempts as the server accepted before the hold, then one more at a time, doubling \
             (`learn`); one at a time, doubling (`double`); or everything that waits (`all`)";
        max: Duration = Duration::from_hours(1), "longest advised wait that holds the client";
        beyond: choice Beyond = Beyond::Cut, "whether a longer advised wait is cut to `max` or ignored";
        blind: Duration = Duration::ZERO,
            "hold after a rejection without advice; it doubles up to 30 s until an attempt succeeds; 0 for none";
        when_held: choice WhenHeld = WhenHeld::Wait,
            "whether launches wait for the end of the hold, or fail and back off";
    }
    summary = "one gate for all ops: obeys the longest wait that the server advised";
    rule = "a rejection or failure with an advised wait w raises `until` to now + min(w, max), if this is later. Before `until` \
        nothing is sent. Afterwards as many attempts go as succeeded since the hold before (`learn`), and beyond them \
        at most n attempts at once, where n begins at 1 and grows by 1 with each success among them";
    source = "own; wished for in many public trackers of HTTP and API clients";
}

part!(HoldConfig: Budget, |config, _| Hold::new(config));

pub(crate) const HOLD: &str = "hold";

struct Hold {
    config: HoldConfig,
    /// Latest instant that the server has advised. Only ever raised.
    until: Instant,
    /// True from the advice until the first launch after `until`.
    is_holding: bool,
    /// Number of holds that have ended. A feeler has it as its permit, so that feelers of earlier releases are not counted.
    releases: u32,
    /// Sequence number of the first launch of the latest release.
    release_seq: u64,
    /// Number of successes among the launches of the latest release.
    accepted: u64,
    /// Sequence number from which launches of the latest release are feelers. `None` if all may go.
    feelers_from: Option<u64>,
    feelers_out: u64,
    max_feelers: u64,
    /// Number of holds without advice since the latest success.
    blind_holds: u32,
    /// Rejections of launches before this one are older than the latest hold without advice.
    blind_from: u64,
    next_seq: u64,
}

impl Hold {
    fn new(config: HoldConfig) -> Self {
        Self {
            config,
            until: Instant::ORIGIN,
            is_holding: false,
            releases: 0,
            release_seq: 0,
            accepted: 0,
            feelers_from: None,
            feelers_out: 0,
            max_feelers: 1,
            blind_holds: 0,
            blind_from: 0,
            next_seq: 0,
        }
    }

    fn release(&mut self, seq: u64) {
        let credit = match self.config.release {
            Release::All => None,
            Release::Double => Some(0),
            Release::Learn => Some(self.accepted.max(1)),
        };
        self.is_holding = false;
        self.releases = self.releases.wrapping_add(1).max(1);
        self.release_seq = seq;
        self.feelers_from = credit.map(|credit| seq + credit);
        (self.accepted, self.feelers_out, self.max_feelers) = (0, 0, 1);
    }

    fn is_feeler(&self, seq: u64) -> bool {
        self.feelers_from.is_some_and(|from| seq >= from)
    }

    fn hold(&mut self, now: Instant, wait: Duration) {
        let until = now + wait;
        if until > self.until {
            self.until = until;
            self.is_holding = true;
        }
    }

    fn on_advice(&mut self, now: Instant, seq: u64, advice: Advice) {
        let HoldConfig { max, beyond, blind, .. } = self.config;
        match advice {
            Advice::After(wait) if wait > max && beyond == Beyond::Ignore => {}
            Advice::After(wait) if !wait.is_zero() => self.hold(now, wait.min(max)),
            Advice::None if !blind.is_zero() && seq >= self.blind_from => {
                self.hold(now, grown(blind, 1.0, BLIND_FACTOR, self.blind_holds, BLIND_CAP));
                self.blind_holds = self.blind_holds.saturating_add(1);
                self.blind_from = self.next_seq;
            }
            _ => {}
        }
    }
}

impl Budget for Hold {
    fn ask(&self, now: Instant, launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        let (until, rest) = if now < self.until {
            (Until::At(self.until), Advice::After(self.until.since(now)))
        } else if !self.is_holding && self.is_feeler(launch.seq) && self.feelers_out >= self.max_feelers {
            (Until::Event, Advice::None)
        } else {
            return BudgetDecision::Permit;
        };
        match self.config.when_held {
            WhenHeld::Wait => BudgetDecision::Wait(until),
            WhenHeld::Shed => BudgetDecision::Shed(rest),
        }
    }

    fn held_until(&self) -> Option<Instant> {
        Some(self.until)
    }

    fn hold_until(&mut self, at: Instant) {
        self.hold(at, Duration::ZERO);
    }

    fn on_sent(&mut self, _now: Instant, launch: &Candidate) -> Permit {
        self.next_seq = launch.seq + 1;
        if self.is_holding {
            self.release(launch.seq);
        }
        if !self.is_feeler(launch.seq) {
            return Permit::default();
        }
        self.feelers_out += 1;
        Permit(self.releases)
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome, permit: Permit) {
        let succeeded = outcome.status == Status::Succeeded;
        if permit != Permit::default() && permit == Permit(self.releases) {
            self.feelers_out -= 1;
            self.max_feelers += u64::from(succeeded);
        }
        match outcome.status {
            Status::Succeeded => {
                self.accepted += u64::from(ended.seq >= self.release_seq);
                self.blind_holds = 0;
            }
            Status::Rejected => self.on_advice(now, ended.seq, outcome.advice),
            Status::Failed(_) if outcome.advice != Advice::None => {
                self.on_advice(now, ended.seq, outcome.advice);
            }
            Status::Failed(_) | Status::Shed | Status::Deferred | Status::Cancelled => {}
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        if self.is_holding {
            gauges.explain("held", "the server advised a wait");
        }
    }
}

#[cfg(test)]
mod tests;
