//! Scores: figures by which strategies are ranked, lowest value first, and texts about differences between the scores of two strategies.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::figures::numbers::{percent, seconds, thousands, three};
use crate::{FIGURES, Figure, Ranked, RunResult};

#[derive(Clone, Copy)]
pub struct Score {
    figure: &'static Figure,
    ranked: Ranked,
}

impl Score {
    pub fn all() -> impl Iterator<Item = Self> {
        // The makespan comes first, because users request it most often. The other scores follow in the order of the list of figures.
        let scores = || FIGURES.iter().filter_map(|figure| Some(Self { figure, ranked: figure.ranked? }));
        let first = |score: &Self| *score == Self::makespan();
        scores().filter(first).chain(scores().filter(move |score| !first(score)))
    }

    pub fn at(path: &str) -> Option<Self> {
        let figure = Figure::find(path)?;
        Some(Self { figure, ranked: figure.ranked? })
    }

    pub fn makespan() -> Self {
        Self::at("makespan_s").expect("a test parses every score named here")
    }

    pub fn attempts() -> Self {
        Self::at("attempts.total").expect("a test parses every score named here")
    }

    pub fn attempts_per_success() -> Self {
        Self::at("attempts_per_success").expect("a test parses every score named here")
    }

    /// Returns the share of ops done in time as a score. Users cannot choose it, because every ranking already puts larger shares first.
    pub fn done_share() -> Self {
        let figure = Figure::find("done_share").expect("a test parses every score named here");
        let ranked =
            Ranked { key: "done", help: "Share of ops done", title: "share of ops done", heading: None };
        Self { figure, ranked }
    }

    pub fn p99() -> Self {
        Self::at("op_latency_ms.p99").expect("a test parses every score named here")
    }

    pub(crate) fn ranking(by: Self) -> [Self; 5] {
        [by, by.companion(), Self::makespan(), Self::attempts_per_success(), Self::done_share()]
    }

    pub fn is_latency(self) -> bool {
        self.path().starts_with("op_latency_ms.")
    }

    /// Returns the third score that tables show beside makespan and attempts. It is this score itself or, if this score is the makespan or
    /// the attempts, [`Score::p99`].
    #[must_use]
    pub fn beside_makespan_and_attempts(self) -> Self {
        if [Self::makespan(), Self::attempts()].contains(&self) { Self::p99() } else { self }
    }

    pub fn heading(self) -> String {
        if let Some(heading) = self.ranked.heading {
            return heading.to_owned();
        }
        let latency = self.path().strip_prefix("op_latency_ms.");
        format!("{}{}", latency.unwrap_or(self.key()), self.unit())
    }

    pub fn key(self) -> &'static str {
        self.ranked.key
    }

    pub fn cell(self, value: f64) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
        match self.unit().trim() {
            "s" => seconds(value),
            "ms" => seconds(value / 1e3),
            _ if self == Self::attempts() => thousands(value.round() as u64),
            _ if self == Self::done_share() => percent(value),
            _ => three(value),
        }
    }

    pub fn column(self) -> &'static str {
        match self.key() {
            "per-success" => "per done",
            "server-work" => "server work",
            key => key,
        }
    }

    pub fn help(self) -> &'static str {
        self.ranked.help
    }

    pub fn title(self) -> &'static str {
        self.ranked.title
    }

    pub fn path(self) -> &'static str {
        self.figure.path
    }

    pub fn unit(self) -> String {
        if self.figure.unit.is_empty() { String::new() } else { format!(" {}", self.figure.unit) }
    }

    pub fn name(self) -> &'static str {
        self.figure.name
    }

    pub fn of(self, run: &RunResult) -> Option<f64> {
        self.figure.of(run)
    }

    /// Returns the second score that readers should consider together with a score, because a strategy may gain speed by more attempts. The
    /// second score is the number of attempts. If the first score is the number of attempts itself, the second one is the makespan.
    #[must_use]
    pub fn companion(self) -> Self {
        if self == Self::attempts() { Self::makespan() } else { Self::attempts() }
    }

    pub fn says_less(self, first: &str, times: &str, second: &str) -> String {
        match self.key() {
            "makespan" => format!("{first} finishes {times}× sooner than {second}"),
            "attempts" => format!("{first} needs {times}× fewer attempts than {second}"),
            "per-success" => format!("{first} needs {times}× fewer attempts per success than {second}"),
            "done" => format!("{first} gets {times}× fewer ops done than {second}"),
            _ if self.is_latency() => {
                format!("{first}'s {} is {times}× shorter than {second}'s", self.name())
            }
            _ => format!("{first} has {times}× less {} than {second}", self.name()),
        }
    }

    pub fn says_more(self, first: &str, times: &str, second: &str) -> String {
        match self.key() {
            "makespan" => format!("{first} finishes {times}× later than {second}"),
            "attempts" => format!("{first} needs {times}× as many attempts as {second}"),
            "per-success" => format!("{first} needs {times}× as many attempts per success as {second}"),
            "done" => format!("{first} gets {times}× as many ops done as {second}"),
            _ if self.is_latency() => format!("{first}'s {} is {times}× longer than {second}'s", self.name()),
            _ => format!("{first} has {times}× more {} than {second}", self.name()),
        }
    }
}

impl Default for Score {
    fn default() -> Self {
        Self::makespan()
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.path() == other.path()
    }
}

impl Eq for Score {}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl FromStr for Score {
    type Err = String;

    fn from_str(key: &str) -> Result<Self, String> {
        Self::all().find(|score| score.key() == key).ok_or_else(|| format!("nothing is ranked by `{key}`"))
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.path().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_is_found_by_its_key_and_by_its_path() {
        let keys: Vec<&str> = Score::all().map(Score::key).collect();
        assert_eq!(
            keys,
            ["makespan", "attempts", "per-success", "mean", "p50", "p95", "p99", "max", "server-work"]
        );
        for score in Score::all() {
            assert_eq!(score.key().parse(), Ok(score));
            assert_eq!(Score::at(score.path()), Some(score));
        }
        assert_eq!(Score::makespan().companion(), Score::attempts());
        assert_eq!(Score::attempts().companion(), Score::makespan());
        assert_eq!((Score::p99().unit().as_str(), Score::attempts().unit().as_str()), (" ms", ""));
        assert_eq!(Score::p99().heading(), "p99 ms");
        assert_eq!(Score::attempts_per_success().heading(), "per succ.");
        assert_eq!(Score::done_share().name(), "share of ops done");
        assert!("done".parse::<Score>().is_err(), "it comes first, whatever is chosen");
        assert!(Score::at("efficiency").is_none() && "efficiency".parse::<Score>().is_err());
    }
}
