//! Template: a text that contains fields, such as `{"retry_after": {wait_s:decimal(2)}}`.
//!
//! A field is `{`, then a name, optionally `:` and a format, then `}`. The name consists of lower-case letters, digits, `_`, `.` and `-`,
//! and starts with a letter. All other braces are literal text, because JSON bodies contain many braces. `}}` is literal text as well: two
//! closing braces. A text that looks like a field is escaped with one more opening brace: `{{name}`.

use std::borrow::Cow;
use std::fmt;

use super::RenderContext;
use super::field::Field;
use crate::FieldError;

/// Maximum number of fields in a template. The limit keeps rendered headers short enough for HTTP clients to accept.
const MAX_FIELDS: usize = 64;

/// Length of a text in braces, in bytes, at which it is too long for a field. A text of this length or longer is literal text.
const MAX_FIELD: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Box<str>),
    Field(Field),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    #[error(transparent)]
    Field(#[from] FieldError),
    #[error("it has more than {MAX_FIELDS} fields")]
    Fields,
}

impl Template {
    pub fn parse(text: &str, stages: &[Box<str>]) -> Result<Self, TemplateError> {
        let (mut pieces, mut fields) = (Vec::new(), 0);
        let (mut plain, mut rest) = (String::new(), text);
        while let Some(at) = rest.find('{') {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(field) = field_in(rest) {
                fields += 1;
                if fields > MAX_FIELDS {
                    return Err(TemplateError::Fields);
                }
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain).into()));
                }
                pieces.push(Piece::Field(Field::parse(field, stages)?));
                rest = &rest[field.len() + 2..];
            } else {
                // A second brace in front of a field is an escape, so the field is copied as literal text.
                let escaped = field_in(&rest[1..]);
                plain.push('{');
                rest = &rest[1..];
                if let Some(text) = escaped {
                    plain.push_str(&rest[1..text.len() + 2]);
                    rest = &rest[text.len() + 2..];
                }
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.into()));
        }
        Ok(Self { pieces })
    }

    pub(super) fn stages(&self, speaker: usize) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(move |piece| match piece {
            Piece::Text(_) => None,
            Piece::Field(field) => field.stage(speaker),
        })
    }

    /// Returns the text of the template with each field replaced by its value. `None` if any of the fields has no value.
    pub(super) fn render(&self, rendering: &RenderContext<'_>) -> Option<Cow<'_, str>> {
        self.rendered(|field, out| field.write(rendering, out))
    }

    pub(super) fn render_with_nulls(&self, rendering: &RenderContext<'_>) -> Cow<'_, str> {
        let rendered = self.rendered(|field, out| {
            if !field.write(rendering, out) {
                out.push_str("null");
            }
            true
        });
        rendered.unwrap_or_default()
    }

    fn rendered(&self, write: impl Fn(&Field, &mut String) -> bool) -> Option<Cow<'_, str>> {
        match self.pieces.as_slice() {
            [] => return Some(Cow::Borrowed("")),
            [Piece::Text(text)] => return Some(Cow::Borrowed(text)),
            _ => {}
        }
        // The initial capacity of 64 bytes suits most templates, because most values are short numbers.
        let mut out = String::with_capacity(64);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Field(field) if write(field, &mut out) => {}
                Piece::Field(_) => return None,
            }
        }
        Some(Cow::Owned(out))
    }
}

fn field_in(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let inner = &inner[..inner.bytes().take(MAX_FIELD).position(|byte| byte == b'}')?];
    let (name, forms) = inner.split_once(':').unwrap_or((inner, ""));
    let of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
    let is_field = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(of_name)
        && forms.bytes().all(|byte| of_name(byte) || b":()".contains(&byte));
    is_field.then_some(inner)
}

/// Writes the text notation of a template. Parsing the written text returns an equal template.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            let text = match piece {
                Piece::Field(field) => {
                    field.fmt(f)?;
                    continue;
                }
                Piece::Text(text) => text,
            };
            let mut written = 0;
            for (at, _) in text.match_indices('{') {
                if field_in(&text[at..]).is_some() {
                    write!(f, "{}{{", &text[written..at])?;
                    written = at;
                }
            }
            f.write_str(&text[written..])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use vocabulary::{Instant, WallTime};

    use super::super::{HeaderWriter, Outcome, ResponseContext};
    use super::*;
    use crate::limit_status::LimitStatus;

    fn stages() -> [Box<str>; 2] {
        ["primary".into(), "per-key".into()]
    }

    fn parse(text: &str) -> Result<Template, String> {
        Template::parse(text, &stages()).map_err(|error| error.to_string())
    }

    /// Renders the template for a rejection by the second stage.
    fn said(text: &str) -> Option<String> {
        let full =
            |limit| LimitStatus { limit, remaining: 3, reset: Duration::from_millis(59_500), window: None };
        let first = LimitStatus { window: Some(Duration::from_hours(1)), ..full(5000) };
        let context = ResponseContext {
            outcome: Outcome::Rejected { stage: Some(1), wait: Some(Duration::from_millis(1500)) },
            now: Instant::from_millis(500),
            decided_at: Instant::from_millis(500),
            limit_statuses: &[Some(first), Some(full(10))],
            seed: 1,
            op: 0,
            attempt: 1,
        };
        let teller = HeaderWriter::experiment(WallTime::from_unix(Duration::from_secs(1_000_000_000)));
        let rendering = RenderContext { context: &context, teller: &teller, stages: &stages() };
        parse(text).unwrap().render(&rendering).map(Cow::into_owned)
    }

    #[test]
    fn fields_are_replaced_and_other_braces_stay() {
        for (text, wanted) in [
            ("", ""),
            ("{limit}", "10"),
            ("{primary.used}/{primary.limit}", "4997/5000"),
            ("{remaining} of {per-key.limit} for {reason}", "3 of 10 for per-key"),
            ("{wait}|{wait_s:down}|{wait_ms}|{wait_go}", "2|1|1500|1.5s"),
            ("{reset_epoch}", "1000000060"),
            ("{reset}{now}", "601000000001"),
            ("{primary.window_s:nearest}", "3600"),
            ("{now_date:down}", "Sun, 09 Sep 2001 01:46:40 GMT"),
            ("{now_rfc3339:decimal(1)}", "2001-09-09T01:46:40.5Z"),
            (r#"{"a":{"b":{wait_s:decimal(2)}}}"#, r#"{"a":{"b":1.50}}"#),
            (r#"{"a":[{}],"b":{ limit }}"#, r#"{"a":[{}],"b":{ limit }}"#),
            ("{{user}", "{user}"),
            ("{{{user}{{wait}", "{{user}{wait}"),
            ("{{ {Limit} {", "{{ {Limit} {"),
            ("a{b{limit}}c", "a{b10}c"),
            ("ä{limit}ä", "ä10ä"),
        ] {
            assert_eq!(said(text).as_deref(), Some(wanted), "{text}");
            let template = parse(text).unwrap();
            assert_eq!(parse(&template.to_string()), Ok(template), "{text}");
        }
        assert_eq!(said("{per-key.window}"), None);
    }

    #[test]
    fn what_goes_without_saying_is_not_shown() {
        for (text, shown) in [
            ("{wait_s:up}", "{wait_s}"),
            ("{wait}", "{wait_s}"),
            ("{wait_s:decimal(0):down}", "{wait_s:down}"),
            ("{reset_go:decimal(3)}", "{reset_go}"),
            ("{primary.reset_epoch:decimal(3):nearest}", "{primary.reset_epoch:decimal(3):nearest}"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), shown, "{text}");
        }
    }

    #[test]
    fn what_is_no_field_is_refused_with_what_there_is() {
        for (text, words) in [
            (
                "{limt}",
                "unknown field `{limt}` (did you mean `limit`?); the fields are `limit`, `remaining`, `used`, `reset`, `window`",
            ),
            ("{user}", "unknown field `{user}` (did you mean `used`?)"),
            (
                "{primry.limit}",
                "`{primry.limit}`: no policy has the name `primry` (did you mean `primary`?); the names are `primary`, `per-key`",
            ),
            (
                "{primary.wait}",
                "`{primary.wait}`: `wait` belongs to the whole answer, not to one policy; write `{wait}`",
            ),
            (
                "{wait_sec}",
                "`{wait_sec}`: `wait` cannot be written in `sec`; its units are `s`, `ms`, `go`, `epoch`",
            ),
            (
                "{now_s}",
                "`{now_s}`: `now` cannot be written in `s`; its units are `epoch`, `epoch_ms`, `date`, `rfc3339`",
            ),
            (
                "{window_date}",
                "`{window_date}`: `window` cannot be written in `date`; its units are `s`, `ms`, `go`",
            ),
            ("{limit_s}", "`{limit_s}`: `limit` has no unit, so leave out `s`"),
            ("{limit:up}", "`{limit:up}`: `limit` is not a time, so leave out `up`"),
            ("{wait_s:upp}", "`{wait_s:upp}`: `upp` is not a rounding mode (did you mean `up`?)"),
            ("{wait_s:}", "`{wait_s:}`: `` is not a rounding mode"),
            (
                "{wait_s:decimal(10)}",
                "`{wait_s:decimal(10)}`: `decimal(10)`: the number of digits after the decimal point must be from 0 to 9 here",
            ),
            (
                "{wait_s:decimal(x)}",
                "`{wait_s:decimal(x)}`: `decimal(x)`: the number of digits after the decimal point",
            ),
            (
                "{reset_date:decimal(1)}",
                "`{reset_date:decimal(1)}`: `decimal(1)`: the number of digits after the decimal point must be from 0 to 0",
            ),
            (
                "{wait_s:up:down}",
                "`{wait_s:up:down}`: `down` is in the wrong place or given twice; the order is `decimal(3)`, then a rounding mode",
            ),
            (
                "{wait_s:up:decimal(1)}",
                "`{wait_s:up:decimal(1)}`: `decimal(1)` is in the wrong place or given twice; the order is `decimal(3)`, then a rounding mode",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(words), "{text}: {error}");
        }
        assert!(parse(&"{limit}".repeat(65)).unwrap_err().contains("more than 64 fields"));
        assert!(parse("{limt}").unwrap_err().ends_with("write two: `{{limt}`"));
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_shown_as_it_is_read(
            text in r#"([{}]|[a-z"ä ]|limit|wait|reset|now|reason|primary[.]|_s|_ms|_go|_epoch|_date|:|up|down|decimal[(][0-9]?[)]){0,24}"#,
        ) {
            if let Ok(template) = parse(&text) {
                prop_assert_eq!(parse(&template.to_string()), Ok(template));
                said(&text);
            }
        }

        #[test]
        fn a_text_without_fields_is_itself_whatever_it_is(text in any::<String>()) {
            if let Ok(template) = parse(&text) {
                prop_assert_eq!(parse(&template.to_string()), Ok(template));
            }
            // JSON and programs do not write a lower-case letter directly after a brace.
            let spaced = text.replace('{', "{ ");
            prop_assert_eq!(said(&spaced), Some(spaced));
        }
    }
}
