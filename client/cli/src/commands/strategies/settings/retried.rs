//! What `retry-on` says, as lists: which statuses and missing answers are tried again, each under which conditions.

use std::collections::BTreeMap;

/// The conditions under which something is tried again, each as it is typed: empty for always, or `told&idempotent`.
pub(super) type Conditions = Vec<String>;

/// Why there can be no answer.
pub(super) const MISSING: [&str; 4] = ["refused", "closed", "timeout", "unreadable"];

/// What is tried again.
#[derive(Debug, Default)]
pub(super) struct Retried {
    pub(super) codes: BTreeMap<u16, Conditions>,
    /// By the words of [`MISSING`].
    pub(super) missing: BTreeMap<&'static str, Conditions>,
    /// Statuses of gRPC by name.
    pub(super) grpc: Vec<String>,
    /// Reasons from bodies and headers.
    pub(super) reasons: Vec<String>,
}

/// What `rejected` and `failed` stand for: how everybody counts.
const REJECTED: [u16; 3] = [429, 503, 529];

impl Retried {
    /// What the two rules come to, the second for the word `throttled`; the last term that fits decides.
    pub(super) fn read(retry_on: &str, throttle_on: &str) -> Self {
        let mut retried = Self::default();
        for term in retry_on.split('|').map(str::trim) {
            let (takes_in, term) = term.strip_prefix('!').map_or((true, term), |rest| (false, rest));
            let (subject, condition) = term.split_once('&').unwrap_or((term, ""));
            if subject == "throttled" {
                // By itself it means nothing there.
                let of =
                    if throttle_on.contains("throttled") { String::new() } else { throttle_on.to_owned() };
                let Self { codes, missing, grpc, reasons } = Self::read(&of, "");
                retried.codes.extend(codes);
                retried.missing.extend(missing);
                retried.grpc.extend(grpc);
                retried.reasons.extend(reasons);
                continue;
            }
            retried.apply(takes_in, subject, condition);
        }
        retried
    }

    fn apply(&mut self, takes_in: bool, subject: &str, condition: &str) {
        for code in codes(subject) {
            change(self.codes.entry(code).or_default(), takes_in, condition);
        }
        for kind in missing(subject) {
            change(self.missing.entry(kind).or_default(), takes_in, condition);
        }
        self.codes.retain(|_, conditions| !conditions.is_empty());
        self.missing.retain(|_, conditions| !conditions.is_empty());
        for (prefix, names) in [("grpc.", &mut self.grpc), ("reason.", &mut self.reasons)] {
            if let Some(name) = subject.strip_prefix(prefix) {
                names.retain(|known| known != name);
                if takes_in {
                    names.push(name.to_owned());
                }
            }
        }
    }

    /// Every condition that something has.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &str> {
        let all = self.codes.values().chain(self.missing.values()).flatten();
        all.map(String::as_str).filter(|condition| !condition.is_empty())
    }

    /// Whether this missing answer is tried again.
    pub(super) fn lacks_answer(&self, kind: &str) -> bool {
        self.missing.contains_key(kind)
    }

    /// The missing answers that are not tried again, in words.
    pub(super) fn final_without_answer(&self) -> String {
        MISSING.into_iter().filter(|kind| !self.lacks_answer(kind)).collect::<Vec<_>>().join(", ")
    }

    /// The statuses in runs of consecutive ones.
    pub(super) fn runs(&self) -> Vec<(u16, u16)> {
        runs(self.codes.keys().copied())
    }
}

/// Consecutive numbers as their first and last.
pub(super) fn runs(codes: impl Iterator<Item = u16>) -> Vec<(u16, u16)> {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for code in codes {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => runs.push((code, code)),
        }
    }
    runs
}

/// Statuses in a few words: `403, 500-599`.
pub(super) fn shown(codes: impl Iterator<Item = u16>) -> String {
    let runs = runs(codes).into_iter();
    let runs = runs.map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
    runs.collect::<Vec<_>>().join(", ")
}

fn change(conditions: &mut Conditions, takes_in: bool, condition: &str) {
    if condition.is_empty() || !takes_in {
        conditions.clear();
    }
    if takes_in && !conditions.iter().any(|known| known == condition) {
        conditions.push(condition.to_owned());
    }
}

/// The statuses of a subject.
fn codes(subject: &str) -> Vec<u16> {
    match subject.as_bytes() {
        b"any" | b"answer" => return (400..=599).collect(),
        b"rejected" => return REJECTED.to_vec(),
        b"failed" => return (500..=599).filter(|code| !REJECTED.contains(code)).collect(),
        [class @ b'1'..=b'5', b'x', b'x'] => {
            let from = u16::from(class - b'0') * 100;
            return (from..from + 100).collect();
        }
        _ => {}
    }
    let (from, to) = subject.split_once('-').unwrap_or((subject, subject));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) => (from..=to).collect(),
        _ => Vec::new(),
    }
}

/// The missing answers of a subject.
fn missing(subject: &str) -> Vec<&'static str> {
    let is_meant = |kind: &str| match subject {
        "any" | "failed" => true,
        "transport" => kind != "timeout",
        subject => subject == kind,
    };
    MISSING.into_iter().filter(|kind| is_meant(kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_become_lists() {
        let retried = Retried::read(
            "408|5xx|!501|429&told&idempotent|transport|grpc.UNAVAILABLE|throttled",
            "reason.Slow",
        );
        assert_eq!(retried.runs(), [(408, 408), (429, 429), (500, 500), (502, 599)]);
        assert_eq!(retried.conditions().collect::<Vec<_>>(), ["told&idempotent"]);
        assert!(retried.lacks_answer("refused") && !retried.lacks_answer("timeout"));
        assert_eq!(
            (&retried.grpc[..], &retried.reasons[..]),
            (&["UNAVAILABLE".to_owned()][..], &["Slow".to_owned()][..])
        );
        assert!(Retried::read("none", "rejected").codes.is_empty());
    }
}
