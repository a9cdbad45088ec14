//! Text form of a list of headers and notations, such as `retry-after-ms.decimal|retry-after.decimal.date`.

use std::fmt::Write as _;
use std::time::Duration;

use vocabulary::{Choice, TextField, did_you_mean, duration_text};

use super::{AdviceForms, Condition, Form, HeaderForms};
use crate::advice::LONGEST;
use crate::advice::header::{HEADERS, Header, Notation, Unit};

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
