//! Headers in which a client reads advice (such as `Retry-After`), and the notations that the client accepts in each
//! header. The client reads the headers in the configured order.
//!
//! Example of the text form: `retry-after-ms.decimal|retry-after.decimal.date`. Headers are joined by `|`. After each
//! header, its notations follow, each with a `.` before it. The first header that is present decides; its value is
//! parsed in the first notation that matches.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::Duration;

use vocabulary::{Choice, TextField, WallTime, choices, did_you_mean, duration_text};

use super::header::{HEADERS, Header, Notation, Unit};
use super::{Advice, AdviceHeaders, AdviceValue, MAX_READ, moments, numbers, rate_limit};
use crate::advice::LONGEST;
use crate::advice::numbers::number;

/// Maximum length in bytes of a header value; longer ones are not parsed.
const MAX_TEXT: usize = 256;

/// Headers in which a client reads advice, in the order in which it reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdviceForms {
    headers: Vec<HeaderForms>,
    /// True if the exact wait has priority over all headers. A mockserver reports the exact wait to a run of `loadgen`.
    /// The field is true for clients that parse advice like `loadgen` itself.
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
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Form {
        Whole = "whole",
        Leading = "leading",
        Decimal = "decimal",
        Infinite = "inf",
        Date = "date",
        Epoch = "epoch",
        RecentEpoch = "recent-epoch",
        Rfc3339 = "rfc3339",
        Go = "go",
    }
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let forms = |name, forms: &[Form]| HeaderForms {
            header: Header::named(name).unwrap_or(&HEADERS[0]),
            forms: forms.to_vec(),
            conditions: Vec::new(),
            status: None,
            plus: Duration::ZERO,
        };
        let headers = vec![
            forms("retry-after-ms", &[Form::Decimal]),
            forms("retry-after", &[Form::Decimal, Form::Date]),
        ];
        Self { headers, exact: true }
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
                let policies = match headers.value("ratelimit-policy") {
                    Some(AdviceValue::Text(policies)) if policies.len() <= MAX_TEXT => Some(policies),
                    _ => None,
                };
                rate_limit::rate_limit(text, policies)
            }
            Notation::Pushback => {
                let read =
                    numbers::whole(text, Unit::Millis).filter(|_| !headers.is_repeated(self.header.name));
                Some(read.filter(|advice| *advice != Advice::Negative).unwrap_or(Advice::Never))
            }
        };
        self.adjusted(advice.unwrap_or(Advice::Unreadable))
    }

    fn is_exhausted(&self, headers: &(impl AdviceHeaders + ?Sized)) -> bool {
        let left = self.header.remaining.and_then(|name| headers.value(name));
        matches!(left, Some(AdviceValue::Text(text)) if text.trim() == "0")
    }

    fn adjusted(&self, advice: Advice) -> Advice {
        let Advice::After(mut wait) = advice else { return advice };
        if self.is(Condition::RoundedUp) {
            wait = Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
        }
        Advice::After(wait.saturating_add(self.plus).min(MAX_READ))
    }
}

impl Form {
    fn read(self, text: &str, unit: Unit, now: WallTime) -> Option<Advice> {
        let moment = match self {
            Self::Whole => return numbers::whole(text, unit),
            Self::Leading => return numbers::leading(text, unit),
            Self::Decimal => return numbers::decimal(text, unit),
            Self::Infinite => return numbers::infinite(text),
            Self::Go => return go_duration(text),
            Self::Date => moments::date(text),
            Self::Epoch => moments::epoch(text, unit),
            Self::RecentEpoch => moments::recent_epoch(text, unit),
            Self::Rfc3339 => moments::rfc3339(text),
        };
        moment.map(|moment| moments::until(moment, now))
    }
}

/// Text form of a list of headers and notations, such as `retry-after-ms.decimal|retry-after.decimal.date`.
const PLUS: &str = "plus-";

const ON: &str = "on-";

impl TextField for AdviceForms {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let headers: Vec<_> = text.split('|').map(HeaderForms::typed).collect::<Result<_, _>>()?;
        // A text that lists exactly the default headers and notations means the default configuration. In the default
        // configuration, the exact wait that a mockserver reports has priority over the headers.
        *self = Self { exact: headers == Self::default().headers, headers };
        Ok(())
    }

    fn show(&self) -> String {
        let shown: Vec<String> = self.headers.iter().map(HeaderForms::shown).collect();
        shown.join("|")
    }

    fn accepted(&self) -> &'static str {
        "headers joined by `|`, each followed by the forms in which its value is read, such as \
         `retry-after.whole.date`; headers with forms: retry-after, retry-after-ms, x-ms-retry-after-ms, \
         x-amz-retry-after, ratelimit-reset, x-ratelimit-reset, x-ratelimit-retry-after, \
         x-rate-limit-reset; forms: whole, leading, decimal, inf, date, epoch, recent-epoch, rfc3339, go; \
         optional conditions after the forms: or-next, unless-empty, when-exhausted, rounded-up, as-ms, \
         on-403, plus-1s; headers without forms: ratelimit, grpc-retry-pushback-ms"
    }
}

impl HeaderForms {
    fn typed(text: &str) -> Result<Self, String> {
        let mut words = text.split('.');
        let name = words.next().unwrap_or_default();
        let header = Header::named(name).ok_or_else(|| {
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
        let known = chosen::<Form>(word).map(|form| put(&mut self.forms, form));
        let known =
            known.or_else(|| chosen::<Condition>(word).map(|condition| put(&mut self.conditions, condition)));
        match known {
            Some(true) => Ok(()),
            Some(false) => Err(twice()),
            None => {
                let words = words::<Form>().chain(words::<Condition>());
                Err(format!("`{word}` is not a form of `{}`{}", self.header.name, did_you_mean(word, words)))
            }
        }
    }

    fn shown(&self) -> String {
        let mut shown = self.header.name.to_owned();
        let words = self.forms.iter().map(word_of).chain(self.conditions.iter().map(word_of));
        for word in words {
            shown.push('.');
            shown.push_str(word);
        }
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

fn put<T: PartialEq>(list: &mut Vec<T>, value: T) -> bool {
    let is_new = !list.contains(&value);
    if is_new {
        list.push(value);
    }
    is_new
}

fn words<T: Choice>() -> impl Iterator<Item = &'static str> {
    T::CHOICES.iter().map(|(word, _)| *word)
}

fn chosen<T: Choice>(wanted: &str) -> Option<T> {
    T::CHOICES.iter().find(|(word, _)| *word == wanted).map(|(_, value)| *value)
}

fn word_of<T: Choice>(wanted: &T) -> &'static str {
    T::CHOICES.iter().find(|(_, value)| value == wanted).map_or("", |(word, _)| word)
}

/// Units of Go durations with their length in nanoseconds. If one unit is the beginning of another, the longer one
/// comes first.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

pub(super) fn go_duration(text: &str) -> Option<Advice> {
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut sum = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    if rest == "0" {
        return Some(Advice::After(Duration::ZERO));
    }
    while !rest.is_empty() {
        let (addend, after) = addend(rest)?;
        sum = sum.saturating_add(addend);
        rest = after;
    }
    let below_zero = negative && !sum.is_zero();
    Some(if below_zero { Advice::Negative } else { Advice::After(sum.min(MAX_READ)) })
}

fn addend(text: &str) -> Option<(Duration, &str)> {
    let (whole, after) = digits(text);
    let (fraction, after) = match after.strip_prefix('.') {
        Some(after) => digits(after),
        None => ("", after),
    };
    let number_of = |digits: &str| if digits.is_empty() { Some(0) } else { number(digits) };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (unit, nanos) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
    // Digits beyond the 18th decimal place are ignored. Even in hours, the largest unit, such digits add less than a
    // nanosecond.
    let fine = &fraction[..fraction.len().min(18)];
    let scale = 10_u128.pow(u32::try_from(fine.len()).ok()?);
    let nanos = u128::from(*nanos);
    let total = u128::from(number_of(whole)?) * nanos + u128::from(number_of(fine)?) * nanos / scale;
    let total = Duration::from_nanos(u64::try_from(total).unwrap_or(u64::MAX));
    Some((total, &after[unit.len()..]))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}
