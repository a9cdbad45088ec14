//! Answers that count as rejections in addition to the usual ones, as given on the command line. The user lists
//! statuses, and reasons to search for in response bodies.

use std::fmt;
use std::str::FromStr;

use memchr::memmem;
use tailback::{AdviceHeaders, contains_words, error_code};
use vocabulary::did_you_mean;

/// Maximum number of bytes of a response body that are searched for words.
pub const MAX_SEARCHED: usize = 1 << 20;

/// Maximum number of statuses and words, counted together, that the user may list as rejections.
const MOST: usize = 64;

/// Maximum length in bytes of a word or phrase that is searched for in response bodies.
const LONGEST: usize = 500;

/// Answers that count as rejections in addition to 429, 503 and 529. They are written in one line for each use of the flag, such as
/// `403,body:THROTTLED` or `body:Rate exceeded, slow down`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectedWhen {
    /// HTTP statuses that count as rejections, 300 to 599.
    pub statuses: Vec<u16>,
    /// Words and phrases to search for in response bodies. Bodies of successful responses are searched, too.
    pub words: Vec<String>,
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
        self.statuses.is_empty() && self.words.is_empty()
    }

    /// Returns whether an answer contains one of the words, in the searched part of its body, or as its error code in a header.
    pub(crate) fn is_in(&self, headers: &(impl AdviceHeaders + ?Sized), body: &[u8]) -> bool {
        let code = error_code(headers);
        let body = &body[..body.len().min(MAX_SEARCHED)];
        self.words.iter().any(|word| {
            let is_name = word.contains('-') && !word.contains(' ');
            code == Some(word)
                || if is_name { contains_words(word.as_bytes(), body) } else { is_word_in(word, body) }
        })
    }

    fn add(&mut self, part: &str) -> Result<(), String> {
        if self.statuses.len() + self.words.len() >= MOST {
            return Err(format!("there are more than {MOST} entries"));
        }
        let Some(word) = part.strip_prefix("body:").map(str::trim) else {
            let status = part.parse().ok().filter(|status| (300..600).contains(status));
            let suggestion = || did_you_mean(part.split(':').next().unwrap_or_default(), ["body"]);
            let why = || format!("a status must be from 300 to 599{}", suggestion());
            self.statuses.push(status.ok_or_else(why)?);
            return Ok(());
        };
        let is_valid = !word.is_empty() && word.len() <= LONGEST && !word.chars().any(char::is_control);
        if !is_valid {
            return Err(format!("a word or phrase must have from 1 to {LONGEST} printable bytes"));
        }
        if word.replace(' ', "").contains(",body:") {
            return Err("a value with blanks is one phrase; give the flag once for each phrase".to_owned());
        }
        self.words.push(word.to_owned());
        Ok(())
    }
}

/// Returns whether `body` contains `word` with no letter or digit beside it.
fn is_word_in(word: &str, body: &[u8]) -> bool {
    // A character has at most 4 bytes.
    let before = |at: usize| String::from_utf8_lossy(&body[at.saturating_sub(4)..at]).chars().next_back();
    let after = |at: usize| String::from_utf8_lossy(&body[at..body.len().min(at + 4)]).chars().next();
    let is_end = |neighbour: Option<char>| !neighbour.is_some_and(char::is_alphanumeric);
    // Matches may overlap. The search goes on one byte after each start, because `find_iter` would skip such matches.
    let finder = memmem::Finder::new(word);
    let mut from = 0;
    while let Some(found) = finder.find(&body[from..]) {
        let at = from + found;
        if is_end(before(at)) && is_end(after(at + word.len())) {
            return true;
        }
        from = at + 1;
    }
    false
}

impl FromStr for RejectedWhen {
    type Err = RejectedWhenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut this = Self::default();
        for value in text.split('\n').map(str::trim) {
            let is_phrase = value.strip_prefix("body:").is_some_and(|text| text.trim().contains(' '));
            let parts = if is_phrase { vec![value] } else { value.split(',').map(str::trim).collect() };
            for part in parts {
                let is_hidden = !is_phrase && part.contains(' ');
                let added = if is_hidden {
                    Err("a phrase with blanks needs a value of its own that begins with `body:`".to_owned())
                } else {
                    this.add(part)
                };
                added.map_err(|why| RejectedWhenError { part: part.to_owned(), why })?;
            }
        }
        Ok(this)
    }
}

impl fmt::Display for RejectedWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (phrases, words): (Vec<_>, Vec<_>) = self.words.iter().partition(|word| word.contains(' '));
        let statuses = self.statuses.iter().map(u16::to_string);
        let list: Vec<String> = statuses.chain(words.iter().map(|word| format!("body:{word}"))).collect();
        let list = (!list.is_empty()).then(|| list.join(","));
        let phrases = phrases.iter().map(|phrase| format!("body:{phrase}"));
        f.write_str(&list.into_iter().chain(phrases).collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_words_and_phrases_are_read_as_they_are_shown() {
        let read: RejectedWhen = "403, 400,body:THROTTLED,body:secondary-rate".parse().unwrap();
        assert_eq!(read.statuses, [403, 400]);
        assert_eq!(read.to_string(), "403,400,body:THROTTLED,body:secondary-rate");
        assert_eq!(read.to_string().parse(), Ok(read));
        let read: RejectedWhen = "body:Rate exceeded, try later\n403,body:busy".parse().unwrap();
        assert_eq!(read.words, ["Rate exceeded, try later", "busy"]);
        let shown = "403,body:busy\nbody:Rate exceeded, try later";
        assert_eq!(read.to_string(), shown);
        assert_eq!(shown.parse::<RejectedWhen>().unwrap().to_string(), shown);
    }

    #[test]
    fn nonsense_is_refused() {
        let long = format!("body:{}", "x".repeat(LONGEST + 1));
        for text in [
            "",
            "200",
            "600",
            "many",
            "body:",
            "body: ",
            "body:a, body:b",
            "body:a,body:b c",
            "body: a,b",
            "403,body:a b",
            "body:a\u{7}",
            "403,,400",
            &long,
            &vec!["403"; 65].join(","),
        ] {
            assert!(text.parse::<RejectedWhen>().is_err(), "{text}");
        }
        let error = "boddy:x".parse::<RejectedWhen>().unwrap_err().to_string();
        assert!(error.contains("did you mean `body`?"), "{error}");
    }

    #[test]
    fn words_are_found_anywhere_in_a_body_but_not_inside_other_words() {
        let found = |flag: &str, body: &str| {
            let headers: [(&str, &str); 0] = [];
            flag.parse::<RejectedWhen>().unwrap().is_in(&headers[..], body.as_bytes())
        };
        for (flag, body, expected) in [
            ("body:THROTTLED", "THROTTLED", true),
            ("body:THROTTLED", "error=THROTTLED&x", true),
            ("body:THROTTLED", r#"{"code":"ERR_THROTTLED"}"#, true),
            ("body:THROTTLED", "<b>THROTTLED</b>", true),
            ("body:THROTTLED", "Throttled", false),
            ("body:THROTTLED", "UNTHROTTLED THROTTLED2 \u{dc}THROTTLED", false),
            ("body:THROTTLED", "\u{201c}THROTTLED\u{201d}", true),
            ("body:THROTTLED", "xTHROTTLED THROTTLED", true),
            ("body:a.a", "aa.a.a", true),
            ("body:Rate exceeded, slow down", "Error: Rate exceeded, slow down.", true),
            ("body:Rate exceeded, slow down", "Error: rate exceeded, slow down.", false),
            ("body:x-rate y", "x rate y", false),
            ("body:secondary-rate", "You exceeded a Secondary_Rate limit", true),
            ("body:a\nbody:quota is over", "the quota is over", true),
        ] {
            assert_eq!(found(flag, body), expected, "{flag} in {body}");
        }
        let far = |before: usize| found("body:BUSY", &format!("{} BUSY", " ".repeat(before)));
        assert!(far(MAX_SEARCHED - 5) && !far(MAX_SEARCHED - 4), "only the first 1 MiB is searched");
    }

    #[test]
    fn words_are_found_as_error_codes_in_headers() {
        let rejected: RejectedWhen = "body:RequestThrottled".parse().unwrap();
        let headers = [("x-amzn-query-error", "RequestThrottled;Sender")];
        assert!(rejected.is_in(&headers[..], b""));
    }
}
