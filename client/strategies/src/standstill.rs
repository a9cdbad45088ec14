//! What a limiter without a back-off of its own does when the server is not there: it holds all its ops back, and probes.
//!
//! A refused or reset connection costs neither side any time, so a window would send as fast as the machine can. After such a
//! failure one attempt goes out after 50 ms, the next 100, 200, then 250 ms later, until something answers: at a dead port
//! that is 4 attempts a second, and a server that is back is noticed within 250 ms. Retry policies with delays pace
//! themselves and are left alone.

use std::time::Duration;

use crate::{Failure, Instant, Status};

/// The first probe waits this long.
const SHORTEST: Duration = Duration::from_millis(50);

/// No probe waits longer; and what has not failed for so long has been let in: a refusal comes at once.
const LONGEST: Duration = Duration::from_millis(250);

/// Whether the server is there, as far as connections tell.
#[derive(Debug)]
pub(crate) struct Standstill {
    /// Apart, as it is hardly ever.
    held: Option<Box<Held>>,
    /// How long the next probe waits. Only an answer brings it back to the shortest.
    wait: Duration,
    /// Number of the next attempt to be sent.
    next_seq: u64,
}

/// Launches are held back.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Attempts from this number on are probes.
    first_probe: u64,
    /// The next probe goes out then.
    until: Instant,
    /// The earliest probe that is out, and when it was sent.
    out: Option<(u64, Instant)>,
}

impl Standstill {
    pub(crate) fn new() -> Self {
        Self { held: None, wait: SHORTEST, next_seq: 0 }
    }

    /// The instant before which nothing may be launched at `now`, if there is one.
    pub(crate) fn holds(&self, now: Instant) -> Option<Instant> {
        let held = self.held.as_ref()?;
        let let_in = held.out.map_or(Instant::FAR_FUTURE, |(_, sent_at)| sent_at + LONGEST);
        Some(held.until.min(let_in)).filter(|until| now < *until)
    }

    /// Whether launches are held back.
    pub(crate) fn is_on(&self) -> bool {
        self.held.is_some()
    }

    /// An attempt was sent: while launches are held back, a probe.
    pub(crate) fn on_sent(&mut self, now: Instant, seq: u64) {
        self.next_seq = seq + 1;
        let Some(held) = &mut self.held else { return };
        if held.out.is_some_and(|(_, sent_at)| now >= sent_at + LONGEST) {
            self.held = None;
            return;
        }
        held.out.get_or_insert((seq, now));
        held.until = now + self.wait;
        self.wait = (self.wait * 2).min(LONGEST);
    }

    /// An attempt ended. Says whether it was a probe that failed, which is no news: the limiter has heard of the outage.
    pub(crate) fn on_ended(&mut self, now: Instant, seq: u64, status: Status) -> bool {
        match status {
            Status::Failed(Failure::Transport) => match &mut self.held {
                None => {
                    let held = Held { first_probe: self.next_seq, until: now + self.wait, out: None };
                    self.held = Some(Box::new(held));
                    false
                }
                Some(held) => {
                    held.forget(seq);
                    seq >= held.first_probe
                }
            },
            Status::Cancelled => {
                if let Some(held) = &mut self.held {
                    held.forget(seq);
                }
                false
            }
            // Who waits until the timeout was let in; how slow the server is, is the limiter's business.
            Status::Failed(Failure::Timeout) => {
                self.held = self.held.take().filter(|held| seq < held.first_probe);
                false
            }
            // An answer.
            _ => {
                self.held = None;
                self.wait = SHORTEST;
                false
            }
        }
    }
}

impl Held {
    fn forget(&mut self, seq: u64) {
        self.out = self.out.filter(|(out, _)| *out != seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: Status = Status::Failed(Failure::Transport);

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Three attempts are out, and the first has failed.
    fn dead(at: Instant) -> Standstill {
        let mut standstill = Standstill::new();
        (0..3).for_each(|seq| standstill.on_sent(ms(0), seq));
        assert_eq!(standstill.holds(at), None);
        assert!(!standstill.on_ended(at, 0, REFUSED), "the first failure is news");
        standstill
    }

    #[test]
    fn probes_come_after_50_100_200_and_then_every_250_ms() {
        let mut standstill = dead(ms(0));
        let mut sent = Vec::new();
        let mut now = ms(0);
        for seq in 3..9 {
            now = standstill.holds(now).expect("nothing has answered");
            standstill.on_sent(now, seq);
            assert!(standstill.on_ended(now, seq, REFUSED), "a probe that fails is no news");
            sent.push(now);
        }
        assert_eq!(sent, [50, 100, 200, 400, 650, 900].map(ms));
    }

    #[test]
    fn what_was_in_flight_changes_nothing_when_it_fails_and_ends_it_when_it_is_answered() {
        let mut standstill = dead(ms(0));
        assert!(!standstill.on_ended(ms(10), 1, REFUSED), "not a probe");
        assert_eq!(standstill.holds(ms(10)), Some(ms(50)));
        standstill.on_ended(ms(20), 2, Status::Rejected);
        assert_eq!(standstill.holds(ms(20)), None);
    }

    #[test]
    fn a_probe_that_does_not_fail_was_let_in() {
        let mut standstill = dead(ms(0));
        standstill.on_sent(ms(50), 3);
        standstill.on_sent(ms(100), 4);
        assert_eq!(standstill.holds(ms(100)), Some(ms(200)));
        standstill.on_sent(ms(200), 5);
        assert_eq!(standstill.holds(ms(200)), Some(ms(300)), "250 ms after the first probe");
        assert_eq!(standstill.holds(ms(300)), None);
        standstill.on_sent(ms(300), 6);
        assert!(!standstill.is_on());
        // A server that lets in and then resets is not sent more for it.
        standstill.on_ended(ms(900), 3, REFUSED);
        assert_eq!(standstill.holds(ms(900)), Some(ms(1150)));
    }

    #[test]
    fn a_probe_that_is_withdrawn_tells_nothing_and_one_that_times_out_was_let_in() {
        let mut standstill = dead(ms(0));
        standstill.on_sent(ms(50), 3);
        standstill.on_ended(ms(60), 3, Status::Cancelled);
        assert_eq!(standstill.holds(ms(60)), Some(ms(100)));
        standstill.on_sent(ms(100), 4);
        standstill.on_ended(ms(120), 1, Status::Failed(Failure::Timeout));
        assert!(standstill.is_on());
        standstill.on_ended(ms(130), 4, Status::Failed(Failure::Timeout));
        assert!(!standstill.is_on());
    }
}
