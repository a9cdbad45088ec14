//! Scripted reply to one request: a status with headers and a body, or a fault that replaces or breaks the answer.

use std::borrow::Cow;
use std::fmt;

use vocabulary::WallTime;

use crate::calendar::http_date;
use crate::faults::When;
use crate::header_rules::{MAX_HEADERS, checked_name, is_final, is_value};
use crate::{Fault, HeaderError};

pub(super) const BODY: &str = "body";

/// Maximum offset of a time in a header, in seconds, such as 3 in `@date+3` or 60 in `@date-60`. It is about 317 years.
const MAX_OFFSET: i64 = 10_000_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub answer: ScriptedAnswer,
    pub(super) broken_by: Option<StepFault>,
}

/// Fault of a step, written like a fault of the flag `--fault` without its share: `reset` or `reset:after`. Only [`Fault::Truncate`] sends a
/// part of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepFault {
    fault: Fault,
    when: When,
}

const FAULTS: [Fault; 4] = [Fault::Close, Fault::Reset, Fault::Truncate, Fault::Hang];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedAnswer {
    /// HTTP status of the scripted answer, 200 to 599.
    pub status: u16,
    pub body: String,
    headers: Vec<(String, Value)>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    #[error("`status` is {0}; it must be from 200 to 599")]
    Status(u64),
    #[error(transparent)]
    Header(#[from] HeaderError),
    #[error("in scripts, `{BODY}` is the body of an answer, so it cannot be the name of a header")]
    Body,
    #[error(
        "the value `{value}` of the header `{name}` is not a valid time; write for example `@date+3`, \
         `@date-60` or `@epoch+5`, in seconds"
    )]
    Time { name: String, value: String },
    #[error("`{0}` sends no answer, so `{1}` cannot be sent; leave it out")]
    Unsent(StepFault, String),
    #[error("a step has {0} headers; give at most {MAX_HEADERS}, because clients do not read more")]
    Headers(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Text(String),
    /// Time that is written as an HTTP-date. The number is its offset from the next whole second, in seconds.
    Date(i64),
    /// Time that is written in seconds since 1970. The number is its offset from the next whole second, in seconds.
    Epoch(i64),
}

impl Reply {
    pub fn status(status: u16) -> Result<Self, ReplyError> {
        Self::answer(status, [], String::new())
    }

    /// Creates a scripted answer. A header value such as `@date+3` or `@epoch-5` is a time. Its number is an offset in seconds. The
    /// offset is counted from the next whole second when the answer is sent.
    ///
    /// # Errors
    /// Returns an error that names the part that cannot be sent.
    pub fn answer(
        status: u16,
        headers: impl IntoIterator<Item = (String, String)>,
        body: String,
    ) -> Result<Self, ReplyError> {
        if !is_final(status) {
            return Err(ReplyError::Status(status.into()));
        }
        let headers =
            headers.into_iter().map(|(name, value)| header(&name, value)).collect::<Result<Vec<_>, _>>()?;
        if headers.len() > MAX_HEADERS {
            return Err(ReplyError::Headers(headers.len()));
        }
        Ok(Self { answer: ScriptedAnswer { status, body, headers }, broken_by: None })
    }

    pub(super) fn faulty(
        fault: StepFault,
        headers: impl IntoIterator<Item = (String, String)>,
        body: String,
    ) -> Result<Self, ReplyError> {
        let mut headers = headers.into_iter().peekable();
        let unsent = headers.peek().map(|(name, _)| name.clone());
        let unsent = unsent.or_else(|| (!body.is_empty()).then(|| BODY.to_owned()));
        if let Some(unsent) = unsent.filter(|_| !fault.sends_answer()) {
            return Err(ReplyError::Unsent(fault, unsent));
        }
        Ok(Self { broken_by: Some(fault), ..Self::answer(200, headers, body)? })
    }

    pub fn fault(&self) -> Option<Fault> {
        self.broken_by.map(|broken_by| broken_by.fault)
    }

    /// Whether the request of this reply counts as accepted. An answer counts as accepted if it has a 2xx status, and no error in gRPC's
    /// status header. A fault counts as accepted if it occurs after the work.
    pub fn counts_as_accepted(&self) -> bool {
        let Self { answer, broken_by } = self;
        if let Some(fault) = broken_by {
            return fault.when == When::After;
        }
        let grpc = answer.header(vocabulary::grpc::STATUS);
        (200..300).contains(&answer.status) && grpc.is_none_or(|text| vocabulary::grpc::number(text) == 0)
    }
}

impl StepFault {
    pub(super) const CLOSE: Self = Self { fault: Fault::Close, when: When::Before };

    pub(super) fn sends_answer(self) -> bool {
        self.fault == Fault::Truncate
    }

    pub(super) fn names() -> String {
        let [others @ .., last] = FAULTS.map(|fault| format!("`{fault}`"));
        format!("{} or {last}, optionally followed by `:after`", others.join(", "))
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (name, when) = match text.strip_suffix(When::After.suffix()) {
            Some(name) => (name, When::After),
            None => (text, When::Before),
        };
        let fault = Fault::named(name).filter(|fault| FAULTS.contains(fault))?;
        Some(Self { fault, when })
    }
}

impl fmt::Display for StepFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.fault, self.when.suffix())
    }
}

impl ScriptedAnswer {
    /// Returns the headers of the answer as they are sent at `now`; names are in lower case.
    pub fn headers(&self, now: WallTime) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.headers.iter().map(move |(name, value)| (name.as_str(), value.at(now)))
    }

    /// Returns the value of a header. `None` if the header is missing or its value depends on the time.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|(there, value)| match value {
            Value::Text(text) if there == name => Some(text.as_str()),
            _ => None,
        })
    }

    pub(super) fn written(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.written()))
    }
}

impl Value {
    fn at(&self, now: WallTime) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Date(offset) => http_date(moved(now, *offset)).into(),
            Self::Epoch(offset) => moved(now, *offset).to_string().into(),
        }
    }

    fn written(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Date(offset) => format!("@date{offset:+}").into(),
            Self::Epoch(offset) => format!("@epoch{offset:+}").into(),
        }
    }
}

fn moved(now: WallTime, offset: i64) -> u64 {
    let since = now.since_unix();
    let next = since.as_secs() + u64::from(since.subsec_nanos() > 0);
    next.saturating_add_signed(offset)
}

fn header(name: &str, value: String) -> Result<(String, Value), ReplyError> {
    let name = checked_name(name)?;
    if name == BODY {
        return Err(ReplyError::Body);
    }
    for (prefix, time) in [("@date", Value::Date as fn(i64) -> Value), ("@epoch", Value::Epoch)] {
        if let Some(offset) = value.strip_prefix(prefix) {
            return match offset_of(offset) {
                Some(offset) => Ok((name, time(offset))),
                None => Err(ReplyError::Time { name, value }),
            };
        }
    }
    if !is_value(&value) {
        return Err(HeaderError::Value(name).into());
    }
    Ok((name, Value::Text(value)))
}

/// Parses a number of seconds with a sign: `+3`, `-60`. An empty text is 0.
fn offset_of(text: &str) -> Option<i64> {
    match text.as_bytes() {
        [] => Some(0),
        [b'+' | b'-', b'0'..=b'9', ..] => text.parse().ok().filter(|offset: &i64| offset.abs() <= MAX_OFFSET),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sent(value: &str, millis: u64) -> String {
        let Reply { answer, .. } =
            Reply::answer(503, [("X".to_owned(), value.to_owned())], String::new()).unwrap();
        let (name, value) =
            answer.headers(WallTime::from_unix(Duration::from_millis(millis))).next().unwrap();
        assert_eq!(name, "x");
        value.into_owned()
    }

    #[test]
    fn times_count_from_the_next_whole_second() {
        // 1 000 000 000 s after 1970 is 01:46:40.
        for (value, millis, header) in [
            ("@date+3", 1_000_000_000_000, "Sun, 09 Sep 2001 01:46:43 GMT"),
            ("@date+3", 1_000_000_000_001, "Sun, 09 Sep 2001 01:46:44 GMT"),
            ("@date-60", 1_000_000_000_999, "Sun, 09 Sep 2001 01:45:41 GMT"),
            ("@date", 0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("@date-60", 0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("@date+10000000000", 1_000_000_000_000_000, "Fri, 31 Dec 9999 23:59:59 GMT"),
            ("@epoch+5", 1_000_000_000_001, "1000000006"),
            ("2", 7, "2"),
        ] {
            assert_eq!(sent(value, millis), header, "{value} at {millis} ms");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused_by_name() {
        let refused = |name: &str, value: &str| {
            Reply::answer(503, [(name.to_owned(), value.to_owned())], String::new()).unwrap_err().to_string()
        };
        for (name, value, words) in [
            ("", "1", "`` is not a valid header name"),
            ("a b", "1", "`a b` is not a valid header name"),
            ("Content-Length", "1", "the server sets the header `content-length` itself; leave it out"),
            ("X-Tailback-Mock", "1", "the server sets the header `x-tailback-mock` itself; leave it out"),
            (
                "Body",
                "1",
                "in scripts, `body` is the body of an answer, so it cannot be the name of a header",
            ),
            ("x", "a\r\nb: c", "the value of the header `x` cannot be sent"),
            ("x", "ä", "the value of the header `x` cannot be sent"),
            (
                "x",
                "@date3",
                "the value `@date3` of the header `x` is not a valid time; write for example `@date+3`",
            ),
            ("x", "@epoch+", "the value `@epoch+` of the header `x` is not a valid time"),
            ("x", "@date+99999999999", "the value `@date+99999999999` of the header `x` is not a valid time"),
        ] {
            let error = refused(name, value);
            assert!(error.starts_with(words), "{name:?}: {value:?}: {error}");
        }
        for status in [0, 100, 199, 600] {
            assert_eq!(Reply::status(status), Err(ReplyError::Status(status.into())));
        }
        let many = (0..65).map(|n| (format!("x{n}"), String::new()));
        assert_eq!(Reply::answer(200, many, String::new()), Err(ReplyError::Headers(65)));
    }

    #[test]
    fn a_2xx_is_a_success_unless_its_grpc_status_is_not_ok() {
        let with = |status, grpc: Option<&str>| {
            let headers = grpc.map(|text| ("grpc-status".to_owned(), text.to_owned()));
            Reply::answer(status, headers, String::new()).unwrap().counts_as_accepted()
        };
        assert!(with(200, None) && with(204, None) && with(200, Some("0")));
        assert!(!with(200, Some("14")) && !with(503, Some("0")) && !with(302, None));
    }

    #[test]
    fn a_fault_counts_as_accepted_only_after_the_work() {
        for fault in FAULTS {
            for (text, is_accepted) in [(fault.to_string(), false), (format!("{fault}:after"), true)] {
                let step = StepFault::parse(&text).unwrap();
                assert_eq!(step.to_string(), text);
                let reply = Reply::faulty(step, [], String::new()).unwrap();
                assert_eq!((reply.fault(), reply.counts_as_accepted()), (Some(fault), is_accepted));
                let body = Reply::faulty(step, [], "x".to_owned());
                assert_eq!(body.is_ok(), fault == Fault::Truncate, "{text}");
            }
        }
        for text in ["garbage", "500", "close:", "close:before", "close :after", ""] {
            assert_eq!(StepFault::parse(text), None, "{text}");
        }
    }
}
