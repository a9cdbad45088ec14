//! What the terminal is told while the server serves: events such as another cap, a line each; and, where people look
//! at a terminal, one line that is always of now.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use mockserver_core::Config;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{tcgetpgrp, tcgetwinsize};
use vocabulary::wire::ServerCounts;

use crate::shared::Shared;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(250);

/// Looks that rates are averaged over, four seconds: long enough for answers that come in waves.
const LOOKS: usize = 16;

/// Carriage return, and nothing left of what was there.
const ANEW: &str = "\r\u{1b}[2K";

/// Tells what changes from a moment on until it is dropped; never returns.
pub(crate) async fn tell(shared: &Shared, mut seen: Seen) {
    let mut before = VecDeque::from([seen.clone()]);
    let mut looks = tokio::time::interval(EVERY);
    let mut events = String::new();
    loop {
        looks.tick().await;
        let now = Seen::of(shared);
        for event in now.events(&seen) {
            events.push_str(&vocabulary::printable(&event));
            events.push('\n');
        }
        let painted = paints();
        let mut words = String::new();
        // Signals wait while this writes: a terminal that was stopped with Ctrl-S is told later.
        if takes_words(Duration::ZERO) {
            words.push_str(if painted { ANEW } else { "" });
            words.push_str(&std::mem::take(&mut events));
        }
        if painted && !words.is_empty() {
            let columns = tcgetwinsize(io::stderr()).map_or(80, |size| size.ws_col);
            let line = now.line(before.front().unwrap_or(&seen));
            words.extend(line.chars().take(usize::from(columns.max(2)) - 1));
        }
        if !words.is_empty() {
            // A closed stderr must not stop the server.
            drop(io::stderr().lock().write_all(words.as_bytes()));
        }
        if before.len() == LOOKS {
            before.pop_front();
        }
        before.push_back(now.clone());
        seen = now;
    }
}

/// Takes the live line away, for what is told after it.
pub(crate) fn clear() {
    if paints() && takes_words(Duration::ZERO) {
        drop(io::stderr().lock().write_all(ANEW.as_bytes()));
    }
}

/// Whether stderr can be written within this time without waiting.
pub(crate) fn takes_words(within: Duration) -> bool {
    let stderr = io::stderr();
    let within = Timespec { tv_sec: within.as_secs().cast_signed(), tv_nsec: within.subsec_nanos().into() };
    poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&within)).is_ok_and(|ready| ready > 0)
}

/// Whether people look at a terminal, and a line there would not be over what somebody else shows: not from the background.
fn paints() -> bool {
    let terminal = io::stderr().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
    // A terminal that is not ours knows nothing of our groups.
    let in_background = tcgetpgrp(io::stderr()).is_ok_and(|foreground| foreground != getpgrp());
    terminal && !in_background
}

/// The server at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    at_s: f64,
    busy: u64,
    capacity: Option<u32>,
    config: Config,
    epoch: u64,
    counts: ServerCounts,
}

impl Seen {
    pub(crate) fn of(shared: &Shared) -> Self {
        let metrics = shared.metrics();
        Self {
            at_s: metrics.stats.uptime_s,
            busy: metrics.stats.busy,
            capacity: metrics.capacity,
            config: shared.config(),
            epoch: metrics.stats.epoch,
            counts: metrics.lifetime.counts,
        }
    }

    /// What has changed.
    fn events(&self, before: &Self) -> Vec<String> {
        let mut events = Vec::new();
        if let (Some(capacity), Some(before)) = (self.capacity, before.capacity)
            && capacity != before
        {
            events.push(format!("{:.1} s: cap {before} → {capacity}", self.at_s));
        }
        let same_but_for_the_cap = Config { max_busy: before.config.max_busy, ..self.config.clone() };
        if same_but_for_the_cap != before.config {
            events.push(format!("{:.1} s: configured anew: {}", self.at_s, self.config.describe()));
        }
        if self.epoch != before.epoch {
            events.push(format!("{:.1} s: counts begin anew", self.at_s));
        }
        events
    }

    /// All of it in one line.
    fn line(&self, before: &Self) -> String {
        let seconds = self.at_s - before.at_s;
        let rate = |count: fn(&ServerCounts) -> u64| {
            let counted = count(&self.counts).saturating_sub(count(&before.counts));
            if seconds > 0.0 { counted as f64 / seconds } else { 0.0 }
        };
        let of = self.capacity.map(|capacity| format!("/{capacity}")).unwrap_or_default();
        format!(
            "busy {:>4}{of}   accepted {:>6.1}/s   rejected {:>6.1}/s   received {}",
            self.busy,
            rate(|counts| counts.accepted),
            rate(|counts| counts.rejected),
            self.counts.received
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_s: f64, max_busy: u32, accepted: u64) -> Seen {
        Seen {
            at_s,
            busy: 48,
            capacity: Some(max_busy),
            config: Config { max_busy, ..Config::default() },
            epoch: 0,
            counts: ServerCounts { accepted, received: accepted, ..ServerCounts::default() },
        }
    }

    #[test]
    fn the_line_tells_busy_of_cap_and_rates_of_the_last_seconds() {
        let line = seen(4.0, 50, 400).line(&seen(2.0, 50, 204));
        assert_eq!(line, "busy   48/50   accepted   98.0/s   rejected    0.0/s   received 400");
    }

    #[test]
    fn another_cap_another_configuration_and_a_reset_are_events() {
        let before = seen(1.0, 50, 0);
        assert!(before.events(&before).is_empty());
        assert_eq!(seen(2.04, 20, 9).events(&before), ["2.0 s: cap 50 → 20"]);
        let mut now = seen(3.0, 50, 9);
        (now.config.reject_status, now.epoch) = (429, 1);
        let [configured, reset] = &now.events(&before)[..] else { panic!("two events") };
        assert!(configured.contains("reject 50ms (429") && reset.contains("counts begin anew"));
    }
}
