//! One kind of answer: its status, headers and body. The answer is parsed and checked once, and rendered for each request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::RenderContext;
use super::advice::Part;
use crate::header_rules::{MAX_HEADERS, checked_name, is_final, is_value};
use crate::{Advice, AdviceError, EveryConfig, HeaderError, ResponseConfig, Template, TemplateError};

const MAX_BODY: usize = 64 << 10;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    #[error("`status` is {0}; it must be from 200 to 599")]
    Status(u16),
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// Two headers of one answer have names that differ only in case.
    #[error("the header `{0}` is given twice; keep one of them")]
    Twice(String),
    #[error("the header `{name}`: {why}")]
    HeaderTemplate { name: String, why: TemplateError },
    #[error("`body`: {0}")]
    BodyTemplate(TemplateError),
    #[error("`body` has {0} bytes; at most {MAX_BODY} are accepted")]
    LongBody(usize),
    #[error("`advice`: {0}")]
    Advice(#[from] AdviceError),
    #[error("both `headers` and `advice` set the header `{0}`; keep one of them")]
    Both(String),
    #[error("both `body` and the form `problem` of `advice` set the body; keep one of them")]
    Bodies,
    #[error("{0} headers are given; give at most {MAX_HEADERS}, because clients do not read more")]
    Headers(usize),
}

/// Rendered answer to one request. For a part that is `None`, the server sends its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered<'a> {
    pub status: Option<u16>,
    /// Headers as pairs of name and value. Names are in lower case. Values consist of visible ASCII characters and spaces.
    pub headers: Vec<(&'a str, Cow<'a, str>)>,
    pub body: Option<Cow<'a, str>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Response {
    pub(super) status: Option<u16>,
    /// All headers of the answer, including the headers of the configuration table `every`. Each name occurs once.
    headers: Vec<(Box<str>, Value)>,
    body: Option<Body>,
    advice: Advice,
    /// Whether the answer reports the limit of a stage: one value for each stage, in the order of the stages.
    tells: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Template(Template),
    Advice { form: usize, part: Part },
}

#[derive(Clone, Debug, PartialEq)]
enum Body {
    Template(Template),
    Advice { form: usize },
}

impl Response {
    /// Parses the configuration of an answer. A template field without a stage name refers to the stage with the index `speaker`. `every`
    /// contains the default retry advice and headers of all answers. Its advice applies if the answer has no advice of its own. Its headers
    /// apply unless the answer sets them itself.
    pub(super) fn read(
        config: &ResponseConfig,
        every: &Every,
        stages: &[Box<str>],
        speaker: usize,
    ) -> Result<Self, ResponseError> {
        if let Some(status) = config.status.filter(|status| !is_final(*status)) {
            return Err(ResponseError::Status(status));
        }
        let own_advice = config.advice.as_deref().map(str::parse::<Advice>).transpose()?;
        let has_own_advice = own_advice.is_some();
        let advice = own_advice.unwrap_or_else(|| every.advice.clone());
        let mut headers = read_headers(&config.headers, stages)?;
        let body = match (&config.body, advice.body()) {
            (Some(_), Some(_)) if has_own_advice => return Err(ResponseError::Bodies),
            (Some(body), _) => Some(Body::Template(read_body(body, stages)?)),
            (None, form) => form.map(|form| Body::Advice { form }),
        };
        for (form, part, name) in advice.headers() {
            let writes_no_body = part == Part::ContentType && !matches!(body, Some(Body::Advice { .. }));
            if writes_no_body {
                continue;
            }
            if !has(&headers, &name) {
                headers.push((name.into(), Value::Advice { form, part }));
            } else if has_own_advice {
                return Err(ResponseError::Both(name.into_owned()));
            }
        }
        for (name, value) in &every.headers {
            if !has(&headers, name) {
                headers.push((name.clone(), value.clone()));
            }
        }
        if headers.len() > MAX_HEADERS {
            return Err(ResponseError::Headers(headers.len()));
        }
        let mut response = Self { status: config.status, headers, body, advice, tells: Vec::new() };
        let context: Vec<usize> =
            response.templates().flat_map(|template| template.stages(speaker)).collect();
        let all = response.advice.tells_of_limits();
        response.tells = (0..stages.len()).map(|stage| all || context.contains(&stage)).collect();
        Ok(response)
    }

    pub(super) fn tells_of(&self, stage: usize) -> bool {
        self.tells.get(stage).is_some_and(|tells| *tells)
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        let headers = self.headers.iter().filter_map(|(_, value)| match value {
            Value::Template(template) => Some(template),
            Value::Advice { .. } => None,
        });
        headers.chain(match &self.body {
            Some(Body::Template(template)) => Some(template),
            _ => None,
        })
    }

    /// Renders the whole answer. A header is omitted if one of its template fields has no value.
    pub(super) fn render(&self, rendering: &RenderContext<'_>) -> Rendered<'_> {
        let headers = self.headers.iter();
        let headers =
            headers.filter_map(|(name, value)| Some((&**name, self.value(value, rendering)?))).collect();
        Rendered { status: self.status, headers, body: self.body(rendering) }
    }

    pub(super) fn has_header(&self, name: &str) -> bool {
        has(&self.headers, name)
    }

    /// Returns the rendered value of one header. `name` must be in lower case.
    pub(super) fn header(&self, name: &str, rendering: &RenderContext<'_>) -> Option<Cow<'_, str>> {
        let (_, value) = self.headers.iter().find(|(there, _)| **there == *name)?;
        self.value(value, rendering)
    }

    pub(super) fn body(&self, rendering: &RenderContext<'_>) -> Option<Cow<'_, str>> {
        match self.body.as_ref()? {
            Body::Template(template) => Some(template.render_with_nulls(rendering)),
            Body::Advice { form } => self.advice.say_body(*form, self.status, rendering).map(Cow::Owned),
        }
    }

    fn value<'a>(&'a self, value: &'a Value, rendering: &RenderContext<'_>) -> Option<Cow<'a, str>> {
        match value {
            Value::Template(template) => template.render(rendering),
            Value::Advice { form, part } => self.advice.say(*form, *part, rendering),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Every {
    headers: Vec<(Box<str>, Value)>,
    advice: Advice,
}

impl Every {
    pub(super) fn read(config: &EveryConfig, stages: &[Box<str>]) -> Result<Self, ResponseError> {
        let headers = read_headers(&config.headers, stages)?;
        let advice: Advice = config.advice.as_deref().map(str::parse).transpose()?.unwrap_or_default();
        let both = advice.headers().map(|(_, _, name)| name).find(|name| has(&headers, name));
        if let Some(name) = both {
            return Err(ResponseError::Both(name.into_owned()));
        }
        Ok(Self { headers, advice })
    }
}

fn has(headers: &[(Box<str>, Value)], name: &str) -> bool {
    headers.iter().any(|(there, _)| **there == *name)
}

fn read_headers(
    written: &BTreeMap<String, String>,
    stages: &[Box<str>],
) -> Result<Vec<(Box<str>, Value)>, ResponseError> {
    let mut headers = Vec::with_capacity(written.len());
    for (name, value) in written {
        let name = checked_name(name)?;
        if has(&headers, &name) {
            return Err(ResponseError::Twice(name));
        }
        if !is_value(value) {
            return Err(HeaderError::Value(name).into());
        }
        let template = Template::parse(value, stages)
            .map_err(|why| ResponseError::HeaderTemplate { name: name.clone(), why })?;
        headers.push((name.into(), Value::Template(template)));
    }
    Ok(headers)
}

fn read_body(body: &str, stages: &[Box<str>]) -> Result<Template, ResponseError> {
    if body.len() > MAX_BODY {
        return Err(ResponseError::LongBody(body.len()));
    }
    Template::parse(body, stages).map_err(ResponseError::BodyTemplate)
}
