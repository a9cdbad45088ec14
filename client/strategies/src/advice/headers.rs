//! Trait for access to the headers of an answer. The answer may come from a socket, from a script, or from a simulated
//! server that has no real headers.

use std::time::Duration;

/// Headers of an answer, from which advice is parsed.
///
/// # Example
///
/// The example implements the trait for the response type of another HTTP library. It parses an answer for a strategy
/// that follows `Retry-After`:
///
/// ```
/// use std::collections::HashMap;
/// use std::time::Duration;
/// use tailback::{Advice, AdviceHeaders, AdviceValue, StrategySpec, WallTime};
///
/// struct Response {
///     status: u16,
///     headers: HashMap<String, Vec<String>>,
/// }
///
/// impl AdviceHeaders for Response {
///     fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
///         Some(AdviceValue::Text(self.headers.get(name)?.first()?))
///     }
///
///     fn is_repeated(&self, name: &'static str) -> bool {
///         self.headers.get(name).is_some_and(|values| values.len() > 1)
///     }
///
///     fn status(&self) -> u16 {
///         self.status
///     }
/// }
///
/// let headers = HashMap::from([("retry-after".to_owned(), vec!["3".to_owned()])]);
/// let response = Response { status: 429, headers };
/// let strategy = "full-jitter".parse::<StrategySpec>()?.build(42, None)?;
/// let parsed = strategy.reading().parse(429, &response, b"", WallTime::VIRTUAL_START);
/// assert_eq!(parsed.advice, Advice::After(Duration::from_secs(3)));
/// # Ok::<(), tailback::SpecError>(())
/// ```
pub trait AdviceHeaders {
    /// Returns the first value of the header with the given lower-case name. `None` if there is no such header, or its
    /// value is not text.
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>>;

    /// Returns the value of a header if it is text, as [`value`](Self::value) does.
    fn text(&self, name: &'static str) -> Option<&str> {
        match self.value(name)? {
            AdviceValue::Text(text) => Some(text),
            AdviceValue::Wait(_) => None,
        }
    }

    /// Returns whether the answer has several headers with this name.
    fn is_repeated(&self, _name: &'static str) -> bool {
        false
    }

    /// Returns the status code of the answer; 0 if it is unknown.
    fn status(&self) -> u16 {
        0
    }

    #[doc(hidden)]
    /// Returns the exact wait that a mockserver reports to a run of `loadgen`. A mockserver reports the exact wait only
    /// if its configuration does not set any form of advice.
    fn exact_wait(&self) -> Option<Duration> {
        None
    }
}

/// Value of a header in which a server gives advice about retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdviceValue<'a> {
    /// Header value as text.
    Text(&'a str),
    #[doc(hidden)]
    /// Header value as a duration. It comes from a simulated server, which does not format waits as text.
    Wait(Duration),
}

impl<N: AsRef<str>, V: AsRef<str>> AdviceHeaders for [(N, V)] {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        let found = self.iter().find(|(there, _)| there.as_ref().eq_ignore_ascii_case(name));
        found.map(|(_, value)| AdviceValue::Text(value.as_ref()))
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.iter().filter(|(there, _)| there.as_ref().eq_ignore_ascii_case(name)).count() > 1
    }
}

impl<N: AsRef<str>, V: AsRef<str>> AdviceHeaders for (u16, Vec<(N, V)>) {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        self.1.as_slice().value(name)
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.1.as_slice().is_repeated(name)
    }

    fn status(&self) -> u16 {
        self.0
    }
}

/// Advice of a simulated server, equivalent to the headers of a real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomResponses {
    /// Time that the simulated server advises to wait before a retry, to the nanosecond.
    pub wait: Duration,
    /// Whether the header `Retry-After` also contains the wait, in whole seconds, rounded up.
    pub in_seconds: bool,
}

impl AdviceHeaders for CustomResponses {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        (self.in_seconds && name == "retry-after").then(|| {
            let seconds = self.wait.as_secs().saturating_add(u64::from(self.wait.subsec_nanos() > 0));
            AdviceValue::Wait(Duration::from_secs(seconds))
        })
    }

    fn exact_wait(&self) -> Option<Duration> {
        Some(self.wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_in_any_case_and_the_first_value_counts() {
        let headers = [("Retry-After", "1"), ("retry-after", "2"), ("x", "3")];
        assert_eq!(headers.value("retry-after"), Some(AdviceValue::Text("1")));
        assert!(headers.is_repeated("retry-after") && !headers.is_repeated("x"));
        assert_eq!(headers.value("retry-after-ms"), None);
    }

    #[test]
    fn a_simulated_server_sends_the_advice_a_real_one_would() {
        let wait = Duration::from_millis(1200);
        let advice = CustomResponses { wait, in_seconds: true };
        assert_eq!(advice.value("retry-after"), Some(AdviceValue::Wait(Duration::from_secs(2))));
        assert_eq!((advice.value("retry-after-ms"), advice.exact_wait()), (None, Some(wait)));
        assert_eq!(CustomResponses { in_seconds: false, ..advice }.value("retry-after"), None);
    }
}
