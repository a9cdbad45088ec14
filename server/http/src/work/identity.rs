//! Identity of a request (run, op, attempt) and its conditions, as parsed from its headers.

use axum::http::HeaderMap;
use mockserver_core::Step;
use wire::{self, RunId};

use crate::work::calls::CallKey;

const NO_VERSION: u64 = u64::MAX;

/// Values of the parsed headers. For missing or invalid headers, the server uses its defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) run: Option<RunId>,
    pub(crate) seed: Option<u64>,
    pub(crate) op: Option<u64>,
    pub(crate) attempt: Option<u32>,
    /// Call of a request that names neither op nor attempt. `None` if the server counts no calls.
    pub(crate) call: Option<CallKey>,
    pub(crate) step: Step,
    /// Capacity (slots, places or descriptors) that must be free for the request to start. 0 starts it unconditionally.
    pub(crate) min_free: u32,
}

const NAMES: [&str; 7] =
    [wire::RUN, wire::SEED, wire::OP, wire::ATTEMPT, wire::STEP, wire::MIN_FREE, IF_MATCH];

/// Prefix of the project's own headers. Checking it first skips most other headers quickly.
const OURS: &str = "x-tailback-";

const IF_MATCH: &str = "if-match";

impl From<&HeaderMap> for Identity {
    /// If a header is repeated, its first value counts. Repetition matters only for the condition `If-Match`.
    fn from(headers: &HeaderMap) -> Self {
        let mut values = [None; NAMES.len()];
        let mut several_conditions = false;
        for (name, value) in headers {
            let name = name.as_str();
            if !(name.starts_with(OURS) || name == IF_MATCH) {
                continue;
            }
            let Some(index) = NAMES.iter().position(|known| *known == name) else { continue };
            if values[index].is_none() {
                values[index] = Some(value.as_bytes());
            } else if name == IF_MATCH {
                several_conditions = true;
            }
        }
        let has_condition = values[NAMES.len() - 1].is_some();
        let [run, seed, op, attempt, step, min_free, condition] =
            values.map(|value| std::str::from_utf8(value?).ok());
        let run = run.and_then(|text| u64::from_str_radix(text, 16).ok());
        let condition = has_condition.then(|| condition.filter(|_| !several_conditions).unwrap_or_default());
        Self {
            run,
            seed: seed.and_then(|text| text.parse().ok()),
            op: op.and_then(|text| text.parse().ok()),
            // Attempts are counted from 1, so 0 is invalid.
            attempt: attempt.and_then(|text| text.parse().ok()).filter(|attempt| *attempt > 0),
            call: None,
            step: self::step(step, condition),
            // The condition on free capacity is accepted only from `loadgen`. Other clients do not understand an answer that reports that
            // the attempt was not started.
            min_free: run.and_then(|_| min_free?.parse().ok()).unwrap_or(0),
        }
    }
}

/// Returns the kind of a request: the read or the write of a conditional write, or ordinary work. If the tag in the condition of a write is
/// invalid, it matches no version.
fn step(step: Option<&str>, condition: Option<&str>) -> Step {
    match condition {
        // RFC 9110, section 13.1.1: `*` matches any state of the object, so the write is unconditional.
        Some("*") => Step::Work,
        Some(tag) => Step::Write { if_match: version(tag).unwrap_or(NO_VERSION) },
        None if step == Some(wire::STEP_READ) => Step::Read,
        None => Step::Work,
    }
}

/// Returns the object's version in a strong entity tag. `None` for weak tags and for tags that this server never issues.
fn version(tag: &str) -> Option<u64> {
    let digits = tag.strip_prefix('"')?.strip_suffix('"')?;
    // A plain number parser would also accept `+1` and `01` as version 1, although these tags differ from the tag `1`.
    digits.parse().ok().filter(|version: &u64| version.to_string() == digits)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn said(headers: &[(&'static str, &'static str)]) -> Identity {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        Identity::from(&map)
    }

    #[test]
    fn headers_identify_the_half_of_a_conditional_write() {
        let write = |if_match| Step::Write { if_match };
        for (headers, expected) in [
            (&[][..], Step::Work),
            (&[("x-tailback-step", "read")], Step::Read),
            (&[("x-tailback-step", "nonsense")], Step::Work),
            (&[("if-match", "\"7\"")], write(7)),
            (&[("x-tailback-step", "read"), ("if-match", "\"7\"")], write(7)),
            (&[("if-match", "*")], Step::Work),
            (&[("if-match", "W/\"7\"")], write(NO_VERSION)),
            (&[("if-match", "\"+7\"")], write(NO_VERSION)),
            (&[("if-match", "\"07\"")], write(NO_VERSION)),
            (&[("if-match", "7")], write(NO_VERSION)),
            (&[("if-match", "")], write(NO_VERSION)),
            (&[("if-match", "\"1\", \"7\"")], write(NO_VERSION)),
            (&[("if-match", "\"1\""), ("if-match", "\"7\"")], write(NO_VERSION)),
            (&[("if-match", "*"), ("if-match", "*")], write(NO_VERSION)),
        ] {
            assert_eq!(said(headers).step, expected, "{headers:?}");
        }
    }

    #[test]
    fn the_first_of_a_repeated_mark_counts_even_if_it_is_invalid() {
        let twice = said(&[
            ("X-Tailback-Run", "zz"),
            ("x-tailback-run", "aa"),
            ("x-tailback-op", "7"),
            ("x-tailback-op", "8"),
        ]);
        assert_eq!(twice, Identity { op: Some(7), ..Identity::default() });
        assert_eq!(said(&[("x-tailback-run", "aa"), ("x-tailback-least-free", "3")]).min_free, 3);
        assert_eq!(said(&[("x-tailback-least-free", "3"), ("x-tailback-attempt", "0")]), Identity::default());
    }
}
