//! Times at which a server is down: everything that reaches it is turned away at once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use vocabulary::{Instant, duration_text};

/// Stretches of server time, written `10s..40s` or `0s..30s,60s..90s`; they are in order and do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Option<String>", into = "String")]
pub struct Outages(Vec<(Instant, Instant)>);

/// What was written is no list of outages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no list of outages: {why}; write for example `10s..40s` or `0s..30s,60s..90s`")]
pub struct OutagesError {
    text: String,
    why: String,
}

impl Outages {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the server is down at this instant: from the beginning of an outage until just before its end.
    pub(crate) fn cover(&self, at: Instant) -> bool {
        self.0.iter().any(|(from, to)| *from <= at && at < *to)
    }
}

impl FromStr for Outages {
    type Err = OutagesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |why: String| OutagesError { text: text.to_owned(), why };
        let instant = |part: &str| -> Result<Instant, OutagesError> {
            let since = duration_text::parse(part).map_err(|error| refuse(error.to_string()))?;
            Ok(Instant::ORIGIN + since)
        };
        let mut outages: Vec<(Instant, Instant)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (from, to) = part.split_once("..").ok_or_else(|| refuse(format!("`{part}` has no `..`")))?;
            let (from, to) = (instant(from)?, instant(to)?);
            if from >= to {
                return Err(refuse(format!("`{part}` ends before it begins")));
            }
            if outages.last().is_some_and(|(_, end)| from < *end) {
                return Err(refuse(format!("`{part}` begins before the one before it has ended")));
            }
            outages.push((from, to));
        }
        Ok(Self(outages))
    }
}

impl fmt::Display for Outages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |at: Instant| duration_text::format(at.since_origin());
        for (index, (from, to)) in self.0.iter().enumerate() {
            let joint = if index == 0 { "" } else { "," };
            write!(f, "{joint}{}..{}", text(*from), text(*to))?;
        }
        Ok(())
    }
}

impl TryFrom<Option<String>> for Outages {
    type Error = OutagesError;

    fn try_from(text: Option<String>) -> Result<Self, Self::Error> {
        text.unwrap_or_default().parse()
    }
}

impl From<Outages> for String {
    fn from(outages: Outages) -> Self {
        outages.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_begins_at_its_first_instant_and_ends_before_its_last() {
        let outages: Outages = "1s..2s, 5s..1m 10s".parse().unwrap();
        let down = [999, 1000, 1999, 2000, 5000, 70_000].map(|ms| outages.cover(Instant::from_millis(ms)));
        assert_eq!(down, [false, true, true, false, true, false]);
        assert_eq!(outages.to_string().parse::<Outages>().unwrap(), outages);
        assert!("".parse::<Outages>().unwrap().is_empty());
        assert!(serde_json::from_str::<Outages>("null").unwrap().is_empty());
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, why) in [
            ("10s", "no `..`"),
            ("10s..5s", "ends before it begins"),
            ("0s..10s,5s..20s", "begins before the one before it"),
            ("soon..later", "is no duration"),
        ] {
            let error = text.parse::<Outages>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
