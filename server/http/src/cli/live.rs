//! Terminal output while the server runs. Every event, such as a new cap, is one line. On a terminal there is also a status line, which is
//! updated in place.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use mockserver_core::{Config, LimitStatus, Policies};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;
use vocabulary::thousands;
use wire::ServerCounts;

use crate::shared::Shared;
use crate::wrap::USUAL;
use command_line::columns_of;

const EVERY: Duration = Duration::from_millis(250);

/// Number of updates over which rates are averaged: four seconds. That is long enough to smooth answers that come in waves.
const LOOKS: usize = 16;

/// Start of an updated status line: a carriage return, and the escape sequence that erases the line.
const ANEW: &str = "\r\u{1b}[2K";

/// Prints all changes since `seen`, and the status line. It never returns; the caller stops it by dropping the future.
pub(crate) async fn tell(shared: &Shared, mut seen: Seen) {
    let mut before = VecDeque::from([seen.clone()]);
    let mut looks = tokio::time::interval(EVERY);
    let mut events = String::new();
    loop {
        looks.tick().await;
        let now = Seen::new(shared);
        for event in now.events(&seen) {
            events.push_str(&vocabulary::printable(&event));
            events.push('\n');
        }
        let painted = paints();
        let mut words = String::new();
        // Nothing is written while stderr would block, because signals are not handled during a write. A terminal stopped with Ctrl-S gets
        // the output later.
        if takes_words(Duration::ZERO) {
            words.push_str(if painted { ANEW } else { "" });
            words.push_str(&std::mem::take(&mut events));
        }
        if painted && !words.is_empty() {
            // The last column of the terminal stays empty, because some terminals wrap a line that fills it.
            let columns = columns().unwrap_or(USUAL).max(2) - 1;
            let line = now.line(before.front().unwrap_or(&seen), columns);
            words.extend(line.chars().take(columns));
        }
        if !words.is_empty() {
            // A write error is ignored, because a closed stderr must not stop the server.
            drop(io::stderr().lock().write_all(words.as_bytes()));
        }
        if before.len() == LOOKS {
            before.pop_front();
        }
        before.push_back(now.clone());
        seen = now;
    }
}

pub(crate) fn clear() {
    if paints() && takes_words(Duration::ZERO) {
        drop(io::stderr().lock().write_all(ANEW.as_bytes()));
    }
}

/// Returns true if stderr accepts output within the given time without blocking.
pub(crate) fn takes_words(within: Duration) -> bool {
    let stderr = io::stderr();
    let within = Timespec { tv_sec: within.as_secs().cast_signed(), tv_nsec: within.subsec_nanos().into() };
    poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&within)).is_ok_and(|ready| ready > 0)
}

pub(crate) fn columns() -> Option<usize> {
    io::stderr().is_terminal().then(|| columns_of(&io::stderr()).unwrap_or(USUAL))
}

/// Returns true if the status line is to be drawn. It is drawn only on a terminal, and not by a background process, which would overwrite
/// the output of other programs.
fn paints() -> bool {
    let terminal = io::stderr().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
    // If the terminal does not control this process, the process groups are unknown. The process then counts as running in the foreground.
    let in_background = tcgetpgrp(io::stderr()).is_ok_and(|foreground| foreground != getpgrp());
    terminal && !in_background
}

#[derive(Clone, Debug)]
pub(crate) struct Seen {
    at_s: f64,
    busy: u64,
    capacity: Option<u32>,
    config: Config,
    epoch: u64,
    counts: ServerCounts,
    /// Name and status of each limit, in the order of the stack of policies.
    limits: Vec<(String, LimitStatus)>,
    /// Number of requests that arrived too early, before the time that the server had advised to their client. `None` if the server never
    /// advises a time.
    early: Option<u64>,
}

impl Seen {
    pub(crate) fn new(shared: &Shared) -> Self {
        let metrics = shared.metrics();
        Self {
            at_s: metrics.stats.uptime_s,
            busy: metrics.stats.busy,
            capacity: metrics.capacity,
            config: shared.config(),
            epoch: metrics.stats.epoch,
            counts: metrics.lifetime.counts,
            limits: shared.limits(),
            early: shared.advises().then_some(metrics.lifetime.early),
        }
    }

    fn events(&self, before: &Self) -> Vec<String> {
        let mut events = Vec::new();
        if let (Some(capacity), Some(before)) = (self.capacity, before.capacity)
            && capacity != before
        {
            events.push(format!("{:.1} s: cap {before} → {capacity}", self.at_s));
        }
        let same_but_for_the_cap = Config { max_busy: before.config.max_busy, ..self.config.clone() };
        if same_but_for_the_cap != before.config {
            events.push(format!("{:.1} s: new configuration: {}", self.at_s, self.config.describe()));
        }
        if self.epoch != before.epoch {
            events.push(format!("{:.1} s: counts reset", self.at_s));
        }
        events
    }

    fn line(&self, before: &Self, columns: usize) -> String {
        let seconds = self.at_s - before.at_s;
        let rate = |count: fn(&ServerCounts) -> u64| {
            let counted = count(&self.counts).saturating_sub(count(&before.counts));
            if seconds > 0.0 { counted as f64 / seconds } else { 0.0 }
        };
        let last = match self.early {
            Some(early) => format!("retried too early {}", thousands(early)),
            None => format!("received {}", thousands(self.counts.received)),
        };
        let rest = format!(
            "served {:.1}/s   rejected {:.1}/s   {last}",
            rate(|counts| counts.accepted),
            rate(|counts| counts.rejected),
        );
        format!("{}   {rest}", self.levels(columns.saturating_sub(rest.chars().count() + 3)))
    }

    fn levels(&self, columns: usize) -> String {
        // For the server's own slots, the busy count is shown instead of the limit's status, because rejections may hold slots, too.
        if self.limits.is_empty() || self.config.policy == Policies::default() {
            let of =
                self.capacity.map(|capacity| format!("/{}", thousands(capacity.into()))).unwrap_or_default();
            return format!("busy {}{of}", thousands(self.busy));
        }
        let mut nearest: Vec<usize> = (0..self.limits.len()).collect();
        nearest.sort_by(|one, other| {
            let left = |index: &usize| {
                let (_, LimitStatus { limit, remaining, .. }) = self.limits[*index];
                if limit == 0 { 0.0 } else { remaining as f64 / limit as f64 }
            };
            left(one).total_cmp(&left(other))
        });
        let text = |index: &usize| {
            let (name, LimitStatus { limit, remaining, .. }) = &self.limits[*index];
            format!("{name} {}/{} left", thousands(*remaining), thousands(*limit))
        };
        let joined = |count: usize| {
            let mut shown = nearest[..count].to_vec();
            shown.sort_unstable();
            shown.iter().map(text).collect::<Vec<_>>().join("   ")
        };
        let fitting = (1..=nearest.len()).rev().map(joined).find(|levels| levels.chars().count() <= columns);
        fitting.unwrap_or_else(|| joined(1))
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
            limits: Vec::new(),
            early: None,
        }
    }

    #[test]
    fn the_line_has_busy_slots_and_rates_of_the_last_seconds() {
        let line = seen(4.0, 50, 1_400).line(&seen(2.0, 50, 1_204), 79);
        assert_eq!(line, "busy 48/50   served 98.0/s   rejected 0.0/s   received 1 400");
    }

    #[test]
    fn the_limit_with_the_least_left_comes_first_to_a_narrow_line() {
        let limit = |name: &str, limit, remaining| {
            (name.to_owned(), LimitStatus { limit, remaining, ..LimitStatus::default() })
        };
        let now = Seen {
            config: Config::default().with_preset("openai", None).unwrap(),
            limits: vec![limit("requests", 500, 0), limit("tokens", 30_000, 29_500)],
            early: Some(12),
            ..seen(4.0, 50, 200)
        };
        let line = |columns| now.line(&seen(2.0, 50, 0), columns);
        assert_eq!(line(79), "requests 0/500 left   served 100.0/s   rejected 0.0/s   retried too early 12");
        assert_eq!(
            line(119),
            "requests 0/500 left   tokens 29 500/30 000 left   served 100.0/s   rejected 0.0/s   retried too early 12"
        );
    }

    #[test]
    fn another_cap_another_configuration_and_a_reset_are_events() {
        let before = seen(1.0, 50, 0);
        assert!(before.events(&before).is_empty());
        assert_eq!(seen(2.04, 20, 9).events(&before), ["2.0 s: cap 50 → 20"]);
        let mut now = seen(3.0, 50, 9);
        (now.config.reject_status, now.epoch) = (429, 1);
        let [configured, reset] = &now.events(&before)[..] else { panic!("two events") };
        assert!(configured.contains("reject 50ms (429") && reset.contains("counts reset"));
    }
}
