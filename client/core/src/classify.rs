//! Classification of HTTP and gRPC statuses as success, rejection or failure, for the counts of the load generator. Strategies may
//! interpret the same statuses differently.

use std::fmt;
use std::str::FromStr;

use tailback::{AdviceHeaders, Failure, Status};

use crate::rejected_when::RejectedWhen;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classifier {
    /// Statuses and words that count as rejections in addition to 429, 503 and 529. They come from a mockserver's
    /// configuration and from the command line.
    pub rejected: RejectedWhen,
    pub success: SuccessStatuses,
    /// True if status 412 (precondition failed) counts as a rejection, because attempts are conditional writes.
    pub conditional_writes: bool,
}

impl Classifier {
    /// Creates a classifier of answers. As rejections it treats 429, 503, 529, and the answers in `rejected_when`, which the user listed on
    /// the command line. It also includes the statuses in `of_server`, with which a mockserver rejects. For conditional writes, it adds
    /// 412.
    pub fn new(
        rejected_when: &RejectedWhen,
        of_server: impl IntoIterator<Item = u16>,
        conditional_writes: bool,
    ) -> Self {
        let mut rejected = rejected_when.clone();
        rejected.statuses.extend(of_server);
        Self { rejected, conditional_writes, ..Self::default() }
    }

    /// Returns whether an answer contains one of the configured words, in its body or as its error code in a header.
    pub fn is_named(&self, headers: &(impl AdviceHeaders + ?Sized), body: &[u8]) -> bool {
        self.looks_at_bodies() && self.rejected.is_in(headers, body)
    }

    pub fn looks_at_bodies(&self) -> bool {
        !self.rejected.words.is_empty()
    }

    /// Classifies an answer as rejected if its body or headers contain one of the configured words. Otherwise
    /// classifies the answer as [`answer`](Self::answer) does.
    pub fn whole_answer(
        &self,
        code: u16,
        grpc_status: Option<&str>,
        headers: &(impl AdviceHeaders + ?Sized),
        body: &[u8],
    ) -> Status {
        if self.is_named(headers, body) {
            return Status::Rejected;
        }
        self.answer(code, grpc_status)
    }

    /// Classifies an answer by HTTP status and `grpc-status`, because gRPC reports errors in answers with status 200.
    pub fn answer(&self, code: u16, grpc_status: Option<&str>) -> Status {
        match (self.status(code), grpc_status) {
            (Status::Succeeded, Some(_)) => Status::from_http(200, grpc_status),
            (status, _) => status,
        }
    }

    /// Classifies an HTTP status. A rejection has precedence over a range of successes, but not over a success that is
    /// listed by itself. Other redirects and protocol switches are fatal failures: neither is followed, and a retry would
    /// get the same answer.
    pub fn status(&self, code: u16) -> Status {
        match code {
            code if self.success.names(code) => Status::Succeeded,
            429 | 503 | 529 => Status::Rejected,
            412 if self.conditional_writes => Status::Rejected,
            code if self.rejected.statuses.contains(&code) => Status::Rejected,
            code if self.success.contains(code) => Status::Succeeded,
            // A success by default may be none by the user's list.
            200..=299 => Status::Failed(Failure::Fatal),
            _ => Status::from_http(code, None),
        }
    }
}

/// Maximum number of statuses and ranges, counted together, that the user may list.
const MOST: usize = 64;

/// Statuses that count as successes, written `200-399,404`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuccessStatuses(Vec<(u16, u16)>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write statuses and ranges, such as `200-399,404`")]
pub struct SuccessStatusesError(String);

impl Default for SuccessStatuses {
    fn default() -> Self {
        Self(vec![(200, 299)])
    }
}

impl SuccessStatuses {
    pub(crate) fn contains(&self, code: u16) -> bool {
        self.0.iter().any(|&(low, high)| (low..=high).contains(&code))
    }

    /// Returns true if the list has `code` itself, and not only a range that includes it.
    pub(crate) fn names(&self, code: u16) -> bool {
        self.0.contains(&(code, code))
    }
}

impl FromStr for SuccessStatuses {
    type Err = SuccessStatusesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let status = |text: &str| text.trim().parse().ok().filter(|status| (100..600).contains(status));
        let range = |part: &str| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let range = status(low).zip(status(high)).filter(|(low, high)| low <= high);
            let words = "is neither a status from 100 to 599 nor a range from a lower status to a higher one";
            range.ok_or_else(|| SuccessStatusesError(format!("`{}` {words}", part.trim())))
        };
        let ranges: Vec<_> = text.split(',').take(MOST + 1).map(range).collect::<Result<_, _>>()?;
        if ranges.len() > MOST {
            return Err(SuccessStatusesError(format!("the list has more than {MOST} entries")));
        }
        Ok(Self(ranges))
    }
}

impl fmt::Display for SuccessStatuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |&(low, high): &(u16, u16)| {
            if low == high { low.to_string() } else { format!("{low}-{high}") }
        };
        f.write_str(&self.0.iter().map(part).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_grpc_status_overrides_only_a_200() {
        let classifier = Classifier::default();
        for (code, grpc, status) in [
            (200, None, Status::Succeeded),
            (200, Some("0"), Status::Succeeded),
            (200, Some("14"), Status::Rejected),
            (200, Some("8"), Status::Rejected),
            (200, Some("13"), Status::Failed(Failure::Server)),
            (200, Some("nonsense"), Status::Failed(Failure::Server)),
            (200, Some("3"), Status::Failed(Failure::Fatal)),
            (503, Some("0"), Status::Rejected),
        ] {
            assert_eq!(classifier.answer(code, grpc), status, "{code} {grpc:?}");
        }
    }

    #[test]
    fn rejections_win_over_ranges_of_successes_and_successes_listed_singly_over_rejections() {
        let rejected_when = "403,body:THROTTLED".parse().unwrap();
        let usual = Classifier::new(&rejected_when, [], true);
        let wanted = |list: &str| Classifier { success: list.parse().unwrap(), ..usual.clone() };
        let fatal = Status::Failed(Failure::Fatal);
        for (list, code, status) in [
            ("200-399,404", 204, Status::Succeeded),
            ("200-399,404", 302, Status::Succeeded),
            ("200-399,404", 404, Status::Succeeded),
            ("200-399,404", 400, fatal),
            ("404", 200, fatal),
            ("101", 101, Status::Succeeded),
            ("200-599", 500, Status::Succeeded),
            ("200-599", 429, Status::Rejected),
            ("200-599", 503, Status::Rejected),
            ("200-599", 529, Status::Rejected),
            ("200-599", 403, Status::Rejected),
            ("200-599", 412, Status::Rejected),
            ("429,503,529,403,412", 429, Status::Succeeded),
            ("429,503,529,403,412", 403, Status::Succeeded),
            ("429,503,529,403,412", 412, Status::Succeeded),
        ] {
            assert_eq!(wanted(list).status(code), status, "{list} {code}");
        }
        let body = r#"{"code": "THROTTLED"}"#.as_bytes();
        let no_headers: [(&str, &str); 0] = [];
        assert_eq!(wanted("200").whole_answer(200, None, &no_headers[..], body), Status::Rejected);
    }

    #[test]
    fn a_grpc_status_decides_within_wanted_statuses() {
        let classifier = Classifier { success: "404".parse().unwrap(), ..Classifier::default() };
        assert_eq!(classifier.answer(404, Some("14")), Status::Rejected);
        assert_eq!(classifier.answer(404, Some("0")), Status::Succeeded);
        assert_eq!(classifier.answer(200, Some("0")), Status::Failed(Failure::Fatal));
    }

    #[test]
    fn a_matching_body_overrides_the_status() {
        let rejected_when = "403,body:THROTTLED".parse().unwrap();
        let classifier = Classifier::new(&rejected_when, [], false);
        let no_headers: [(&str, &str); 0] = [];
        for (code, body, status) in [
            (200, r#"{"code": "THROTTLED"}"#, Status::Rejected),
            (200, r#"{"code": "OK"}"#, Status::Succeeded),
            (403, "", Status::Rejected),
            (400, r#"{"code": "THROTTLED"}"#, Status::Rejected),
            (400, "", Status::Failed(Failure::Fatal)),
        ] {
            let answer = classifier.whole_answer(code, None, &no_headers[..], body.as_bytes());
            assert_eq!(answer, status, "{code} {body}");
        }
    }

    #[test]
    fn every_class_of_status_has_its_meaning() {
        let usual = Classifier::default();
        let mock = Classifier::new(&RejectedWhen::default(), [420], true);
        for (classifier, code, status) in [
            (&usual, 200, Status::Succeeded),
            (&usual, 204, Status::Succeeded),
            (&usual, 101, Status::Failed(Failure::Fatal)),
            (&usual, 302, Status::Failed(Failure::Fatal)),
            (&usual, 304, Status::Failed(Failure::Fatal)),
            (&usual, 429, Status::Rejected),
            (&usual, 503, Status::Rejected),
            (&usual, 529, Status::Rejected),
            (&usual, 500, Status::Failed(Failure::Server)),
            (&usual, 404, Status::Failed(Failure::Fatal)),
            (&usual, 412, Status::Failed(Failure::Fatal)),
            (&usual, 420, Status::Failed(Failure::Fatal)),
            (&mock, 412, Status::Rejected),
            (&mock, 420, Status::Rejected),
        ] {
            assert_eq!(classifier.status(code), status, "{code}");
        }
    }

    #[test]
    fn statuses_and_ranges_are_read_as_they_are_shown() {
        let read: SuccessStatuses = "200-399, 404".parse().unwrap();
        assert_eq!(read.to_string(), "200-399,404");
        assert_eq!(read.to_string().parse(), Ok(read.clone()));
        assert_eq!(
            [199, 200, 399, 400, 404].map(|code| read.contains(code)),
            [false, true, true, false, true]
        );
        assert_eq!([200, 404].map(|code| read.names(code)), [false, true]);
        assert_eq!(SuccessStatuses::default().to_string(), "200-299");
    }

    #[test]
    fn nonsense_is_refused() {
        let many = vec!["404"; 65].join(",");
        for text in ["", "99", "600", "200-", "-299", "500-400", "abc", "200,,404", "2xx", "1-2-3", &many] {
            assert!(text.parse::<SuccessStatuses>().is_err(), "{text}");
        }
        let error = "200-299,500-400".parse::<SuccessStatuses>().unwrap_err().to_string();
        assert!(error.starts_with("`500-400` is neither a status from 100 to 599 nor a range"), "{error}");
    }
}
