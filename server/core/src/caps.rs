//! Caps that change at known times: capacity fluctuates, and strategies must follow.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use vocabulary::{Instant, duration_text};

use crate::config::MOST_SLOTS;

/// Caps and the server time from which each holds, written `10s=25,20s=80`; times rise. Until the first of them
/// `max_busy` holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Option<String>", into = "String")]
pub struct Caps(Vec<(Instant, u32)>);

/// What was written is no list of caps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no list of caps: {why}; write for example `10s=25` or `10s=25,20s=80`")]
pub struct CapsError {
    text: String,
    why: String,
}

impl Caps {
    /// Whether the cap never changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The cap in force at this instant; `None` before the first change.
    pub(crate) fn at(&self, at: Instant) -> Option<u32> {
        self.0.iter().rev().find(|(from, _)| *from <= at).map(|(_, slots)| *slots)
    }
}

impl FromStr for Caps {
    type Err = CapsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |why: String| CapsError { text: text.to_owned(), why };
        let mut caps: Vec<(Instant, u32)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (from, slots) = part.split_once('=').ok_or_else(|| refuse(format!("`{part}` has no `=`")))?;
            let from = duration_text::parse(from.trim()).map_err(|error| refuse(error.to_string()))?;
            let from = Instant::ORIGIN + from;
            let slots =
                slots.trim().parse().ok().filter(|slots| (1..=MOST_SLOTS).contains(slots)).ok_or_else(
                    || refuse(format!("`{}` is no number of slots from 1 to {MOST_SLOTS}", slots.trim())),
                )?;
            if caps.last().is_some_and(|(before, _)| from <= *before) {
                return Err(refuse(format!("`{part}` is not later than the one before it")));
            }
            caps.push((from, slots));
        }
        Ok(Self(caps))
    }
}

impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (from, slots)) in self.0.iter().enumerate() {
            let joint = if index == 0 { "" } else { "," };
            write!(f, "{joint}{}={slots}", duration_text::format(from.since_origin()))?;
        }
        Ok(())
    }
}

impl TryFrom<Option<String>> for Caps {
    type Error = CapsError;

    fn try_from(text: Option<String>) -> Result<Self, Self::Error> {
        text.unwrap_or_default().parse()
    }
}

impl From<Caps> for String {
    fn from(caps: Caps) -> Self {
        caps.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_holds_from_its_instant_until_the_next() {
        let caps: Caps = "1s=25, 1m=80".parse().unwrap();
        let slots = [0, 999, 1000, 59_999, 60_000, 90_000].map(|ms| caps.at(Instant::from_millis(ms)));
        assert_eq!(slots, [None, None, Some(25), Some(25), Some(80), Some(80)]);
        assert_eq!(caps.to_string().parse::<Caps>().unwrap(), caps);
        assert!("".parse::<Caps>().unwrap().is_empty());
        assert!(serde_json::from_str::<Caps>("null").unwrap().is_empty());
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, why) in [
            ("10s", "no `=`"),
            ("10s=0", "`0` is no number of slots"),
            ("10s=many", "`many` is no number of slots"),
            ("10s=5,10s=6", "is not later than the one before it"),
            ("soon=5", "is no duration"),
        ] {
            let error = text.parse::<Caps>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
