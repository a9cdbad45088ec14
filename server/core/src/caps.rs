//! Caps (numbers of slots) that change at fixed times. The server's capacity then fluctuates, and retry strategies must adapt.

use std::fmt;

use vocabulary::Instant;

use crate::list::{instant, instant_text};
use crate::{List, Listed};

pub(crate) const MAX_SLOTS: u32 = 1_000_000;

/// List of caps (numbers of slots), each with the server time from which it applies, written `10s=25,20s=80`. The times increase. Before
/// the first time, the cap is `max_busy`.
pub type Caps = List<Cap>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cap {
    from: Instant,
    slots: u32,
}

impl List<Cap> {
    pub(crate) fn at(&self, at: Instant) -> Option<u32> {
        self.iter().rev().find(|cap| cap.from <= at).map(|cap| cap.slots)
    }

    pub(crate) fn next_after(&self, at: Instant) -> Option<Instant> {
        self.iter().map(|cap| cap.from).find(|from| *from > at)
    }
}

impl Listed for Cap {
    const PLURAL: &'static str = "caps";
    const EXAMPLES: &'static str = "`10s=25` or `10s=25,20s=80`";

    fn read(text: &str) -> Result<Self, String> {
        let (from, slots) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` has no `=` between its time and its number of slots"))?;
        let from = instant(from)?;
        let slots = slots.trim();
        let number = slots.parse().ok().filter(|number| (1..=MAX_SLOTS).contains(number));
        let slots =
            number.ok_or_else(|| format!("`{slots}` is not a number of slots from 1 to {MAX_SLOTS}"))?;
        Ok(Self { from, slots })
    }

    fn check_after(&self, before: &[Self], text: &str) -> Result<(), String> {
        match before.last() {
            Some(before) if before.from >= self.from => {
                Err(format!("`{text}` does not begin later than the entry before it"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", instant_text(self.from), self.slots)
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
        let next = [0, 999, 1000, 60_000].map(|ms| caps.next_after(Instant::from_millis(ms)));
        let [first, second] = [1000, 60_000].map(|ms| Some(Instant::from_millis(ms)));
        assert_eq!(next, [first, first, second, None]);
        assert_eq!(caps.to_string().parse::<Caps>().unwrap(), caps);
        assert!("".parse::<Caps>().unwrap().is_empty());
        assert!(serde_json::from_str::<Caps>("null").unwrap().is_empty());
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, why) in [
            ("10s", "no `=`"),
            ("10s=0", "`0` is not a number of slots"),
            ("10s=many", "`many` is not a number of slots"),
            ("10s=5,10s=6", "does not begin later than the entry before it"),
            ("soon=5", "is not a duration"),
        ] {
            let error = text.parse::<Caps>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
