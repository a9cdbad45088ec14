//! Golden vectors: what a preset must come to, from its source.

use std::time::Duration;

use serde::Deserialize;
use vocabulary::duration_text;

/// One op whose attempts end as they are listed, with what the client must do then.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// What it shows, and where it is from.
    pub about: String,
    /// Options put over the preset's: `max-attempts=5,cap=3s`.
    #[serde(default)]
    pub with: String,
    /// The method of the requests.
    pub method: Option<String>,
    /// Every draw of the back-off, 0 to 1; without it delays are ranges, or nothing is drawn.
    pub draw: Option<f64>,
    /// How the attempts end: a status, with headers behind it (`429 retry-after: 20; x-should-retry: true`), `refused`,
    /// `closed`, `timeout` or `unreadable`. The last one repeats.
    pub answers: Vec<String>,
    /// The delays: durations (`1s`), ranges (`0s..50ms`), and at the end `stop` where the op is given up, or nothing where more
    /// would come.
    pub delays: Vec<String>,
}

/// A delay that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoldenDelay {
    /// Between these, both included.
    Within(Duration, Duration),
    /// The op is given up.
    Stop,
}

impl GoldenDelay {
    /// What is written like this.
    ///
    /// # Errors
    /// Which word is no duration.
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
