//! Rates of arrivals as users write them: one rate (`20/s`), a change from one rate to another (`10/s..100/s`), or stages
//! (`10/s for 1m; 10/s..100/s for 2m`).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Rate, duration_text, nanos};

const MAX_STAGES: usize = 1000;

#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalRate {
    Steady(Rate),
    /// Linear change from the first rate to the second over the duration of the run. At least one of them is above 0.
    Ramp(Rate, Rate),
    /// At least one stage. At least one of their rates is above 0.
    Stages(Arc<[RateStage]>),
}

/// Period in which the rate of arrivals changes linearly from one rate to another, or stays the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateStage {
    /// Rate at the start, 0 or more.
    pub from: Rate,
    /// Rate at the end, 0 or more.
    pub to: Rate,
    /// Length of the period, above zero.
    pub lasts: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrivalRateError {
    #[error(
        "it must be a rate above 0, at most 10000000/s, such as `1000/s`, `60/m` or `10/h`, or stages, such as \
         `10/s for 1m; 10/s..100/s for 2m`"
    )]
    Rate,
    #[error(
        "the stage `{stage}` {why}; write `RATE for TIME` or `RATE..RATE for TIME`, several joined by `;`, such as \
         `10/s for 1m; 10/s..100/s for 2m`"
    )]
    Stage { stage: String, why: String },
    #[error("no op arrives, because all rates are 0")]
    Empty,
    #[error("it has {0} stages; at most {MAX_STAGES} are accepted")]
    TooMany(usize),
}

impl ArrivalRate {
    /// Returns the rate if it does not change.
    pub fn steady(&self) -> Option<Rate> {
        match self {
            Self::Steady(rate) => Some(*rate),
            Self::Ramp(..) | Self::Stages(_) => None,
        }
    }

    /// Returns the time during which ops arrive, if the stages set it.
    pub fn lasts(&self) -> Option<Duration> {
        match self {
            Self::Steady(_) | Self::Ramp(..) => None,
            Self::Stages(stages) => {
                Some(stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.lasts)))
            }
        }
    }
}

impl RateStage {
    /// Returns the mean number of ops that arrive in the whole stage.
    pub(crate) fn ops(&self) -> f64 {
        f64::midpoint(self.from.per_s(), self.to.per_s()) * self.lasts.as_secs_f64()
    }

    /// Returns the time from the start of the stage until `ops` ops have arrived on average. It is the root t of
    /// from·t + (to − from)·t²/(2·lasts) = ops, in the form that is also exact if the rates are equal or `from` is 0.
    pub(crate) fn time_of(&self, ops: f64) -> Duration {
        let (from, to) = (self.from.per_s(), self.to.per_s());
        let change = (to - from) / self.lasts.as_secs_f64();
        let rate = libm::sqrt((from * from + 2.0 * change * ops).max(0.0));
        nanos(2.0 * ops / (from + rate) * 1e9).min(self.lasts)
    }
}

impl FromStr for ArrivalRate {
    type Err = ArrivalRateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_staged = text.contains(';') || text.contains(" for ");
        if !is_staged && !text.contains("..") {
            let rate = Rate::parse(text).filter(|rate| is_accepted(*rate) && rate.per_s() > 0.0);
            return rate.map(Self::Steady).ok_or(ArrivalRateError::Rate);
        }
        let count = text.split(';').count();
        if count > MAX_STAGES {
            return Err(ArrivalRateError::TooMany(count));
        }
        let stages = text.split(';').map(str::trim).map(|stage| {
            stage_of(stage, is_staged).map_err(|why| ArrivalRateError::Stage { stage: stage.to_owned(), why })
        });
        let stages = stages.collect::<Result<Arc<[_]>, _>>()?;
        match *stages {
            _ if stages.iter().all(|stage| stage.ops() <= 0.0) => Err(ArrivalRateError::Empty),
            [RateStage { from, to, .. }] if !is_staged => Ok(Self::Ramp(from, to)),
            _ => Ok(Self::Stages(stages)),
        }
    }
}

/// Parses a stage. The range of a run that has a duration (`is_staged` is false) is read like a stage without a time.
fn stage_of(text: &str, is_staged: bool) -> Result<RateStage, String> {
    let (rates, lasts) = match text.split_once(" for ") {
        Some((rates, lasts)) => {
            let lasts = lasts.trim();
            (rates, duration_text::parse(lasts).map_err(|_| format!("has no time in `{lasts}`"))?)
        }
        None if !is_staged => (text, Duration::MAX),
        None if text.is_empty() => return Err("is empty".to_owned()),
        None => return Err("has no time".to_owned()),
    };
    if lasts.is_zero() {
        return Err("takes no time".to_owned());
    }
    // `1/s...2/s` must not be from 1/s to .2/s.
    if rates.contains("...") {
        return Err("has three points between its rates instead of two".to_owned());
    }
    let (from, to) = rates.split_once("..").unwrap_or((rates, rates));
    // In `10..100/m`, the unit belongs to both rates.
    let from = match to.split_once('/') {
        Some((_, unit)) if !from.contains('/') => &format!("{from}/{unit}"),
        _ => from,
    };
    let rate = |text: &str| match Rate::parse(text) {
        None => Err(format!("has no rate in `{text}`")),
        Some(rate) if is_accepted(rate) => Ok(rate),
        Some(_) => Err("must have rates from 0 to 10000000/s".to_owned()),
    };
    Ok(RateStage { from: rate(from)?, to: rate(to)?, lasts })
}

fn is_accepted(rate: Rate) -> bool {
    let per_s = rate.per_s();
    per_s == 0.0 || (1e-6..=1e7).contains(&per_s)
}

impl fmt::Display for ArrivalRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steady(rate) => write!(f, "{rate}"),
            Self::Ramp(from, to) => write!(f, "{from}..{to}"),
            Self::Stages(stages) => {
                let stages: Vec<String> = stages.iter().map(ToString::to_string).collect();
                f.write_str(&stages.join("; "))
            }
        }
    }
}

impl fmt::Display for RateStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, lasts } = self;
        write!(f, "{from}")?;
        if from != to {
            write!(f, "..{to}")?;
        }
        write!(f, " for {}", duration_text::format(*lasts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_ranges_and_stages_are_shown_as_they_were_written() {
        for (text, shown) in [
            ("20/s", "20/s"),
            ("10/s..100/s", "10/s..100/s"),
            ("10..100/m", "10/m..100/m"),
            ("0/s..5/s for 10s", "0/s..5/s for 10s"),
            (".5/s for 1m", "0.5/s for 1m"),
            (
                "10/s for 1m;10/s..100/s for 2m ; 100/s for 5m",
                "10/s for 1m; 10/s..100/s for 2m; 100/s for 5m",
            ),
        ] {
            let rate: ArrivalRate = text.parse().unwrap();
            assert_eq!(rate.to_string(), shown);
            assert_eq!(shown.parse(), Ok(rate));
        }
        let stages: ArrivalRate = "10/s for 1m; 0/s for 2m".parse().unwrap();
        assert_eq!((stages.lasts(), stages.steady()), (Some(Duration::from_mins(3)), None));
    }

    #[test]
    fn what_is_no_rate_and_no_stage_is_refused() {
        for text in ["", "0/s", "fast", "-1/s", "2e7/s", "NaN"] {
            assert_eq!(text.parse::<ArrivalRate>(), Err(ArrivalRateError::Rate), "{text}");
        }
        for text in ["1/s for", "1/s..", "..1/s", "-1/s..1/s", "1/s..2/s..3/s", "1/s...2/s"] {
            assert!(text.parse::<ArrivalRate>().is_err(), "{text}");
        }
        for (text, why) in [
            ("1/s for 1s;", "is empty"),
            ("1/s for 2", "has no time in `2`"),
            ("1/s..2/x for 1s", "has no rate in `2/x`"),
            ("1/s; 2/s for 1s", "has no time"),
            ("1/s for 0s", "takes no time"),
            ("1/s...2/s for 1s", "has three points between its rates instead of two"),
            ("1/s..2e7/s for 1s", "must have rates from 0 to 10000000/s"),
        ] {
            let error = text.parse::<ArrivalRate>().unwrap_err();
            assert!(error.to_string().contains(&format!("` {why}; write")), "{text}: {error}");
        }
        assert_eq!("0/s for 1s; 0/s..0/s for 2s".parse::<ArrivalRate>(), Err(ArrivalRateError::Empty));
        assert_eq!("0/s..0/s".parse::<ArrivalRate>(), Err(ArrivalRateError::Empty));
        let many = vec!["1/s for 1s"; MAX_STAGES + 1].join(";");
        assert_eq!(many.parse::<ArrivalRate>(), Err(ArrivalRateError::TooMany(MAX_STAGES + 1)));
    }

    #[test]
    fn the_time_of_an_op_is_where_the_integral_of_the_rate_reaches_it() {
        for (from, to) in [(10.0, 100.0), (100.0, 0.0), (0.0, 50.0), (7.0, 7.0)] {
            let rate = Rate::per_second;
            let stage = RateStage { from: rate(from), to: rate(to), lasts: Duration::from_secs(20) };
            for op in 0..10 {
                let ops = stage.ops() * f64::from(op) / 10.0;
                let t = stage.time_of(ops).as_secs_f64();
                let reached = from * t + (to - from) * t * t / 40.0;
                assert!((reached - ops).abs() < 1e-6, "{from}..{to}: {reached} instead of {ops}");
            }
        }
    }
}
