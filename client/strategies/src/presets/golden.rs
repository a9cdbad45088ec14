//! Golden vectors: delays that a preset must produce according to its source.

use std::time::Duration;

use serde::Deserialize;
use vocabulary::duration_text;

/// Op with a list of results of its attempts, and the expected delays.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// Purpose and source.
    pub about: String,
    /// Options that override the preset's: `max-attempts=5,cap=3s`.
    #[serde(default)]
    pub with: String,
    /// The method of the requests.
    pub method: Option<String>,
    /// Value of every draw of the backoff, 0 to 1. If absent, delays are ranges, or there are no draws.
    pub draw: Option<f64>,
    /// Results of the attempts: a status code with optional headers (`429 retry-after: 20; x-should-retry: true`),
    /// `refused`, `closed`, `timeout` or `unreadable`. The last one repeats.
    pub answers: Vec<String>,
    /// Expected delays: durations (`1s`) or ranges (`0s..50ms`). A final `stop` means that the op is given up; without
    /// it more delays may follow.
    pub delays: Vec<String>,
}

/// Expected delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoldenDelay {
    /// Between these durations, both included.
    Within(Duration, Duration),
    /// The op is given up.
    Stop,
}

impl GoldenDelay {
    /// Parses a duration, a range or `stop`.
    ///
    /// # Errors
    /// The word that is not a duration.
    pub fn read(text: &str) -> Result<Self, String> {
        let duration =
            |text: &str| duration_text::parse(text.trim()).map_err(|_| format!("`{text}` is not a duration"));
        match text.trim() {
            "stop" => Ok(Self::Stop),
            text => match text.split_once("..") {
                Some((low, high)) => Ok(Self::Within(duration(low)?, duration(high)?)),
                None => duration(text).map(|delay| Self::Within(delay, delay)),
            },
        }
    }
}
