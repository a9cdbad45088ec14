//! Headers in which a client reads advice (such as `Retry-After`), and the notations that the client accepts in each
//! header. The client reads the headers in the configured order.
//!
//! Example of the text form: `retry-after-ms.decimal|retry-after.decimal.date`. Headers are joined by `|`. After each
//! header, its notations follow, each with a `.` before it. The first header that is present decides; its value is
//! parsed in the first notation that matches. The word `exact` before all headers reads the exact wait of a mockserver.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::Duration;

use vocabulary::{Choice, ChoiceField, TextField, WallTime, choices, did_you_mean, duration_text};

use super::form::{Form, Unit};
use super::{Advice, AdviceHeaders, AdviceValue, LONGEST, MAX_READ, rate_limit};

/// Maximum length in bytes of a header value; longer ones are not parsed.
pub(super) const MAX_TEXT: usize = 256;

/// Headers in which a client reads advice, in the order in which it reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdviceForms {
    headers: Vec<HeaderForms>,
    /// True if the exact wait has priority over all headers. Only a mockserver reports it, and only to a run of `loadgen`,
    /// so no client in production can have it.
    exact: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct HeaderForms {
    header: &'static Header,
    forms: Vec<Form>,
    conditions: Vec<Condition>,
    /// Status code of the answers in which the header is read. `None` if it is read in all answers.
    status: Option<u16>,
    plus: Duration,
}

choices! {
    enum Condition {
        /// If the value cannot be parsed, the next header is read.
        OrNext = "or-next",
        UnlessEmpty = "unless-empty",
        /// The header with the advice is used only if a second header, such as `x-ratelimit-remaining`, states that 0
        /// requests remain.
        WhenExhausted = "when-exhausted",
        RoundedUp = "rounded-up",
        /// The value is in seconds, but the client misreads it as milliseconds.
        AsMillis = "as-ms",
    }
}

impl Default for AdviceForms {
    /// Returns the headers and notations of `loadgen` itself: `retry-after-ms`, and `retry-after` in seconds or as a
    /// date. Both numbers may have decimals, because some servers send them.
    fn default() -> Self {
        let headers = ["retry-after-ms.decimal", "retry-after.decimal.date"];
        let headers = headers.map(|text| HeaderForms::typed(text).expect("a constant form")).into();
        Self { headers, exact: false }
    }
}

impl AdviceForms {
    /// Parses the advice in the headers of an answer that was received at calendar time `now`. A wait longer than
    /// 100 years is cut to this length.
    pub fn read(&self, headers: &(impl AdviceHeaders + ?Sized), now: WallTime) -> Advice {
        if let Some(wait) = headers.exact_wait().filter(|_| self.exact) {
            return Advice::After(wait.min(MAX_READ));
        }
        let mut last = Advice::None;
        for each in &self.headers {
            match each.read(headers, now) {
                Advice::None => {}
                Advice::Unreadable if each.is(Condition::OrNext) => last = Advice::Unreadable,
                advice => return advice,
            }
        }
        last
    }
}

impl HeaderForms {
    fn is(&self, condition: Condition) -> bool {
        self.conditions.contains(&condition)
    }

    fn read(&self, headers: &(impl AdviceHeaders + ?Sized), now: WallTime) -> Advice {
        if self.status.is_some_and(|status| status != headers.status()) {
            return Advice::None;
        }
        let text = match headers.value(self.header.name) {
            None => return Advice::None,
            Some(AdviceValue::Wait(wait)) => {
                let wait = if self.is(Condition::AsMillis) { wait / 1000 } else { wait };
                return self.adjusted(Advice::After(wait.min(MAX_READ)));
            }
            Some(AdviceValue::Text(text)) => text.trim(),
        };
        if text.is_empty() && self.is(Condition::UnlessEmpty)
            || self.is(Condition::WhenExhausted) && !self.is_exhausted(headers)
        {
            return Advice::None;
        }
        if text.len() > MAX_TEXT {
            return Advice::Unreadable;
        }
        let advice = match self.header.notation {
            Notation::Forms(unit) => {
                let unit = if self.is(Condition::AsMillis) { Unit::Millis } else { unit };
                self.forms.iter().find_map(|form| form.read(text, unit, now))
            }
            Notation::RateLimit => {
                let policies = headers.text("ratelimit-policy");
                rate_limit::rate_limit(text, policies.filter(|policies| policies.len() <= MAX_TEXT))
            }
            Notation::Pushback => {
                let read = Form::Whole.read(text, Unit::Millis, now);
                let read = read
                    .filter(|advice| *advice != Advice::Negative && !headers.is_repeated(self.header.name));
                Some(read.unwrap_or(Advice::Never))
            }
        };
        self.adjusted(advice.unwrap_or(Advice::Unreadable))
    }

    fn is_exhausted(&self, headers: &(impl AdviceHeaders + ?Sized)) -> bool {
        let left = self.header.remaining.and_then(|name| headers.text(name));
        left.is_some_and(|left| left.trim() == "0")
    }

    fn adjusted(&self, advice: Advice) -> Advice {
        let Advice::After(mut wait) = advice else { return advice };
        if self.is(Condition::RoundedUp) {
            wait = Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
        }
        Advice::After(wait.saturating_add(self.plus).min(MAX_READ))
    }
}

const EXACT: &str = "exact";

const PLUS: &str = "plus-";

const ON: &str = "on-";

impl TextField for AdviceForms {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let mut words = text.split('|').peekable();
        let exact = words.next_if_eq(&EXACT).is_some();
        let headers = words.map(HeaderForms::typed).collect::<Result<_, _>>()?;
        *self = Self { headers, exact };
        Ok(())
    }

    fn show(&self) -> String {
        let exact = self.exact.then(|| EXACT.to_owned());
        exact.into_iter().chain(self.headers.iter().map(HeaderForms::shown)).collect::<Vec<_>>().join("|")
    }

    fn accepted(&self) -> &'static str {
        "headers joined by `|`, each followed by the forms in which its value is read, such as \
         `retry-after.whole.date`; headers with forms: retry-after, retry-after-ms, x-ms-retry-after-ms, \
         x-amz-retry-after, ratelimit-reset, x-ratelimit-reset, x-ratelimit-retry-after, \
         x-rate-limit-reset; forms: whole, leading, decimal, inf, date, epoch, recent-epoch, rfc3339, go; \
         optional conditions after the forms: or-next, unless-empty, when-exhausted, rounded-up, as-ms, \
         on-403, plus-1s; headers without forms: ratelimit, grpc-retry-pushback-ms; `exact` before all \
         headers: the exact wait of a mockserver, which no other server sends"
    }
}

impl HeaderForms {
    fn typed(text: &str) -> Result<Self, String> {
        let mut words = text.split('.');
        let name = words.next().unwrap_or_default();
        let header = Header::named(name).ok_or_else(|| {
            if name == EXACT {
                return format!("`{EXACT}` must be the first word, before all headers");
            }
            let names = HEADERS.iter().map(|header| header.name);
            format!("`{name}` is not a header from which a wait can be read{}", did_you_mean(name, names))
        })?;
        let mut this =
            Self { header, forms: Vec::new(), conditions: Vec::new(), status: None, plus: Duration::ZERO };
        for word in words {
            this.take(word)?;
        }
        let has_forms = matches!(header.notation, Notation::Forms(_));
        if has_forms && this.forms.is_empty() {
            return Err(format!(
                "`{text}` does not say how its value is read; write for example `{name}.whole`"
            ));
        }
        if !has_forms && !this.forms.is_empty() {
            return Err(format!("the format of `{name}` is fixed, so write it without a form"));
        }
        if this.is(Condition::AsMillis) && header.notation != Notation::Forms(Unit::Seconds) {
            return Err(format!(
                "`as-ms` reads seconds as milliseconds, but the value of `{name}` is not in seconds"
            ));
        }
        if this.is(Condition::WhenExhausted) && header.remaining.is_none() {
            return Err(format!(
                "`when-exhausted` cannot follow `{name}`, because no related header reports the remaining requests"
            ));
        }
        Ok(this)
    }

    fn take(&mut self, word: &str) -> Result<(), String> {
        let twice = || format!("`{word}` is given twice; keep one of them");
        if let Some(time) = word.strip_prefix(PLUS) {
            if !self.plus.is_zero() {
                return Err(twice());
            }
            self.plus = duration_text::parse(time).map_err(|error| error.to_string())?.min(LONGEST);
            return if self.plus.is_zero() {
                Err(format!("`{word}` adds no time; leave it out"))
            } else {
                Ok(())
            };
        }
        if let Some(code) = word.strip_prefix(ON) {
            let status = code.parse().ok().filter(|status| (400..600).contains(status));
            let status = status.ok_or_else(|| {
                format!("`{word}` must be `on-` and a status from 400 to 599, such as `on-403`")
            })?;
            return if self.status.replace(status).is_none() { Ok(()) } else { Err(twice()) };
        }
        match put(&mut self.forms, word).or_else(|| put(&mut self.conditions, word)) {
            Some(true) => Ok(()),
            Some(false) => Err(twice()),
            None => {
                let forms = Form::CHOICES.iter().map(|(word, _)| *word);
                let words = forms.chain(Condition::CHOICES.iter().map(|(word, _)| *word));
                Err(format!("`{word}` is not a form of `{}`{}", self.header.name, did_you_mean(word, words)))
            }
        }
    }

    fn shown(&self) -> String {
        let conditions = self.conditions.iter().map(ChoiceField::word);
        let words = [self.header.name].into_iter().chain(self.forms.iter().map(ChoiceField::word));
        let mut shown = words.chain(conditions).collect::<Vec<_>>().join(".");
        if let Some(status) = self.status {
            let _ = write!(shown, ".{ON}{status}");
        }
        if !self.plus.is_zero() {
            // In this text form a point separates words. So durations are written without a decimal point, and also
            // without spaces.
            let plus = duration_text::format(self.plus).replace(' ', "");
            let _ = write!(shown, ".{PLUS}{plus}");
        }
        shown
    }
}

/// Adds the value of a word to a list. Returns whether the value is new in the list, or `None` if the word has no value.
fn put<T: Choice>(list: &mut Vec<T>, wanted: &str) -> Option<bool> {
    let (_, value) = T::CHOICES.iter().find(|(word, _)| *word == wanted)?;
    let is_new = !list.contains(value);
    if is_new {
        list.push(*value);
    }
    Some(is_new)
}

#[derive(Debug, PartialEq, Eq)]
struct Header {
    name: &'static str,
    notation: Notation,
    remaining: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    /// Header value in one of the notations that the client accepts for this header. If the value is a number, it is a
    /// time in the unit that this variant contains.
    Forms(Unit),
    /// Header value that is a wait in whole milliseconds. Any other value means that the client must never retry (gRPC,
    /// proposal A6). A repeated header also means that the client must never retry.
    Pushback,
    /// Header value in the syntax of structured fields (IETF, draft-ietf-httpapi-ratelimit-headers).
    RateLimit,
}

/// All supported headers in which servers give advice about retries. The order of the headers in this list has no
/// effect, because each client's configuration defines its own order.
const HEADERS: &[Header] = &[
    timed("retry-after", Unit::Seconds, None),
    timed("retry-after-ms", Unit::Millis, None),
    timed("x-ms-retry-after-ms", Unit::Millis, None),
    timed("x-amz-retry-after", Unit::Millis, None),
    Header { name: "ratelimit", notation: Notation::RateLimit, remaining: None },
    timed("ratelimit-reset", Unit::Seconds, Some("ratelimit-remaining")),
    timed("x-ratelimit-reset", Unit::Seconds, Some("x-ratelimit-remaining")),
    timed("x-ratelimit-retry-after", Unit::Seconds, Some("x-ratelimit-remaining")),
    timed("x-rate-limit-reset", Unit::Seconds, Some("x-rate-limit-remaining")),
    Header { name: "grpc-retry-pushback-ms", notation: Notation::Pushback, remaining: None },
];

const fn timed(name: &'static str, unit: Unit, remaining: Option<&'static str>) -> Header {
    Header { name, notation: Notation::Forms(unit), remaining }
}

impl Header {
    fn named(name: &str) -> Option<&'static Self> {
        HEADERS.iter().find(|header| header.name == name)
    }
}
