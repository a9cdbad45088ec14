//! Cost of a request when it is charged and when it ends: the rules given by the user, and their evaluation.

use vocabulary::TextField;

use crate::policies::key::header_name;
use crate::{FieldSelection, RequestFields};

const MOST: u32 = 1_000_000_000;

/// Rule for the cost of a request: a list of sources. The first source that has a value for the request determines the cost; the cost is 1
/// if no source has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CostRule(pub(super) Vec<Source>);

/// Rule for the actual cost of an accepted request: a list of sources. The first source that has a value determines the actual cost. If no
/// source has a value, the actual cost equals the charged cost. When the response is sent, the stage refunds the difference between the two
/// costs, or charges it in addition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refund(pub(super) Vec<Source>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Number(u32),
    /// Cost for requests with this method (in upper case), and with this path if one is given.
    Method(String, Option<String>, u32),
    /// Share of the charged cost, in hundredths of a percent. The resulting cost is rounded up.
    Share(u32),
    Header(String),
    /// Cost that is a number in a JSON body. The path to the number consists of keys joined by points.
    Body(String),
}

impl Default for CostRule {
    fn default() -> Self {
        Self(vec![Source::Number(1)])
    }
}

impl CostRule {
    pub(crate) fn of(&self, details: Option<&RequestFields>) -> u32 {
        self.0.iter().find_map(|source| source.number(details, 1)).unwrap_or(1)
    }

    pub(crate) fn least(&self) -> u32 {
        let costs = self.0.iter().map(|source| match source {
            Source::Number(number) | Source::Method(_, _, number) => *number,
            Source::Share(_) | Source::Header(_) | Source::Body(_) => 0,
        });
        costs.min().unwrap_or(1)
    }
}

impl Refund {
    /// True if the rule is empty, so that an accepted request costs as much as it was charged.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn of(&self, details: Option<&RequestFields>, charged: u32) -> Option<u32> {
        self.0.iter().find_map(|source| source.number(details, charged))
    }
}

impl Source {
    fn number(&self, details: Option<&RequestFields>, charged: u32) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Share(hundredths) => {
                let share = u64::from(charged) * u64::from(*hundredths);
                u32::try_from(share.div_ceil(10_000)).ok()
            }
            Self::Method(method, path, number) => {
                let details = details?;
                let is_there = path.as_deref().is_none_or(|path| *details.path == *path);
                (*details.method == **method && is_there).then_some(*number)
            }
            Self::Header(name) => number_of(details?.header(name)?.trim()),
            Self::Body(path) => number_of(details?.field(path)?),
        }
    }

    pub(super) fn want(&self, wants: &mut FieldSelection) {
        wants.any |= !matches!(self, Self::Number(_) | Self::Share(_));
        match self {
            Self::Header(name) => drop(wants.headers.insert(name.clone())),
            Self::Body(path) => drop(wants.fields.insert(path.clone())),
            Self::Number(_) | Self::Share(_) | Self::Method(..) => {}
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.trim()
                .parse()
                .ok()
                .filter(|number| *number <= MOST)
                .ok_or_else(|| format!("`{text}` is not a whole number from 0 to {MOST}"))
        };
        if let Some(name) = text.strip_prefix("header:") {
            return header_name(name).map(Self::Header);
        }
        if let Some(path) = text.strip_prefix("body:") {
            return if path.split('.').any(str::is_empty) {
                Err(format!("`{text}` is not the name of a field of a body, such as `usage.tokens`"))
            } else {
                Ok(Self::Body(path.to_owned()))
            };
        }
        if let Some((method, cost)) = text.split_once(' ') {
            if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') {
                return Err(format!("`{method}` is not a valid HTTP method"));
            }
            let (path, cost) = match cost.trim_start().split_once(' ') {
                Some((path, cost)) if path.starts_with('/') => (Some(path.to_owned()), cost),
                Some((path, _)) => return Err(format!("`{path}` is not a path: paths start with `/`")),
                None => (None, cost),
            };
            return Ok(Self::Method(method.to_ascii_uppercase(), path, number(cost)?));
        }
        number(text).map(Self::Number)
    }

    /// Parses the source from which a policy takes the actual cost of a request. All sources of the charged cost are accepted, and also a
    /// share of the charged cost, such as `30%`.
    fn read_true(text: &str) -> Result<Self, String> {
        let Some(percent) = text.strip_suffix('%') else { return Self::read(text) };
        let (whole, decimals) = percent.trim().split_once('.').unwrap_or((percent.trim(), ""));
        let hundredths = format!("{whole}{decimals:0<2}").parse().ok();
        let is_share = !whole.is_empty() && decimals.len() <= 2 && !whole.starts_with('+');
        hundredths
            .filter(|hundredths| is_share && *hundredths <= 100_000)
            .map(Self::Share)
            .ok_or_else(|| format!("`{text}` is not a share from 0% to 1000%, with up to two decimals"))
    }

    fn show(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Method(method, None, number) => format!("{method} {number}"),
            Self::Method(method, Some(path), number) => format!("{method} {path} {number}"),
            Self::Share(hundredths) if hundredths % 100 == 0 => format!("{}%", hundredths / 100),
            Self::Share(hundredths) => format!("{}.{:02}%", hundredths / 100, hundredths % 100),
            Self::Header(name) => format!("header:{name}"),
            Self::Body(path) => format!("body:{path}"),
        }
    }
}

/// Parses a number in a request that states a cost. Negative numbers become 0, fractions are rounded up, and the result is at most
/// [`MOST`].
fn number_of(text: &str) -> Option<u32> {
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let bounded = number.clamp(0.0, f64::from(MOST));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 10⁹")]
    let floor = bounded as u32;
    Some(floor + u32::from(f64::from(floor) < bounded))
}

fn read_all(text: &str, read: fn(&str) -> Result<Source, String>) -> Result<Vec<Source>, String> {
    text.split('|').map(|source| read(source.trim())).collect()
}

fn show_all(sources: &[Source]) -> String {
    sources.iter().map(Source::show).collect::<Vec<_>>().join("|")
}

impl TextField for CostRule {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = read_all(text, Source::read)?;
        Ok(())
    }

    fn show(&self) -> String {
        show_all(&self.0)
    }

    fn accepted(&self) -> &'static str {
        "a whole number from 0 to 10⁹, `METHOD NUMBER`, `METHOD /PATH NUMBER`, `header:NAME` or \
         `body:FIELD` (a number in a JSON body, such as `body:usage.tokens`); several of these joined by \
         `|`, such as `GET 1|5`, of which the first that applies to the request counts"
    }
}

impl TextField for Refund {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = if text == "none" { Vec::new() } else { read_all(text, Source::read_true)? };
        Ok(())
    }

    fn show(&self) -> String {
        if self.0.is_empty() { "none".to_owned() } else { show_all(&self.0) }
    }

    fn accepted(&self) -> &'static str {
        "`none`, a share of the charged cost such as `30%`, or any form that `cost` takes, such as \
         `header:x-used`; alternatives are joined by `|`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details() -> RequestFields {
        RequestFields {
            method: "POST".into(),
            path: "/rate_limit".into(),
            headers: vec![("x-cost".into(), "7.2".into()), ("x-odd".into(), "many".into())],
            fields: vec![("max_tokens".into(), "500".into()), ("usage.tokens".into(), "120".into())],
            ..RequestFields::default()
        }
    }

    #[test]
    fn the_first_source_with_a_value_counts() {
        for (text, cost, without) in [
            ("3", 3, 3),
            ("GET 1|POST 5", 5, 1),
            ("GET 1|HEAD 2|9", 9, 9),
            ("POST /rate_limit 0|3", 0, 3),
            ("GET /rate_limit 0|POST /rate 4|POST /rate_limit/x 5|3", 3, 3),
            ("header:X-Cost", 8, 1),
            ("header:x-odd|header:x-none|4", 4, 4),
            ("body:max_tokens|2", 500, 2),
            ("body:usage.tokens", 120, 1),
            ("body:usage.none|body:text|6", 6, 6),
        ] {
            let mut rule = CostRule::default();
            rule.read(text).unwrap();
            assert_eq!((rule.of(Some(&details())), rule.of(None)), (cost, without), "{text}");
            assert_eq!(rule.show(), text.replace("X-Cost", "x-cost"));
        }
    }

    #[test]
    fn shares_of_what_was_charged_are_rounded_up() {
        for (text, charged, used) in [
            ("30%", 10, Some(3)),
            ("33.3%", 10, Some(4)),
            ("0%", 10, Some(0)),
            ("none", 10, None),
            ("header:x-cost|50%", 10, Some(8)),
        ] {
            let mut refund = Refund::default();
            refund.read(text).unwrap();
            assert_eq!(refund.of(Some(&details()), charged), used, "{text}");
            let mut again = Refund::default();
            again.read(&refund.show()).unwrap();
            assert_eq!(again, refund);
        }
    }

    #[test]
    fn numbers_of_others_are_bounded() {
        for (text, number) in [
            ("-3", Some(0)),
            ("1e99", Some(MOST)),
            ("NaN", None),
            ("inf", None),
            ("0.1", Some(1)),
            ("", None),
        ] {
            assert_eq!(number_of(text), number, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "-1",
            "1000000001",
            "header:",
            "body:",
            "body:a..b",
            "5 GET",
            "GET many",
            "GET path 1",
            "GET /path",
            "GET /path many",
            "50%",
        ] {
            assert!(CostRule::default().read(text).is_err(), "{text}");
        }
        for text in ["%", "-1%", "1001%", "1.234%", "+5%"] {
            assert!(Refund::default().read(text).is_err(), "{text}");
        }
    }
}
