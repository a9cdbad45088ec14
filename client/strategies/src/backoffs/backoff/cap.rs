//! Longest delay of a backoff, as a duration or as a multiple of the base.

use std::time::Duration;

use vocabulary::{TextField, duration_text};

use crate::delay::{LONGEST, fraction};
use crate::shape::up_to_a_day;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cap {
    At(Duration),
    /// Longest delay as a multiple of the base, at most a day. Envoy's cap is ten times its base.
    Bases(f64),
    /// No configured cap. Delays are then at most a day, because no delay of any backoff is longer.
    None,
}

impl Default for Cap {
    fn default() -> Self {
        Self::At(Duration::from_secs(30))
    }
}

impl Cap {
    pub(crate) fn of(self, base: Duration) -> Duration {
        match self {
            Self::At(cap) => cap,
            Self::Bases(count) => fraction(base, count).min(LONGEST),
            Self::None => LONGEST,
        }
    }
}

impl TextField for Cap {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = match (text, text.strip_suffix('x')) {
            ("none", _) => Self::None,
            (_, Some(count)) => {
                let count = count.parse().ok().filter(|count| (1.0..=1e6).contains(count));
                Self::Bases(count.ok_or("a multiple of `base` must be from `1x` to `1000000x`")?)
            }
            (text, None) => Self::At(up_to_a_day(text)?),
        };
        Ok(())
    }

    fn show(&self) -> String {
        match self {
            Self::At(cap) => duration_text::format(*cap),
            Self::Bases(count) => format!("{count}x"),
            Self::None => "none".to_owned(),
        }
    }

    fn accepted(&self) -> &'static str {
        "a duration up to a day, a multiple of `base`, or `none` for no limit, such as `30s` or `10x` or \
         `none`"
    }
}
