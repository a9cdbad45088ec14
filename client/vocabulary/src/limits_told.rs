//! Where a server's limits stand for a request, as its answer tells a run: places, and the limit of a rate.
//!
//! On the wire `places=1/2@1;rate=37/100/3600000000000@0`: places that are taken, of how many; what is left of a rate's limit, of how many, in how
//! many nanoseconds of experiment time; and behind each `@` the place of its policy in the stack, from 0. Either may be missing.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Both limits, either of which there may not be. Small, because every answer carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsTold {
    busy: u32,
    /// 0 where there is no limit on what is busy.
    cap: u32,
    remaining: u32,
    limit: u32,
    /// 0 where there is no limit of a rate.
    window_nanos: u64,
    /// The policies' places in the stack.
    stages: [u8; 2],
}

/// A limit on what is busy at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacesTold {
    /// The place of its policy in the stack, from 0.
    pub stage: u8,
    /// Taken, by whomever it counts together with the request.
    pub busy: u32,
    /// In all.
    pub cap: u32,
}

/// The limit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateTold {
    /// The place of its policy in the stack, from 0.
    pub stage: u8,
    /// What is left.
    pub remaining: u32,
    /// In all: requests of a window, a bucket's size.
    pub limit: u32,
    /// From nothing to all, at least a nanosecond.
    pub window: Duration,
}

impl RateTold {
    /// What passes in the long run.
    pub fn per_s(&self) -> f64 {
        f64::from(self.limit) / self.window.as_secs_f64().max(1e-9)
    }
}

/// What came is not what this server tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitsToldError;

impl LimitsTold {
    /// With a limit on what is busy, unless it lets nobody in.
    #[must_use]
    pub fn with_places(self, PlacesTold { stage, busy, cap }: PlacesTold) -> Self {
        Self { busy, cap, stages: [stage, self.stages[1]], ..self }
    }

    /// With the limit of a rate; a window of more than 584 years is as long as that.
    #[must_use]
    pub fn with_rate(self, RateTold { stage, remaining, limit, window }: RateTold) -> Self {
        let window_nanos = crate::whole_nanos(window).max(1);
        Self { remaining, limit, window_nanos, stages: [self.stages[0], stage], ..self }
    }

    /// The limit on what is busy.
    pub fn places(&self) -> Option<PlacesTold> {
        let Self { busy, cap, stages: [stage, _], .. } = *self;
        (cap > 0).then_some(PlacesTold { stage, busy, cap })
    }

    /// The limit of a rate.
    pub fn rate(&self) -> Option<RateTold> {
        let Self { remaining, limit, stages: [_, stage], .. } = *self;
        let window = Duration::from_nanos(self.window_nanos);
        (self.window_nanos > 0).then_some(RateTold { stage, remaining, limit, window })
    }

    /// Whether nothing is told.
    pub fn is_empty(&self) -> bool {
        self.cap == 0 && self.window_nanos == 0
    }
}

impl fmt::Display for LimitsTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joint = if self.cap > 0 && self.window_nanos > 0 { ";" } else { "" };
        if let Some(PlacesTold { stage, busy, cap }) = self.places() {
            write!(f, "places={busy}/{cap}@{stage}")?;
        }
        f.write_str(joint)?;
        if let Some(RateTold { stage, remaining, limit, .. }) = self.rate() {
            write!(f, "rate={remaining}/{limit}/{}@{stage}", self.window_nanos)?;
        }
        Ok(())
    }
}

impl FromStr for LimitsTold {
    type Err = LimitsToldError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let mut told = Self::default();
            for part in text.split(';') {
                let (kind, rest) = part.split_once('=')?;
                let (figures, stage) = rest.split_once('@')?;
                let stage = stage.parse().ok()?;
                let (first, rest) = figures.split_once('/')?;
                let first = first.parse().ok()?;
                told = match (kind, rest.split_once('/')) {
                    ("places", None) if told == Self::default() => {
                        told.with_places(PlacesTold { stage, busy: first, cap: rest.parse().ok()? })
                    }
                    ("rate", Some((limit, nanos))) if told.window_nanos == 0 => told.with_rate(RateTold {
                        stage,
                        remaining: first,
                        limit: limit.parse().ok()?,
                        window: Duration::from_nanos(nanos.parse().ok()?),
                    }),
                    _ => return None,
                };
            }
            // Signs, leading zeros and nothing at all are not what is told.
            (told.to_string() == text && !text.is_empty()).then_some(told)
        };
        read().ok_or(LimitsToldError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_as_it_was() {
        let places = PlacesTold { stage: 1, busy: 3, cap: 2 };
        let rate = RateTold { stage: 0, remaining: 37, limit: 100, window: Duration::from_hours(1) };
        let none = LimitsTold::default();
        for (told, text) in [
            (none.with_places(places).with_rate(rate), "places=3/2@1;rate=37/100/3600000000000@0"),
            (none.with_rate(rate), "rate=37/100/3600000000000@0"),
            (none.with_places(places), "places=3/2@1"),
        ] {
            assert_eq!((told.to_string().as_str(), text.parse()), (text, Ok(told)));
        }
        let both = none.with_places(places).with_rate(rate);
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
            assert_eq!(text.parse::<LimitsTold>(), Err(LimitsToldError), "{text}");
        }
    }
}
