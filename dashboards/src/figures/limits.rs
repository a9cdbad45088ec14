//! Limits that the server puts on the load: a concurrency cap, and the rate limit closest to exhaustion. Limits have
//! the names of their policies.

use std::time::Duration;

use crate::{Frame, text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CapLimit {
    /// Name of the limit: `cap` for the server's own concurrency cap, and otherwise the name of the policy. If the
    /// policy has a separate limit for each key, `/key` is appended to its name.
    pub(crate) name: String,
    pub(crate) busy: u64,
    pub(crate) cap: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RateLimit {
    pub(crate) name: String,
    pub(crate) per_s: f64,
    pub(crate) rate: String,
    pub(crate) remaining: u32,
    pub(crate) limit: u32,
}

impl CapLimit {
    pub(crate) fn new(frame: &Frame) -> Option<Self> {
        let snapshot = &frame.snapshot;
        if let Some(cap) = snapshot.server_cap {
            return Some(Self {
                name: "cap".to_owned(),
                busy: snapshot.server_busy.unwrap_or_default(),
                cap,
            });
        }
        let places = snapshot.limits.places()?;
        let policy = frame.policies.get(usize::from(places.stage));
        let name = policy.map_or_else(
            || "cap".to_owned(),
            |policy| if policy.is_keyed { format!("{}/key", policy.name) } else { policy.name.clone() },
        );
        Some(Self { name, busy: places.busy.into(), cap: places.cap.into() })
    }
}

impl RateLimit {
    pub(crate) fn new(frame: &Frame) -> Option<Self> {
        let advertised = frame.snapshot.limits.rate()?;
        let policy = frame.policies.get(usize::from(advertised.stage));
        Some(Self {
            name: policy.map_or_else(|| "limit".to_owned(), |policy| policy.name.clone()),
            per_s: advertised.per_s(),
            rate: words(advertised.limit, advertised.window),
            remaining: advertised.remaining,
            limit: advertised.limit,
        })
    }

    /// Formats the number of remaining requests, as in ` 37 left`. The width is constant, so that the text beside it
    /// does not move.
    pub(crate) fn left(&self) -> String {
        let width = text::short(self.limit.into()).len();
        format!("{:>width$} left", text::short(self.remaining.into()))
    }
}

/// Formats a rate as a number per unit of time. If the window of the limit is one second, minute, hour or day, this
/// length is the unit. Otherwise the unit is the shortest one that yields a number of at least about 1.
fn words(limit: u32, window: Duration) -> String {
    const UNITS: [(u64, &str); 4] = [(1, "s"), (60, "min"), (3600, "h"), (86_400, "day")];
    let per_s = f64::from(limit) / window.as_secs_f64().max(1e-9);
    let whole = UNITS.iter().find(|(seconds, _)| window == Duration::from_secs(*seconds));
    let large = || UNITS.iter().find(|(seconds, _)| per_s * *seconds as f64 >= 0.95).unwrap_or(&UNITS[3]);
    let (seconds, unit) = whole.unwrap_or_else(large);
    format!("{}/{unit}", text::short(per_s * *seconds as f64))
}

/// Fills the chart columns for which no limit is known. Columns before the first known limit get this first limit, even
/// if later limits differ. All other columns, including future ones, get the latest limit.
pub(crate) fn level(advertised: &[Option<f64>], latest: Option<f64>) -> Vec<Option<f64>> {
    let first_known = advertised.iter().position(Option::is_some).unwrap_or(0);
    let first = advertised.get(first_known).copied().flatten();
    let unknown = |column| if column < first_known { first } else { latest };
    advertised.iter().enumerate().map(|(column, advertised)| advertised.or_else(|| unknown(column))).collect()
}

#[cfg(test)]
mod tests {
    use vocabulary::{AdvertisedLimits, AdvertisedRate, AdvertisedSlots};

    use super::*;
    use crate::PolicyName;

    fn frame() -> Frame {
        let mut frame = Frame::default();
        let places = AdvertisedSlots { stage: 1, busy: 1, cap: 2 };
        let rate = AdvertisedRate { stage: 0, remaining: 37, limit: 100, window: Duration::from_hours(1) };
        frame.snapshot.limits = AdvertisedLimits::default().with_slots(places).with_rate(rate);
        frame
    }

    #[test]
    fn limits_have_the_names_of_their_policies() {
        let policy = |name: &str, is_keyed| PolicyName { name: name.to_owned(), is_keyed };
        let mut frame = frame();
        frame.policies = vec![policy("primary", true), policy("concurrent", true)];
        let cap = CapLimit::new(&frame).unwrap();
        assert_eq!((cap.name.as_str(), cap.busy, cap.cap), ("concurrent/key", 1, 2));
        let rate = RateLimit::new(&frame).unwrap();
        assert_eq!(
            (rate.name.as_str(), rate.rate.as_str(), rate.left().as_str()),
            ("primary", "100/h", " 37 left")
        );
        // The server's own cap takes precedence, and policy names may be unknown.
        (frame.snapshot.server_cap, frame.snapshot.server_busy) = (Some(50), Some(3));
        frame.policies.clear();
        let cap = CapLimit::new(&frame).unwrap();
        assert_eq!((cap.name.as_str(), cap.busy, cap.cap), ("cap", 3, 50));
        assert_eq!(RateLimit::new(&frame).unwrap().name, "limit");
        assert_eq!((CapLimit::new(&Frame::default()), RateLimit::new(&Frame::default())), (None, None));
    }

    #[test]
    fn rates_are_printed_in_customary_units() {
        for (limit, millis, said) in [
            (100, 3_600_000, "100/h"),
            (18, 60_000, "18/min"),
            (10, 500, "20/s"),
            (5, 1_000, "5/s"),
            (3, 7_000, "26/min"),
            (1, 86_400_000, "1/day"),
            (30, 10_000, "3/s"),
        ] {
            assert_eq!(words(limit, Duration::from_millis(millis)), said);
        }
    }

    /// The first advertised value is drawn before it, and the current one at the end.
    #[test]
    fn a_limit_extends_to_the_start_and_to_the_end() {
        let advertised = [None, None, Some(50.0), Some(25.0), None];
        let drawn = [Some(50.0), Some(50.0), Some(50.0), Some(25.0), Some(20.0)];
        assert_eq!(level(&advertised, Some(20.0)), drawn);
        assert_eq!(level(&[None, None], None), [None, None]);
    }
}
