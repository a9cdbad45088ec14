//! Answers that count as rejections in addition to the usual ones, as given on the command line. The user lists
//! statuses, and reasons to search for in response bodies.

use std::fmt;
use std::str::FromStr;

use vocabulary::did_you_mean;

/// Maximum number of statuses and reasons, counted together, that the user may list as rejections.
const MOST: usize = 64;

/// Maximum length in bytes of a reason that is searched for in response bodies.
const LONGEST: usize = 100;

/// Answers that count as rejections in addition to 429, 503 and 529, written `403,body:THROTTLED`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectedWhen {
    /// HTTP statuses that count as rejections, 300 to 599.
    pub statuses: Vec<u16>,
    /// Reasons to search for in response bodies, by the names that strategy rules use ([`tailback::gives_reason`]).
    /// Bodies of successful responses are searched, too.
    pub reasons: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` is not a valid rejection rule: {why}; write statuses and words in bodies, such as `403,body:THROTTLED`"
)]
pub struct RejectedWhenError {
    part: String,
    why: String,
}

impl RejectedWhen {
    pub fn is_empty(&self) -> bool {
        self.statuses.is_empty() && self.reasons.is_empty()
    }
}

impl FromStr for RejectedWhen {
    type Err = RejectedWhenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut this = Self::default();
        for part in text.split(',').map(str::trim) {
            let refuse = |why: &str| RejectedWhenError { part: part.to_owned(), why: why.to_owned() };
            if this.statuses.len() + this.reasons.len() >= MOST {
                return Err(refuse(&format!("there are more than {MOST} entries")));
            }
            if let Some(reason) = part.strip_prefix("body:") {
                let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
                if reason.is_empty() || reason.len() > LONGEST || !reason.bytes().all(is_word) {
                    return Err(refuse("a reason must be a word, or words joined by `-`"));
                }
                this.reasons.push(reason.to_owned());
            } else {
                let status = part.parse().ok().filter(|status| (300..600).contains(status));
                let suggestion = || did_you_mean(part.split(':').next().unwrap_or_default(), ["body"]);
                let why = || format!("a status must be from 300 to 599{}", suggestion());
                this.statuses.push(status.ok_or_else(|| refuse(&why()))?);
            }
        }
        Ok(this)
    }
}

impl fmt::Display for RejectedWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statuses = self.statuses.iter().map(u16::to_string);
        let parts: Vec<String> =
            statuses.chain(self.reasons.iter().map(|reason| format!("body:{reason}"))).collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_and_reasons_are_read_as_they_are_shown() {
        let read: RejectedWhen = "403, 400,body:THROTTLED,body:secondary-rate".parse().unwrap();
        assert_eq!(read.statuses, [403, 400]);
        assert_eq!(read.to_string(), "403,400,body:THROTTLED,body:secondary-rate");
        assert_eq!(read.to_string().parse(), Ok(read));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "200", "600", "many", "body:", "body:a b", "403,,400", &vec!["403"; 65].join(",")] {
            assert!(text.parse::<RejectedWhen>().is_err(), "{text}");
        }
        let error = "boddy:x".parse::<RejectedWhen>().unwrap_err().to_string();
        assert!(error.contains("did you mean `body`?"), "{error}");
    }
}
