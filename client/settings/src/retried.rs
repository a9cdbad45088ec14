//! Value of the parameter `retry-on`, parsed into lists. They contain the statuses that are retried and the retried causes of a missing
//! response, each with its conditions.

use std::collections::BTreeMap;

/// Conditions of a retry in command-line syntax. With an empty condition, a retry always happens. The condition `told&idempotent` requires
/// both of its parts.
pub(crate) type Conditions = Vec<String>;

/// Causes of a missing response, in the words of the parameter `retry-on`.
pub(crate) const MISSING: [&str; 4] = ["refused", "closed", "timeout", "unreadable"];

#[derive(Debug, Default)]
pub(crate) struct Retried {
    pub codes: BTreeMap<u16, Conditions>,
    pub missing: BTreeMap<&'static str, Conditions>,
    pub grpc: Vec<String>,
    pub reasons: Vec<String>,
}

/// Statuses that the word `rejected` of `retry-on` means by default. All other 5xx statuses belong to the word `failed`.
const REJECTED: [u16; 3] = [429, 503, 529];

impl Retried {
    /// Parses the value of the parameter `retry-on`. In this value, the word `throttled` is replaced with the terms of `throttle_on`. If
    /// several terms match an outcome, the last of these terms decides.
    pub(crate) fn read(retry_on: &str, throttle_on: &str) -> Self {
        let mut retried = Self::default();
        for term in retry_on.split('|').map(str::trim) {
            let (takes_in, term) = term.strip_prefix('!').map_or((true, term), |rest| (false, rest));
            let (subject, condition) = term.split_once('&').unwrap_or((term, ""));
            if subject == "throttled" {
                // The word `throttled` has no meaning inside `throttle-on`. If `throttle-on` contains this word, the whole value is
                // ignored.
                let of = if throttle_on.contains("throttled") { "" } else { throttle_on };
                let Self { codes, missing, grpc, reasons } = Self::read(of, "");
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

    pub(crate) fn has_conditions(&self) -> bool {
        self.codes.values().chain(self.missing.values()).flatten().any(|condition| !condition.is_empty())
    }

    pub(crate) fn lacks_answer(&self, kind: &str) -> bool {
        self.missing.contains_key(kind)
    }
}

/// Returns the first and the last code of each range of consecutive codes.
pub(crate) fn runs(codes: impl Iterator<Item = u16>) -> Vec<(u16, u16)> {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for code in codes {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => runs.push((code, code)),
        }
    }
    runs
}

pub(crate) fn shown(codes: impl Iterator<Item = u16>) -> String {
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
        assert_eq!(runs(retried.codes.keys().copied()), [(408, 408), (429, 429), (500, 500), (502, 599)]);
        assert!(retried.has_conditions());
        assert_eq!(retried.codes[&429], ["told&idempotent"]);
        assert!(retried.lacks_answer("refused") && !retried.lacks_answer("timeout"));
        assert_eq!(
            (&retried.grpc[..], &retried.reasons[..]),
            (&["UNAVAILABLE".to_owned()][..], &["Slow".to_owned()][..])
        );
        assert!(Retried::read("none", "rejected").codes.is_empty());
    }
}
