//! Random spread of a delay. For every retry, a number `u` is drawn from [0, 1).

use std::time::Duration;

use vocabulary::{TextField, did_you_mean, duration_text};

use crate::delay::{between, fraction};
use crate::shape::grain::Grain;
use crate::shape::optional::up_to_a_day;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Spread {
    #[default]
    None,
    Full,
    Equal,
    Around(f64),
    Below(f64),
    Above(f64),
    Between(f64, f64),
    From(Duration),
    Add(Duration),
    /// Spread of tower: adds two random parts to the delay. The first is `j·u` times the whole seconds of the delay,
    /// truncated to whole seconds. The second is `j·u` times the rest of the delay below a second. `j` is the number in
    /// the setting, and `u` is the random number. Source: `tower/src/retry/backoff.rs` of tower-rs/tower.
    Tower(f64),
}

impl Spread {
    /// Returns the setting for a delay drawn uniformly from `low` to the computed delay. If `low` and `grid` are zero,
    /// the result is `Full`, which has a fast path.
    pub(crate) fn above_low(low: Duration, grid: Duration) -> Self {
        if low.is_zero() && grid.is_zero() { Self::Full } else { Self::From(low) }
    }

    pub(crate) fn scale(self, u: f64) -> Option<f64> {
        match self {
            Self::None => Some(1.0),
            Self::Full => Some(u),
            Self::Equal => Some(0.5 + 0.5 * u),
            Self::Around(share) => Some(1.0 + share * (2.0 * u - 1.0)),
            Self::Below(share) => Some(1.0 - share * u),
            Self::Above(share) => Some(1.0 + share * u),
            Self::Between(low, high) => Some(low + (high - low) * u),
            Self::From(_) | Self::Add(_) | Self::Tower(_) => None,
        }
    }

    /// Returns the delay after random spread, for the random number `u`. With a non-zero grid, the result is the lowest
    /// possible delay plus a whole multiple of the grid. All these values are equally likely, including both ends of
    /// the range.
    pub(crate) fn of(self, delay: Duration, grid: Duration, grain: Grain, u: f64) -> Duration {
        match self {
            Self::None => delay,
            Self::From(low) => drawn(low, delay, grid, grain, u),
            Self::Add(most) => drawn(delay, delay.saturating_add(most), grid, grain, u),
            Self::Tower(share) => delay.saturating_add(towers(delay, share * u)),
            _ if grid.is_zero() => self.scale(u).map_or(delay, |scale| grain.part_of(delay, scale)),
            _ => {
                let ends = [0.0, 1.0].map(|u| self.scale(u).map_or(delay, |scale| fraction(delay, scale)));
                drawn(ends[0].min(ends[1]), ends[0].max(ends[1]), grid, grain, u)
            }
        }
    }
}

fn drawn(low: Duration, high: Duration, grid: Duration, grain: Grain, u: f64) -> Duration {
    if !grid.is_zero() {
        return between(low, high, grid, u);
    }
    low.saturating_add(grain.part_of(high.saturating_sub(low), u)).min(high)
}

fn towers(delay: Duration, share: f64) -> Duration {
    let whole = libm::trunc(delay.as_secs() as f64 * share);
    let rest = libm::trunc(f64::from(delay.subsec_nanos()) * share);
    vocabulary::nanos(whole * 1e9 + rest)
}

const WORDS: &[&str] =
    &["none", "full", "equal", "around", "below", "above", "between", "from", "add", "tower"];

impl TextField for Spread {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let values: Vec<&str> = text.split('|').map(str::trim).collect();
        *self = match values[..] {
            ["none"] => Self::None,
            ["full"] => Self::Full,
            ["equal"] => Self::Equal,
            ["around", value] => Self::Around(share(value, 1.0)?),
            ["below", value] => Self::Below(share(value, 1.0)?),
            ["above", value] => Self::Above(share(value, MOST)?),
            ["between", low, high] => {
                let ends = (share(low, MOST)?, share(high, MOST)?);
                if ends.0 > ends.1 {
                    return Err(format!("the lower end `{low}` is above the upper end `{high}`"));
                }
                Self::Between(ends.0, ends.1)
            }
            ["from", low] => Self::From(up_to_a_day(low)?),
            ["add", most] => Self::Add(up_to_a_day(most)?),
            ["tower", value] => Self::Tower(share(value, MOST)?),
            _ => {
                let word = values[0];
                return Err(if WORDS.contains(&word) {
                    let count = values.len() - 1;
                    format!("`{word}` is given {count} values, which is not the number that it takes")
                } else {
                    let suggestion = did_you_mean(word, WORDS.iter().copied());
                    format!("`{word}` is not a kind of jitter{suggestion}")
                });
            }
        };
        Ok(())
    }

    fn show(&self) -> String {
        match *self {
            Self::None => "none".to_owned(),
            Self::Full => "full".to_owned(),
            Self::Equal => "equal".to_owned(),
            Self::Around(share) => format!("around|{share}"),
            Self::Below(share) => format!("below|{share}"),
            Self::Above(share) => format!("above|{share}"),
            Self::Between(low, high) => format!("between|{low}|{high}"),
            Self::From(low) => format!("from|{}", duration_text::format(low)),
            Self::Add(most) => format!("add|{}", duration_text::format(most)),
            Self::Tower(share) => format!("tower|{share}"),
        }
    }

    fn accepted(&self) -> &'static str {
        "a kind of jitter, some with values after `|`, such as `none` or `full` or `equal` or `around|0.2` \
         or `below|0.25` or `above|0.1` or `between|0.8|1.3` or `from|500ms` or `add|1s` or `tower|0.99`"
    }
}

const MOST: f64 = 1000.0;

fn share(text: &str, most: f64) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=most).contains(share));
    share.ok_or_else(|| format!("`{text}` is not a number from 0 to {most}"))
}
