//! Golden vectors: the delays that a preset must produce, taken from its source.

use std::time::Duration;

use serde::Deserialize;
use vocabulary::duration_text;

/// Test case: an op with the results of its attempts, and the delays that the preset must produce.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// Purpose and source of the test case.
    pub about: String,
    /// Options that override those of the preset, such as `max-attempts=5,cap=3s`.
    #[serde(default)]
    pub with: String,
    /// HTTP method of the requests. GET if absent.
    pub method: Option<String>,
    /// Value of every random draw of the backoff, from 0 to 1. If absent, the expected delays are ranges, or the
    /// backoff does not draw.
    pub draw: Option<f64>,
    /// Results of the attempts. Each is a status code with optional headers (`429 retry-after: 20; x-should-retry:
    /// true`), or `refused`, `closed`, `timeout` or `unreadable`. The last result repeats.
    pub answers: Vec<String>,
    /// Expected delays: durations (`1s`) or ranges (`0s..50ms`). `stop` at the end means that the op is given up.
    /// Without `stop`, further delays may follow.
    pub delays: Vec<String>,
}

/// Expected delay before a retry, or the expected end of the op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoldenDelay {
    /// The delay is between these two durations, both included.
    Within(Duration, Duration),
    /// The op is given up.
    Stop,
}

impl GoldenDelay {
    /// Parses a duration, a range of durations or `stop`.
    ///
    /// # Errors
    /// If a word is not a duration. The error names that word.
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
