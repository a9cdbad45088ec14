//! Golden vectors of presets. A golden vector lists the delays that a preset must produce, taken from the source of the
//! preset.

use std::time::Duration;

use serde::Deserialize;
use vocabulary::duration_text;

/// Test case of a preset. It lists the results of an op's attempts, and the delays that the preset must produce.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// Purpose and source of a preset's test case.
    pub about: String,
    /// Options with which the test case overrides the preset's own options, such as `max-attempts=5,cap=3s`.
    #[serde(default)]
    pub with: String,
    /// HTTP method of the requests in the test case. GET if absent.
    pub method: Option<String>,
    /// Number from 0 to 1 that replaces every random draw of the backoff. If it is absent, the expected delays are
    /// ranges, or the backoff has no random draws.
    pub draw: Option<f64>,
    /// Results of the attempts, in order. A result is a status code with optional headers (`429 retry-after: 20;
    /// x-should-retry: true`), or a word: `refused`, `closed`, `timeout` or `unreadable`. The last result repeats.
    pub answers: Vec<String>,
    /// Expected delays, each a duration (`1s`) or a range (`0s..50ms`). If `stop` follows the last delay, the op must
    /// then be given up. Without `stop`, further delays may follow.
    pub delays: Vec<String>,
}

/// Expected delay before a retry, or the expected end of the op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoldenDelay {
    /// The delay before the retry is between two durations, both included.
    Within(Duration, Duration),
    /// The op is given up instead of retried.
    Stop,
}

impl GoldenDelay {
    /// Parses a duration, a range of durations or `stop`.
    ///
    /// # Errors
    /// If a word is not a duration. The error names that word.
    pub fn read(text: &str) -> Result<Self, String> {
        let duration = |text: &str| {
            duration_text::parse(text.trim())
                .map_err(|_| format!("`{text}` is not a duration, such as `50ms`"))
        };
        match text.trim() {
            "stop" => Ok(Self::Stop),
            text => match text.split_once("..") {
                Some((low, high)) => Ok(Self::Within(duration(low)?, duration(high)?)),
                None => duration(text).map(|delay| Self::Within(delay, delay)),
            },
        }
    }
}
