//! Retry advice: the part of an answer that states when the client should retry. The advice may be configured to be inaccurate. Advice is
//! written for example as `seconds:share=0.7+ms`, with several forms of advice joined by `+`.

mod forms;
mod notation;
mod settings;

use std::borrow::Cow;
use std::time::Duration;

use sfv::{Integer, KeyRef, ListSerializer, StringRef, integer, key_ref, string_ref};

use self::forms::Says;
use self::settings::{CONTENT_TYPE, OfAnswer, Settings};
use super::{RenderContext, Rounding, TimeForm, Unit};
use crate::LimitStatus;

pub use forms::{ADVICE_FORMS, AdviceEntry};
pub use notation::AdviceError;

/// Forms of retry advice that one answer contains, in the order in which they were written. The list is empty if the answer contains no
/// advice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    forms: Vec<Form>,
}

#[derive(Clone, Debug, PartialEq)]
struct Form {
    entry: &'static AdviceEntry,
    settings: Settings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Header,
    Policy,
    ContentType,
}

impl Advice {
    pub(super) fn headers(&self) -> impl Iterator<Item = (usize, Part, Cow<'_, str>)> {
        let of_form = |(index, form)| {
            let parts = Form::parts(form).iter();
            parts.map(move |part| (index, *part, form.name_of(*part)))
        };
        self.forms.iter().enumerate().flat_map(of_form)
    }

    pub(super) fn body(&self) -> Option<usize> {
        self.forms.iter().position(|form| form.entry.says == Says::Problem)
    }

    pub(super) fn tells_of_limits(&self) -> bool {
        self.forms.iter().any(|form| form.entry.says == Says::RateLimit)
    }

    /// Returns the text that the advice form with the index `form` writes into `part` of an answer. `None` if the form writes nothing
    /// into this part.
    pub(super) fn say(
        &self,
        form: usize,
        part: Part,
        rendering: &RenderContext<'_>,
    ) -> Option<Cow<'static, str>> {
        let Form { entry, settings } = self.forms.get(form)?;
        let honesty = settings.of_answer(form, rendering.context);
        if !honesty.speaks {
            return None;
        }
        match (entry.says, part) {
            (Says::Time(unit), Part::Header) => {
                let wait = rendering.context.outcome.wait()?;
                if let Some(nonsense) = honesty.nonsense {
                    return Some(nonsense.into());
                }
                Some(settings.write(unit, honesty.wait(wait), rendering).into())
            }
            (Says::RateLimit, Part::Header) => match honesty.nonsense {
                Some(nonsense) => Some(nonsense.into()),
                None => limits(settings.rounding, honesty, rendering).map(Cow::Owned),
            },
            (Says::RateLimit, Part::Policy) => policies(rendering).map(Cow::Owned),
            (Says::Problem, Part::ContentType) => {
                rendering.context.outcome.is_rejected().then(|| CONTENT_TYPE.into())
            }
            _ => None,
        }
    }

    pub(super) fn say_body(
        &self,
        form: usize,
        status: Option<u16>,
        rendering: &RenderContext<'_>,
    ) -> Option<String> {
        let Form { settings, .. } = self.forms.get(form)?;
        let speaks = settings.of_answer(form, rendering.context).speaks;
        (speaks && rendering.context.outcome.is_rejected())
            .then(|| settings.problem.write(status, rendering.reason()))
    }
}

impl Form {
    fn parts(&self) -> &'static [Part] {
        match self.entry.says {
            Says::Time(_) => &[Part::Header],
            Says::RateLimit => &[Part::Header, Part::Policy],
            Says::Problem => &[Part::ContentType],
        }
    }

    fn name_of(&self, part: Part) -> Cow<'_, str> {
        match part {
            Part::Header => self.settings.header.0.as_str().into(),
            Part::Policy => format!("{}-policy", self.settings.header.0).into(),
            Part::ContentType => "content-type".into(),
        }
    }
}

/// Headers `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4).
///
/// An example of a policy is `"burst";q=100;w=60`: `q` is the quota, `w` the window in seconds. A limit on concurrent requests has no
/// window, because time alone does not refill it: `"slots";q=50;qu="concurrent-requests"`.
///
/// An example of a limit's status is `"burst";r=50;t=30`: `r` is the remaining quota, `t` the seconds until more is available. For the
/// stage that rejected the request, `t` is the time until the same request would be accepted. For other stages, `t` is the time until the
/// full quota is available.
const QUOTA: &KeyRef = key_ref("q");
const UNIT: &KeyRef = key_ref("qu");
const WINDOW: &KeyRef = key_ref("w");
const REMAINING: &KeyRef = key_ref("r");
const RESET: &KeyRef = key_ref("t");
const AT_ONCE: &StringRef = string_ref("concurrent-requests");

/// Largest integer that an HTTP structured field can contain (RFC 9651, section 3.3.1).
const MOST: Integer = integer(999_999_999_999_999);

fn policies(rendering: &RenderContext<'_>) -> Option<String> {
    let mut list = ListSerializer::new();
    for (_, name, limit_status) in limit_statuses(rendering) {
        let policy = list.bare_item(name).parameter(QUOTA, number(limit_status.limit));
        let _ = match limit_status.window {
            // The draft standard of the `RateLimit-Policy` header does not allow a window of zero seconds.
            Some(window) => {
                policy.parameter(WINDOW, number(seconds(window, Rounding::Nearest, rendering).max(1)))
            }
            None => policy.parameter(UNIT, AT_ONCE),
        };
    }
    list.finish()
}

/// Returns the value of the `RateLimit` header, or `None` if no stage has a limit. If a stage rejected the request, the wait of the
/// rejection is passed through `honestly`, which applies the configured inaccuracy.
fn limits(rounding: Rounding, honesty: OfAnswer, rendering: &RenderContext<'_>) -> Option<String> {
    let outcome = rendering.context.outcome;
    let mut list = ListSerializer::new();
    for (index, name, limit_status) in limit_statuses(rendering) {
        let rejects = outcome.stage() == Some(index);
        // A limit that rejects a request may still have some quota left, but too little for this request. The header reports 0, because a
        // positive remainder would make the client retry without a wait.
        let remaining = if rejects { 0 } else { limit_status.remaining };
        let limit = list.bare_item(name).parameter(REMAINING, number(remaining));
        let reset = if rejects {
            outcome.wait().map(|wait| honesty.wait(wait))
        } else {
            limit_status.window.map(|_| rendering.until_reset(limit_status))
        };
        if let Some(reset) = reset {
            let _ = limit.parameter(RESET, number(seconds(reset, rounding, rendering)));
        }
    }
    list.finish()
}

fn limit_statuses<'a>(
    rendering: &RenderContext<'a>,
) -> impl Iterator<Item = (usize, &'a StringRef, &'a LimitStatus)> {
    let rendering = *rendering;
    rendering.stages.iter().enumerate().filter_map(move |(index, name)| {
        // The conversion of a stage name to a header string never fails, because stage names consist of lower-case letters, digits, `-` and
        // `_`.
        Some((index, StringRef::from_str(name).ok()?, rendering.limit_status(index)?))
    })
}

fn number(number: u64) -> Integer {
    Integer::try_from(number).unwrap_or(MOST)
}

fn seconds(duration: Duration, rounding: Rounding, rendering: &RenderContext<'_>) -> u64 {
    let form = TimeForm { rounding, ..TimeForm::new(Unit::Seconds) };
    form.rounded(rendering.teller.duration(duration))
}
