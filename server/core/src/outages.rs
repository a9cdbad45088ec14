//! Periods in which the server is down and rejects every request at once.

use std::fmt;

use vocabulary::Instant;

use crate::list::{instant, instant_text};
use crate::{List, Listed};

/// List of outages, which are periods of server time, written `10s..40s` or `0s..30s,60s..90s`. The periods are in order and do not
/// overlap.
pub type Outages = List<Outage>;

/// Period in which the server is down. The server is up again at the end of the period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    from: Instant,
    to: Instant,
}

impl List<Outage> {
    pub fn spans(&self) -> impl Iterator<Item = (Instant, Instant)> {
        self.iter().map(|outage| (outage.from, outage.to))
    }

    pub(crate) fn cover(&self, at: Instant) -> bool {
        self.spans().any(|(from, to)| from <= at && at < to)
    }
}

impl Listed for Outage {
    const PLURAL: &'static str = "outages";
    const EXAMPLES: &'static str = "`10s..40s` or `0s..30s,60s..90s`";

    fn read(text: &str) -> Result<Self, String> {
        let (from, to) = text
            .split_once("..")
            .ok_or_else(|| format!("`{text}` has no `..` between its beginning and its end"))?;
        let (from, to) = (instant(from)?, instant(to)?);
        if from >= to {
            return Err(format!("`{text}` ends before it begins"));
        }
        Ok(Self { from, to })
    }

    fn check_after(&self, before: &[Self], text: &str) -> Result<(), String> {
        match before.last() {
            Some(before) if before.to > self.from => {
                Err(format!("`{text}` begins before the outage before it has ended"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", instant_text(self.from), instant_text(self.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_includes_its_first_instant_and_excludes_its_last() {
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
            ("0s..10s,5s..20s", "begins before the outage before it"),
            ("soon..later", "is not a duration"),
        ] {
            let error = text.parse::<Outages>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
