//! Parameter `hints`: server headers that decide whether to retry, before any other rule applies.

use vocabulary::{TextField, did_you_mean};

use crate::Hints;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HintRule {
    obeyed: Vec<&'static Header>,
}

#[derive(Debug, PartialEq, Eq)]
struct Header {
    name: &'static str,
    again: Hints,
    never: Hints,
}

/// All supported headers by which a server advises for or against a retry. Sources: openai-python
/// `src/openai/_base_client.py`; stripe-python `stripe/_http_client.py`; envoy
/// `source/common/router/retry_state_impl.cc`.
const HEADERS: [Header; 3] = [
    Header { name: "x-should-retry", again: Hints::SHOULD_RETRY, never: Hints::SHOULD_NOT_RETRY },
    Header {
        name: "stripe-should-retry",
        again: Hints::STRIPE_SHOULD_RETRY,
        never: Hints::STRIPE_SHOULD_NOT_RETRY,
    },
    Header { name: "x-envoy-ratelimited", again: Hints::NONE, never: Hints::ENVOY_RATE_LIMITED },
];

impl HintRule {
    pub(crate) fn decide(&self, hints: Hints) -> Option<bool> {
        self.obeyed.iter().find_map(|header| {
            let again = hints.has(header.again);
            (again || hints.has(header.never)).then_some(again)
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.obeyed.is_empty()
    }
}

impl TextField for HintRule {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let names = text.split('|').map(str::trim).filter(|name| *name != "none");
        let header = |name| {
            HEADERS.iter().find(|header| header.name == name).ok_or_else(|| {
                let suggestion = did_you_mean(name, HEADERS.iter().map(|header| header.name));
                format!("`{name}` is not a header that states whether to retry{suggestion}")
            })
        };
        self.obeyed = names.map(header).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn show(&self) -> String {
        let names: Vec<&str> = self.obeyed.iter().map(|header| header.name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join("|") }
    }

    fn accepted(&self) -> &'static str {
        "`none`, or one or more of `x-should-retry`, `stripe-should-retry` and `x-envoy-ratelimited`, \
         joined by `|`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> HintRule {
        let mut rule = HintRule::default();
        rule.read(text).unwrap();
        rule
    }

    #[test]
    fn the_first_obeyed_header_decides_and_others_are_ignored() {
        let both = Hints::SHOULD_RETRY.with(Hints::STRIPE_SHOULD_NOT_RETRY);
        assert_eq!(rule("x-should-retry|stripe-should-retry").decide(both), Some(true));
        assert_eq!(rule("stripe-should-retry|x-should-retry").decide(both), Some(false));
        assert_eq!(rule("none").decide(both), None);
        assert_eq!(rule("x-envoy-ratelimited").decide(Hints::ENVOY_RATE_LIMITED), Some(false));
    }

    #[test]
    fn it_shows_what_it_reads() {
        for text in ["none", "x-should-retry", "stripe-should-retry|x-should-retry"] {
            assert_eq!(rule(text).show(), text);
        }
        let error = HintRule::default().read("x-should-retri").unwrap_err();
        assert!(error.contains("did you mean `x-should-retry`?"), "{error}");
    }
}
