//! Retry advice: the part of an answer that states when the client should retry. The advice may be configured to be inaccurate. Advice is
//! written for example as `seconds:share=0.7+ms`, with several forms of advice joined by `+`.

mod accuracy;
mod entry;
mod forms;
mod notation;
mod problem;
mod rate_limit;
mod settings;

use std::borrow::Cow;

pub use entry::AdviceEntry;
pub use forms::ADVICE_FORMS;
pub use notation::AdviceError;

use self::entry::Says;
use self::problem::CONTENT_TYPE;
use self::settings::Settings;
use super::response_context::RenderContext;

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
        let of_form = |(index, form): (usize, &'_ Form)| {
            let parts: &[Part] = match form.entry.says {
                Says::Time(_) => &[Part::Header],
                Says::RateLimit => &[Part::Header, Part::Policy],
                Says::Problem => &[Part::ContentType],
            };
            parts.iter().map(move |part| (index, *part))
        };
        self.forms
            .iter()
            .enumerate()
            .flat_map(of_form)
            .map(|(index, part)| (index, part, self.forms[index].name_of(part)))
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
        let honesty = settings.honesty.of_answer(form, rendering.context);
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
                None => rate_limit::limits(settings.rounding, |wait| honesty.wait(wait), rendering)
                    .map(Cow::Owned),
            },
            (Says::RateLimit, Part::Policy) => rate_limit::policies(rendering).map(Cow::Owned),
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
        let speaks = settings.honesty.of_answer(form, rendering.context).speaks;
        (speaks && rendering.context.outcome.is_rejected())
            .then(|| settings.problem.write(status, rendering.reason()))
    }
}

impl Form {
    fn name_of(&self, part: Part) -> Cow<'_, str> {
        match part {
            Part::Header => self.settings.header.as_str().into(),
            Part::Policy => format!("{}-policy", self.settings.header.as_str()).into(),
            Part::ContentType => "content-type".into(),
        }
    }
}
