//! Text notation of a schedule: entries in order of time, joined by `;`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vocabulary::whole_nanos;

use super::entry::{Action, Entry, Target, Until};
use crate::list::{is_none, write_joined};

const MAX_ENTRIES: usize = 1000;

/// Schedule of changes during a run, in order of time. It is checked against the current policies by
/// [`Config::validate`](crate::Config::validate). Every changed parameter must exist, and it must accept its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Option<String>", into = "String")]
pub struct Schedule(pub(super) Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    #[error(
        "`{entry}` cannot be scheduled: {why}; an example of a schedule is `0s max-busy=50; 20s..30s down; \
         30s..40s max-busy=20..80`"
    )]
    Entry { entry: String, why: String },
    #[error("the schedule has {0} entries; at most {MAX_ENTRIES} are accepted")]
    TooLong(usize),
}

impl ScheduleError {
    pub(super) fn new(entry: impl fmt::Display, why: impl Into<String>) -> Self {
        Self::Entry { entry: entry.to_string(), why: why.into() }
    }
}

impl Schedule {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub(crate) fn without(&self, target: &Target) -> Self {
        let is_it = |entry: &Entry| matches!(&entry.action, Action::Set(set, _) if set == target);
        let mut kept = Self(self.0.iter().filter(|entry| !is_it(entry)).cloned().collect());
        // An outage (`down`) without an explicit end lasts until a later entry that is not `down`. If that entry is removed, the outage
        // gets its previous end explicitly.
        let (ends, others) = (self.ends_of_down(), kept.ends_of_down());
        let downs = kept.0.iter_mut().filter(|entry| entry.action == Action::Down);
        for (down, (end, other)) in downs.zip(ends.into_iter().zip(others)) {
            if let Some(end) = end.filter(|_| end != other) {
                down.until = Until::Then(end);
            }
        }
        kept
    }

    /// Returns the start and end of each period in which the server is down, in nanoseconds since the run began. The end is `u64::MAX` if
    /// the period does not end.
    pub fn down(&self) -> Vec<(u64, u64)> {
        let downs = self.0.iter().filter(|entry| entry.action == Action::Down);
        let ranges = downs.zip(self.ends_of_down());
        ranges.map(|(down, end)| (whole_nanos(down.from), end.map_or(u64::MAX, whole_nanos))).collect()
    }

    /// Returns the end of each outage (`down`); `None` if the outage does not end. An outage without an explicit end lasts until a later
    /// entry that is not `down`.
    fn ends_of_down(&self) -> Vec<Option<Duration>> {
        let downs = self.0.iter().enumerate().filter(|(_, entry)| entry.action == Action::Down);
        let ends = downs.map(|(index, down)| {
            let is_end = |later: &&Entry| later.action != Action::Down && later.from > down.from;
            down.end().or_else(|| self.0[index + 1..].iter().find(is_end).map(|later| later.from))
        });
        ends.collect()
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if is_none(text) {
            return Ok(Self::default());
        }
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let count = parts.clone().count();
        if count > MAX_ENTRIES {
            return Err(ScheduleError::TooLong(count));
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(count);
        for part in parts {
            let entry = Entry::read(part).map_err(|why| ScheduleError::new(part, why))?;
            if entries.last().is_some_and(|before| entry.from < before.from) {
                return Err(ScheduleError::new(
                    part,
                    "it begins earlier than the entry before it; write the entries in the order of their \
                     times",
                ));
            }
            let same = entries.iter().rev().find(|before| before.is_about_what(&entry));
            let is_over = |before: &Entry| {
                // Without an explicit end, an outage (`down`) lasts until a later entry that is not `down`.
                before.action != Action::Down
                    || before.end().is_some()
                    || entry.action != Action::Down
                    || entries.iter().any(|other| other.from > before.from && other.action != Action::Down)
            };
            if let Some(before) = same
                && (before.from == entry.from
                    || before.end().is_some_and(|end| entry.from < end)
                    || !is_over(before))
            {
                return Err(ScheduleError::new(
                    part,
                    format!("it overlaps with `{before}`; change one of the two times"),
                ));
            }
            entries.push(entry);
        }
        Ok(Self(entries))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(&self.0, "; ", f)
    }
}

impl TryFrom<Option<String>> for Schedule {
    type Error = ScheduleError;

    fn try_from(text: Option<String>) -> Result<Self, Self::Error> {
        text.unwrap_or_default().parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> Self {
        schedule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_schedule_is_written_as_it_is_read() {
        for text in [
            "",
            "0s max-busy=50; 10s max-busy=20; 20s down; 30s..40s max-busy=20..80; 40s.. primary.rate=50+30*sin(20s)",
            "1m30s..2m down; 2m up; 2m..3m token-bucket.rate=20/s..80/s; 3m..4m b.lock=1s-0.5s*sin(1s)",
            "5s penalty.early=prolong; 5s penalty.lock=1m 30s",
        ] {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!((schedule.to_string().as_str(), schedule.is_empty()), (text, text.is_empty()));
        }
        let schedule: Schedule =
            " 10s..20s  b.rate = 20..80/s ;; 20s.. b.rate=50/s + 30 * sin( 2s )".parse().unwrap();
        assert_eq!(schedule.to_string(), "10s..20s b.rate=20/s..80/s; 20s.. b.rate=50/s+30/s*sin(2s)");
        assert!(serde_json::from_str::<Schedule>("null").unwrap().is_empty());
    }

    #[test]
    fn nonsense_is_refused_by_the_entry_that_it_is_in() {
        for (text, entry, why) in [
            ("10s", "10s", "after the time, a change must follow"),
            ("soon max-busy=5", "soon max-busy=5", "`soon` is not a duration"),
            ("0s max-busy=5; 10s..5s down", "10s..5s down", "`10s..5s` ends before it begins"),
            ("10s donw", "10s donw", "did you mean `down`?"),
            ("10s max_busy=5", "10s max_busy=5", "did you mean `max-busy`?"),
            ("10s a.rate=5/s,burst=3", "10s a.rate=5/s,burst=3", "write a separate entry for each parameter"),
            ("10s max-busy=", "10s max-busy=", "a value is missing"),
            ("10s max-busy=5..9", "10s max-busy=5..9", "has no end; write for example `30s..40s`"),
            ("10s.. max-busy=5..9", "10s.. max-busy=5..9", "has no end"),
            ("10s..20s max-busy=5", "10s..20s max-busy=5", "`5` is set at one instant"),
            ("10s max-busy=5+3*sin(1s)", "10s max-busy=5+3*sin(1s)", "needs a range of time; write `10s..`"),
            ("10s.. max-busy=5+8*sin(1s)", "10s.. max-busy=5+8*sin(1s)", "would fall below 0"),
            ("10s.. max-busy=5+3*sin(1ms)", "10s.. max-busy=5+3*sin(1ms)", "must be from 100ms"),
            ("10s.. max-busy=5*sin(1s)", "10s.. max-busy=5*sin(1s)", "is not a wave"),
            ("10s.. max-busy=5+x*sin(1s)", "10s.. max-busy=5+x*sin(1s)", "is not a wave"),
            ("1s..2s a.lock=500ms..2s", "1s..2s a.lock=500ms..2s", "use the same unit for both"),
            ("1s..2s max-busy=few..many", "1s..2s max-busy=few..many", "is not a ramp"),
            ("10s max-busy=5; 9s down", "9s down", "it begins earlier than the entry before it"),
            ("10s max-busy=5; 10s max-busy=6", "10s max-busy=6", "it overlaps with `10s max-busy=5`"),
            ("1s..3s a.b=1..2; 2s a.b=3", "2s a.b=3", "it overlaps with `1s..3s a.b=1..2`"),
            ("1s..3s down; 2s up", "2s up", "it overlaps with `1s..3s down`"),
            ("1s down; 2s down", "2s down", "it overlaps with `1s down`"),
            ("1s.. a.lock=1s-500ms*sin(1s)", "1s.. a.lock=1s-500ms*sin(1s)", "have different units"),
            ("1s..3s up", "1s..3s up", "write only the time at which it begins"),
        ] {
            let error = text.parse::<Schedule>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{entry}` cannot be scheduled: ")) && error.contains(why),
                "{text}: {error}"
            );
        }
        let long: Vec<String> = (0..=1000).map(|at| format!("{at}s max-busy=5")).collect();
        assert_eq!(long[1..].join(";").parse::<Schedule>().map(|schedule| schedule.0.len()), Ok(1000));
        let error = long.join(";").parse::<Schedule>().unwrap_err().to_string();
        assert!(error.starts_with("the schedule has 1001 entries"), "{error}");
    }

    #[test]
    fn without_one_thing_the_others_and_outages_stay() {
        let schedule: Schedule =
            "0s max-busy=5; 1s down; 2s max-busy=6; 3s a.rate=5/s; 4s max-busy=1".parse().unwrap();
        assert_eq!(schedule.without(&Target::MaxBusy).to_string(), "1s..2s down; 3s a.rate=5/s");
        let rate = Target::Parameter { stage: "a".to_owned(), key: "rate".to_owned() };
        assert_eq!(
            schedule.without(&rate).to_string(),
            "0s max-busy=5; 1s down; 2s max-busy=6; 4s max-busy=1"
        );
        let other = Target::Parameter { stage: "a".to_owned(), key: "burst".to_owned() };
        assert_eq!(schedule.without(&other), schedule);
        for (text, without) in [
            ("10s down; 20s max-busy=30; 20s up", "10s down; 20s up"),
            ("10s down; 10s max-busy=20; 12s max-busy=30", "10s..12s down"),
            ("10s down; 15s max-busy=1; 18s up", "10s..15s down; 18s up"),
            ("10s down; 15s max-busy=1; 15s down; 18s up", "10s..15s down; 15s down; 18s up"),
            ("10s down; 15s a.rate=1/s; 15s max-busy=1", "10s down; 15s a.rate=1/s"),
            ("10s down; 10s..15s max-busy=1..5", "10s down"),
        ] {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!(schedule.without(&Target::MaxBusy).to_string(), without, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_schedule_without_one_target_parses_with_equal_outages(
            entries in prop::collection::vec((0..8_u64, 0..5_u8), 0..8),
        ) {
            let mut entries = entries;
            entries.sort_unstable();
            let texts = entries.iter().map(|(at, what)| match what {
                0 => format!("{at}s down"),
                1 => format!("{at}s..{}s down", at + 2),
                2 => format!("{at}s up"),
                3 => format!("{at}s max-busy=5"),
                _ => format!("{at}s a.rate=5/s"),
            });
            let Ok(schedule) = texts.collect::<Vec<_>>().join(";").parse::<Schedule>() else { return Ok(()) };
            let without = schedule.without(&Target::MaxBusy);
            prop_assert_eq!(without.to_string().parse(), Ok(without.clone()));
            prop_assert_eq!(without.down(), schedule.down());
        }
    }
}
