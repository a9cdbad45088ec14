//! Text notation of the retry advice in answers: for example `seconds:header=x-retry-in,share=0.7+ietf`, or `none`.

use std::fmt;
use std::str::FromStr;

use vocabulary::{ParameterError, did_you_mean, split_options, split_outside};

use super::Form;
use super::settings::PARAMETERS;
use crate::list::write_joined;
use crate::{ADVICE_FORMS, Advice, AdviceEntry, quoted};

const NONE: &str = "none";

const MAX_FORMS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdviceError {
    #[error(
        "unknown form of advice `{name}`{suggestion}; write one or more of {}, joined by `+`, or `{NONE}`",
        quoted(names())
    )]
    Unknown { name: String, suggestion: String },
    #[error("advice `{form}` has no parameter `{key}`{suggestion}; its parameters are {accepted}")]
    Parameter { form: &'static str, key: String, suggestion: String, accepted: String },
    #[error("advice `{form}` sets `{key}` twice; keep one of them")]
    Twice { form: &'static str, key: &'static str },
    #[error("advice `{form}`: {source}")]
    Value { form: &'static str, source: ParameterError },
    #[error(
        "advice `{form}`: `places={places}` has more digits than a nanosecond; `places` is at most {most}"
    )]
    Places { form: &'static str, places: u32, most: u8 },
    #[error("`{NONE}` means no advice, so it cannot be combined with other forms; leave it out")]
    None,
    /// An advice form occurs twice in the list, and it has no parameter `header` that could assign the second one to another header.
    #[error("the form of advice `{0}` is given twice; keep one of them")]
    Again(&'static str),
    #[error("two forms of advice use the header `{0}`; give one of them another header with `header=`")]
    Header(String),
    #[error("{0} forms of advice are given; give at most {MAX_FORMS}")]
    Forms(usize),
}

impl FromStr for Advice {
    type Err = AdviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == NONE {
            return Ok(Self::default());
        }
        let forms = split_outside(text, '+').map(Form::typed).collect::<Result<Vec<_>, _>>()?;
        if forms.len() > MAX_FORMS {
            return Err(AdviceError::Forms(forms.len()));
        }
        let advice = Self { forms };
        let headers: Vec<_> = advice.headers().map(|(form, _, name)| (form, name)).collect();
        for (index, (form, name)) in headers.iter().enumerate() {
            if headers[..index].iter().any(|(_, before)| before == name) {
                let entry = advice.forms[*form].entry;
                return Err(if entry.has("header") {
                    AdviceError::Header(name.clone().into_owned())
                } else {
                    AdviceError::Again(entry.name)
                });
            }
        }
        Ok(advice)
    }
}

impl Form {
    fn typed(text: &str) -> Result<Self, AdviceError> {
        let (name, options) = split_options(text);
        if name == NONE {
            return Err(AdviceError::None);
        }
        let entry =
            ADVICE_FORMS.iter().find(|entry| entry.name == name).ok_or_else(|| AdviceError::Unknown {
                name: name.to_owned(),
                suggestion: did_you_mean(name, names().chain([NONE])),
            })?;
        let mut settings = entry.settings();
        for (index, (key, value)) in options.iter().enumerate() {
            let own = || PARAMETERS.iter().filter(|parameter| entry.has(parameter.key));
            let Some(parameter) = own().find(|parameter| parameter.key == *key) else {
                return Err(AdviceError::Parameter {
                    form: entry.name,
                    key: (*key).to_owned(),
                    suggestion: did_you_mean(key, own().map(|parameter| parameter.key)),
                    accepted: quoted(own().map(|parameter| parameter.key)),
                });
            };
            if options[..index].iter().any(|(before, _)| before == key) {
                return Err(AdviceError::Twice { form: entry.name, key: parameter.key });
            }
            let set = parameter.set(&mut settings, value.unwrap_or_default());
            set.map_err(|source| AdviceError::Value { form: entry.name, source })?;
        }
        let most = entry.max_decimals();
        if settings.places > most.into() {
            return Err(AdviceError::Places { form: entry.name, places: settings.places, most });
        }
        Ok(Self { entry, settings })
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.forms.is_empty() {
            return f.write_str(NONE);
        }
        write_joined(&self.forms, "+", f)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        let (mut settings, mut plain) = (self.settings.clone(), self.entry.settings());
        let mut joint = ':';
        for parameter in PARAMETERS.iter().filter(|parameter| self.entry.has(parameter.key)) {
            let value = parameter.show(&mut settings);
            if value != parameter.show(&mut plain) {
                write!(f, "{joint}{}={value}", parameter.key)?;
                joint = ',';
            }
        }
        Ok(())
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    ADVICE_FORMS.iter().map(|entry: &AdviceEntry| entry.name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_shown_is_read_again() {
        for text in [
            "none",
            "seconds",
            "seconds+ms",
            "seconds:header=x-retry-in,round=down,share=0.7",
            "decimal:places=3,early=1s,late=2s,jitter=1s 500ms,malformed=0.1",
            "epoch:places=3,skew=-5s",
            "date:skew=5m",
            "go:places=9+rfc3339+ietf:round=nearest+problem:type=abnormal-usage-detected,share=0.5",
        ] {
            assert_eq!(text.parse::<Advice>().unwrap().to_string(), text);
        }
        for (typed, shown) in [
            (" seconds : round = up , share=1 + ms ", "seconds+ms"),
            ("decimal:places=1,skew", "decimal"),
            ("date:skew=-0s", "date"),
        ] {
            if let Ok(advice) = typed.parse::<Advice>() {
                assert_eq!(advice.to_string(), shown);
            }
        }
        for entry in ADVICE_FORMS {
            assert_eq!(entry.name.parse::<Advice>().unwrap().to_string(), entry.name);
            let all: Vec<String> =
                entry.parameters().iter().map(|p| format!("{}={}", p.key, p.value)).collect();
            let advice: Advice = format!("{}:{}", entry.name, all.join(",")).parse().unwrap();
            assert_eq!(advice.to_string(), entry.name);
        }
    }

    #[test]
    fn names_are_their_own() {
        for (index, entry) in ADVICE_FORMS.iter().enumerate() {
            assert!(ADVICE_FORMS[..index].iter().all(|before| before.name != entry.name));
            assert!(!entry.summary.is_empty() && !entry.source.is_empty() && !entry.summary.ends_with('.'));
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_is_accepted() {
        for (text, words) in [
            (
                "",
                "unknown form of advice ``; write one or more of `seconds`, `decimal`, `ms`, `date`, `epoch`",
            ),
            (
                "second",
                "unknown form of advice `second` (did you mean `seconds`?); write one or more of `seconds`",
            ),
            ("seconds+", "unknown form of advice ``; write one or more of"),
            ("nonse", "unknown form of advice `nonse` (did you mean `none`?)"),
            ("problem+problem", "the form of advice `problem` is given twice; keep one of them"),
            ("none+ms", "`none` means no advice, so it cannot be combined with other forms; leave it out"),
            (
                "seconds:skew=1s",
                "advice `seconds` has no parameter `skew`; its parameters are `header`, `round`, `early`",
            ),
            (
                "seconds:rond=up",
                "advice `seconds` has no parameter `rond` (did you mean `round`?); its parameters are `header`",
            ),
            ("seconds:share=0.1,share=0.2", "advice `seconds` sets `share` twice; keep one of them"),
            (
                "seconds:share=2",
                "advice `seconds`: `share=2` is not accepted; `share` takes a number from 0 to 1",
            ),
            (
                "seconds:round=off",
                "advice `seconds`: `round=off` is not accepted; `round` takes up or down or nearest",
            ),
            (
                "seconds:header=a b",
                "advice `seconds`: `header=a b` is not accepted: `a b` is not a valid header name; `header` takes the name of a header",
            ),
            (
                "ms:header=x-tailback-run",
                "advice `ms`: `header=x-tailback-run` is not accepted: the server sets the header `x-tailback-run` itself; leave it out",
            ),
            ("date:skew=-soon", "advice `date`: `skew=-soon` is not accepted: `soon` is not a duration"),
            (
                "seconds:share",
                "advice `seconds`: `share=` is not accepted; `share` takes a number from 0 to 1",
            ),
            (
                "go:places=10",
                "advice `go`: `places=10` is not accepted; `places` takes a whole number from 0 to 9",
            ),
            (
                "problem:round=up",
                "advice `problem` has no parameter `round`; its parameters are `type`, `share`",
            ),
            (
                "seconds+date",
                "two forms of advice use the header `retry-after`; give one of them another header with `header=`",
            ),
            ("ietf+ms:header=RateLimit-Policy", "two forms of advice use the header `ratelimit-policy`"),
            (
                "ms:header=a+ms:header=b+ms:header=c+ms:header=d+ms:header=e+ms:header=f+ms:header=g+ms:header=h+ms",
                "9 forms of advice are given; give at most 8",
            ),
        ] {
            let error = text.parse::<Advice>().unwrap_err().to_string();
            assert!(error.starts_with(words), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_shown_as_it_is_read(
            text in "(seconds|decimal|ms|date|epoch|go|ietf|problem|none|[a-z]{0,3})(:(header|round|places|early|late|jitter|share|malformed|skew|type)=(x-a|up|down|[0-9]{1,2}|0[.][0-9]{1,3}|-?[0-9]{1,4}(ms|s|m))(,(share|skew|header)=(1|-5s|0.5|b))?)?([+](ms|epoch:places=2|ietf))?",
        ) {
            if let Ok(advice) = text.parse::<Advice>() {
                prop_assert_eq!(advice.to_string().parse::<Advice>(), Ok(advice));
            }
        }
    }
}
