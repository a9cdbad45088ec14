//! Current state of a server's concurrency limit and rate limit for a request, as reported in the response.
//!
//! The wire format is `places=1/2@1;rate=37/100/3600000000000@0`. The first part has the number of occupied places of a
//! concurrency limit, and its total number of places. The second part has the remaining requests of a rate limit, the
//! limit itself, and its window in nanoseconds of experiment time. The number after each `@` is the position of the
//! policy in the stack, from 0. Either part may be missing.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// State of a concurrency limit and of a rate limit, either of which may be missing. The type is kept small, because
/// every response carries one value of this type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdvertisedLimits {
    busy: u32,
    /// Total number of places of the concurrency limit; 0 if there is no concurrency limit.
    cap: u32,
    remaining: u32,
    limit: u32,
    /// Window of the rate limit in nanoseconds of experiment time; 0 if there is no rate limit.
    window_nanos: u64,
    stages: [u8; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertisedSlots {
    pub stage: u8,
    /// Number of occupied places of the concurrency limit, counted over all clients that share this limit.
    pub busy: u32,
    pub cap: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertisedRate {
    pub stage: u8,
    pub remaining: u32,
    /// Maximum number of requests per window, or the size of a token bucket.
    pub limit: u32,
    /// Time in which an exhausted rate limit recovers completely, at least a nanosecond.
    pub window: Duration,
}

impl AdvertisedRate {
    pub fn per_s(&self) -> f64 {
        f64::from(self.limit) / self.window.as_secs_f64().max(1e-9)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertisedLimitsError;

impl AdvertisedLimits {
    /// Sets the concurrency limit. A cap of 0 counts as no limit.
    #[must_use]
    pub fn with_slots(self, AdvertisedSlots { stage, busy, cap }: AdvertisedSlots) -> Self {
        Self { busy, cap, stages: [stage, self.stages[1]], ..self }
    }

    /// Sets the rate limit. A window above 584 years is shortened to that length.
    #[must_use]
    pub fn with_rate(self, AdvertisedRate { stage, remaining, limit, window }: AdvertisedRate) -> Self {
        let window_nanos = vocabulary::whole_nanos(window).max(1);
        Self { remaining, limit, window_nanos, stages: [self.stages[0], stage], ..self }
    }

    pub fn places(&self) -> Option<AdvertisedSlots> {
        let Self { busy, cap, stages: [stage, _], .. } = *self;
        (cap > 0).then_some(AdvertisedSlots { stage, busy, cap })
    }

    pub fn rate(&self) -> Option<AdvertisedRate> {
        let Self { remaining, limit, stages: [_, stage], .. } = *self;
        let window = Duration::from_nanos(self.window_nanos);
        (self.window_nanos > 0).then_some(AdvertisedRate { stage, remaining, limit, window })
    }

    pub fn is_empty(&self) -> bool {
        self.cap == 0 && self.window_nanos == 0
    }
}

impl fmt::Display for AdvertisedLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joint = if self.cap > 0 && self.window_nanos > 0 { ";" } else { "" };
        if let Some(AdvertisedSlots { stage, busy, cap }) = self.places() {
            write!(f, "places={busy}/{cap}@{stage}")?;
        }
        f.write_str(joint)?;
        if let Some(AdvertisedRate { stage, remaining, limit, .. }) = self.rate() {
            write!(f, "rate={remaining}/{limit}/{}@{stage}", self.window_nanos)?;
        }
        Ok(())
    }
}

impl FromStr for AdvertisedLimits {
    type Err = AdvertisedLimitsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let mut limits = Self::default();
            for part in text.split(';') {
                let (kind, rest) = part.split_once('=')?;
                let (figures, stage) = rest.split_once('@')?;
                let stage = stage.parse().ok()?;
                let (first, rest) = figures.split_once('/')?;
                let first = first.parse().ok()?;
                limits = match (kind, rest.split_once('/')) {
                    ("places", None) if limits == Self::default() => {
                        limits.with_slots(AdvertisedSlots { stage, busy: first, cap: rest.parse().ok()? })
                    }
                    ("rate", Some((limit, nanos))) if limits.window_nanos == 0 => {
                        limits.with_rate(AdvertisedRate {
                            stage,
                            remaining: first,
                            limit: limit.parse().ok()?,
                            window: Duration::from_nanos(nanos.parse().ok()?),
                        })
                    }
                    _ => return None,
                };
            }
            // A text is accepted only if formatting the parsed limits yields the same text. So texts that the server
            // never writes are rejected: numbers with signs or leading zeros, and the empty text.
            (limits.to_string() == text && !text.is_empty()).then_some(limits)
        };
        read().ok_or(AdvertisedLimitsError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advertised_limits_survive_a_round_trip_through_text() {
        let places = AdvertisedSlots { stage: 1, busy: 3, cap: 2 };
        let rate = AdvertisedRate { stage: 0, remaining: 37, limit: 100, window: Duration::from_hours(1) };
        let none = AdvertisedLimits::default();
        for (limits, text) in [
            (none.with_slots(places).with_rate(rate), "places=3/2@1;rate=37/100/3600000000000@0"),
            (none.with_rate(rate), "rate=37/100/3600000000000@0"),
            (none.with_slots(places), "places=3/2@1"),
        ] {
            assert_eq!((limits.to_string().as_str(), text.parse()), (text, Ok(limits)));
        }
        let both = none.with_slots(places).with_rate(rate);
        assert_eq!((both.places(), both.rate()), (Some(places), Some(rate)));
        assert!(none.is_empty() && (none.places(), none.rate()) == (None, None) && !both.is_empty());
        assert!((rate.per_s() - 100.0 / 3600.0).abs() < 1e-12);
    }

    #[test]
    fn whatever_else_comes_is_nothing() {
        for text in [
            "",
            ";",
            "places",
            "places=1/2",
            "places=1/2@256",
            "places=1/0@0",
            "places=+1/2@0",
            "places=01/2@0",
            "places=1/2@0;places=1/2@0",
            "rate=1/2/3@0;places=1/2@0",
            "rate=1/2@0",
            "rate=1/2/0@0",
            "rate=1/2/3/4@0",
            "rate=-1/2/3@0",
            "rate=1/2/99999999999999999999@0",
            "tokens=1/2/3@0",
            " places=1/2@0",
        ] {
            assert_eq!(text.parse::<AdvertisedLimits>(), Err(AdvertisedLimitsError), "{text}");
        }
    }
}
