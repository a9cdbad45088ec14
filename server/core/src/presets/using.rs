//! Converts a preset with options, such as `NAME` or `NAME:points=off,primary.limit=10`, into policies and answers.

use std::collections::BTreeMap;

use vocabulary::{ParameterInfo, did_you_mean, nearest, split_options, thousands};

use crate::first_limit::{parameter, per_time};
use crate::policies::Per;
use crate::schedule::Quantity;
use crate::{
    AnswersConfig, Limit, Policies, Policy, PolicyError, ServerPreset, quoted, server_preset,
    server_preset_names,
};

/// Error in the use of a preset: an unknown name, contradictory options, or an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerPresetUseError {
    #[error("unknown preset `{name}`{suggestion}")]
    Unknown { name: String, suggestion: String },
    #[error("preset `{preset}` has no limit `{limit}`{suggestion}; its limits are {limits}")]
    Limit { preset: &'static str, limit: String, suggestion: String, limits: String },
    #[error(
        "preset `{preset}`: `{option}` is not a valid setting; switch off a limit, such as `{limit}=off`, \
         or set a parameter of a limit, such as `{limit}.{parameter}`"
    )]
    Option { preset: &'static str, option: String, limit: &'static str, parameter: String },
    /// The same key was given twice in the options of a preset, or two options contradict each other.
    #[error("preset `{preset}` sets `{key}` twice; keep one of them")]
    Twice { preset: &'static str, key: String },
    #[error(
        "preset `{preset}`: `{limit}` is switched off, so its parameters cannot be set; leave out \
         `{limit}=off` or `{key}`"
    )]
    OffAndSet { preset: &'static str, limit: String, key: String },
    #[error("preset `{0}`: every limit is switched off; keep at least one")]
    Nothing(&'static str),
    #[error("preset `{preset}`, limit `{limit}`: {why}")]
    Policy { preset: &'static str, limit: &'static str, why: Box<PolicyError> },
    #[error("`scale` is {0}; it must be a number from 0.000001 to 1000000, such as 0.02")]
    Scale(String),
}

const OFF: &str = "off";

#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    pub preset: &'static ServerPreset,
    pub policy: Policies,
    /// Answers of the preset without references to limits that are switched off.
    pub answers: AnswersConfig,
}

/// Returns the policies and answers of a preset with the options that follow its name. The scale multiplies the preset's own figures, not
/// the values given by the user.
///
/// # Errors
/// Returns an error that names the unknown or contradictory part, and what is accepted.
pub fn expand(text: &str, scale: Option<f64>) -> Result<Expanded, ServerPresetUseError> {
    let scale = scale.map(checked).transpose()?;
    let (name, typed) = split_options(text);
    let preset = server_preset(name).ok_or_else(|| ServerPresetUseError::Unknown {
        name: name.to_owned(),
        suggestion: nearest(name, server_preset_names()).map_or_else(
            || "; `mockserver presets` lists all presets. Describe another limit by `--policy token-bucket:rate=10/s,burst=20 --reject-status 429`, or by `--max-busy 50`".to_owned(),
            |name| format!(" (did you mean `{name}`?)"),
        ),
    })?;
    let options = Options::read(preset, &typed)?;
    let mut policies = Vec::new();
    for limit in preset.limits.iter().filter(|limit| !options.off.contains(&&*limit.name)) {
        policies.push(options.policy(preset, limit, scale)?);
    }
    let answers = options.off.iter().fold(preset.answers(), |answers, limit| without(answers, limit));
    let policy = Policies::new(policies).map_err(|_| ServerPresetUseError::Nothing(&preset.name))?;
    Ok(Expanded { preset, policy, answers })
}

pub fn read_scale(text: &str) -> Result<f64, ServerPresetUseError> {
    let scale = text.trim().parse().map_err(|_| ServerPresetUseError::Scale(text.to_owned()))?;
    checked(scale)
}

struct Options<'a> {
    off: Vec<&'static str>,
    /// Parameters that the user changed, each as limit, key and value.
    set: Vec<(&'static str, &'a str, &'a str)>,
}

impl<'a> Options<'a> {
    fn read(
        preset: &'static ServerPreset,
        typed: &[(&'a str, Option<&'a str>)],
    ) -> Result<Self, ServerPresetUseError> {
        let mut options = Self { off: Vec::new(), set: Vec::new() };
        for (index, (key, value)) in typed.iter().enumerate() {
            if typed[..index].iter().any(|(before, _)| before == key) {
                return Err(ServerPresetUseError::Twice { preset: &preset.name, key: (*key).to_owned() });
            }
            let (limit, own) = key.split_once('.').map_or((*key, None), |(limit, own)| (limit, Some(own)));
            let limit = limit_of(preset, limit)?;
            match (own, *value) {
                (Some(own), Some(value)) => options.set.push((&limit.name, own, value)),
                (None, Some(OFF)) => options.off.push(&limit.name),
                _ => return Err(no_option(preset, limit, (*key, *value))),
            }
        }
        match options.set.iter().find(|(limit, ..)| options.off.contains(limit)) {
            Some((limit, key, value)) => Err(ServerPresetUseError::OffAndSet {
                preset: &preset.name,
                limit: (*limit).to_owned(),
                key: format!("{limit}.{key}={value}"),
            }),
            None => Ok(options),
        }
    }

    fn policy(
        &self,
        preset: &'static ServerPreset,
        limit: &'static Limit,
        scale: Option<f64>,
    ) -> Result<Policy, ServerPresetUseError> {
        let refuse = |why| ServerPresetUseError::Policy {
            preset: &preset.name,
            limit: &limit.name,
            why: Box::new(why),
        };
        let own = limit.policy().map_err(refuse)?;
        let mut changed: Vec<(&str, String)> = Vec::new();
        if let Some(scale) = scale {
            let scaled =
                |parameter: &ParameterInfo| Some((parameter.key, scaled(own.name(), parameter, scale)?));
            changed.extend(own.parameters().iter().filter_map(scaled));
        }
        for (_, key, value) in self.set.iter().filter(|(name, ..)| *name == limit.name) {
            changed.retain(|(before, _)| before != key);
            changed.push((key, (*value).to_owned()));
        }
        own.with(&changed).map_err(refuse)
    }
}

fn limit_of(preset: &'static ServerPreset, name: &str) -> Result<&'static Limit, ServerPresetUseError> {
    let names = || preset.limits.iter().map(|limit| &*limit.name);
    preset.limit(name).ok_or_else(|| ServerPresetUseError::Limit {
        preset: &preset.name,
        limit: name.to_owned(),
        suggestion: did_you_mean(name, names()),
        limits: quoted(names()),
    })
}

fn no_option(
    preset: &'static ServerPreset,
    limit: &'static Limit,
    (key, value): (&str, Option<&str>),
) -> ServerPresetUseError {
    let policy = limit.policy().ok();
    let first = policy.as_ref().and_then(|policy| policy.parameters().first());
    ServerPresetUseError::Option {
        preset: &preset.name,
        option: value.map_or_else(|| key.to_owned(), |value| format!("{key}={value}")),
        limit: &limit.name,
        parameter: first.map_or_else(|| "key=all".to_owned(), |info| format!("{}={}", info.key, info.value)),
    }
}

/// Removes all parts of the answers that refer to the given limit: the answer to rejections by this limit, and headers that report its
/// state. In bodies, the fields of this limit become `null`.
pub(super) fn without(mut answers: AnswersConfig, limit: &str) -> AnswersConfig {
    answers.reject.remove(limit);
    let begin = format!("{{{limit}.");
    drop_headers(&mut answers.every.headers, &begin);
    for response in
        [&mut answers.accepted, &mut answers.conflict].into_iter().chain(answers.reject.values_mut())
    {
        drop_headers(&mut response.headers, &begin);
        if let Some(body) = &mut response.body {
            *body = with_nulls(body, &begin);
        }
    }
    answers
}

fn drop_headers(headers: &mut BTreeMap<String, String>, begin: &str) {
    headers.retain(|_, template| !template.contains(begin));
}

fn with_nulls(body: &str, begin: &str) -> String {
    let (mut written, mut rest) = (String::new(), body);
    while let Some(at) = rest.find(begin) {
        let Some(length) = rest[at..].find('}') else { break };
        written.push_str(&rest[..at]);
        written.push_str("null");
        rest = &rest[at + length + 1..];
    }
    written + rest
}

/// Short descriptions of limits, for lists and start screens: `500 requests/min`, `5 000/h per user`, `100 at once`.
impl Expanded {
    /// Returns a short description of each limit of the preset, in the order of its policy stack. Stages without a limit of their own, such
    /// as penalties, are left out.
    pub fn short_limits(&self) -> Vec<String> {
        let limit = |policy: &Policy| {
            let limit = policy.label().and_then(|label| self.preset.limit(label))?;
            short(limit, policy)
        };
        self.policy.iter().filter_map(limit).collect()
    }
}

fn short(limit: &Limit, policy: &Policy) -> Option<String> {
    let config = policy.config();
    let figure = config.limit()?;
    // A limit that grows has several values during a run. The documented figure is its initial value, the parameter `start`.
    let amount = parameter(policy, if config.grows() { "start" } else { figure.key })?;
    let quantity = Quantity::read(amount)?;
    let per = match (&*quantity.unit, per_time(figure.per, policy)) {
        ("", per) if per.is_empty() => match parameter(policy, "per") {
            Some(_) => per_time(Per::Parameter("per"), policy),
            None => " at once".to_owned(),
        },
        ("", per) => per,
        (unit, _) => unit.to_owned(),
    };
    let whole = u64::try_from(quantity.millionths / Quantity::ONE).ok()?;
    let amount = if quantity.millionths % Quantity::ONE == 0 {
        thousands(whole)
    } else {
        Quantity { unit: String::new(), ..quantity }.to_string()
    };
    let word = |word: &Option<String>| word.as_ref().map_or_else(String::new, |word| format!(" {word}"));
    Some(format!("{amount}{}{per}{}", word(&limit.unit), word(&limit.scope)))
}

/// Keys of parameters whose values are numbers of requests. Scaling a preset multiplies these numbers.
const COUNTS: &[&str] =
    &["burst", "limit", "cap", "queue", "delay", "knee", "ban-after", "start", "by", "most"];

const RANGE: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

pub(super) fn checked(scale: f64) -> Result<f64, ServerPresetUseError> {
    if RANGE.contains(&scale) { Ok(scale) } else { Err(ServerPresetUseError::Scale(scale.to_string())) }
}

/// Returns the scaled value of a policy's parameter. `None` if scaling does not change it.
pub(super) fn scaled(policy: &str, parameter: &ParameterInfo, scale: f64) -> Option<String> {
    let value = &parameter.value;
    if (policy, parameter.key) == ("slow-down", "most") {
        // The value is a factor, although its key is in `COUNTS`.
        return None;
    }
    if COUNTS.contains(&parameter.key) {
        // Scaling does not change the values `unlimited` and 0 of a parameter.
        return value.parse().ok().filter(|count| *count > 0).map(|count| times(count, scale).to_string());
    }
    if parameter.key != "rate" {
        return None;
    }
    let (count, per) = value.split_once('/')?;
    let Ok(count) = count.parse() else {
        let number = Quantity::read(count)?;
        let millionths = times(u64::try_from(number.millionths).ok()?, scale);
        let number = Quantity { millionths: i64::try_from(millionths).unwrap_or(i64::MAX), ..number };
        return Some(format!("{number}/{per}"));
    };
    Some(format!("{}/{per}", times(count, scale)))
}

/// Multiplies a count by the scale, and rounds the product to the nearest whole number, at least 1.
fn times(count: u64, scale: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers are exact up to 2^52, and what is larger than a parameter can be is refused there"
    )]
    let nearest = (count as f64 * scale + 0.5) as u64;
    nearest.max(1)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::answers::ResponseConfig;
    use crate::presets::expand;

    #[test]
    fn answers_do_not_report_a_limit_that_is_off() {
        let headers = |names: &[&str]| -> BTreeMap<String, String> {
            names.iter().map(|name| ((*name).to_owned(), format!("{{{name}.limit}}"))).collect()
        };
        let response = |body: &str| ResponseConfig {
            headers: headers(&["a", "b"]),
            body: Some(body.to_owned()),
            ..ResponseConfig::default()
        };
        let mut answers = AnswersConfig {
            accepted: response("{a.used}/{b.used_s:up}, {b.limit}"),
            ..AnswersConfig::default()
        };
        answers.reject = [("a", response("{b.limit}")), ("b", response(""))]
            .into_iter()
            .map(|(name, response)| (name.to_owned(), response))
            .collect();
        answers.every.headers = headers(&["b"]);
        let answers = without(answers, "b");
        assert_eq!(answers.accepted.body.as_deref(), Some("{a.used}/null, null"));
        assert_eq!(answers.accepted.headers, headers(&["a"]));
        assert_eq!(answers.reject.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(answers.reject["a"].body.as_deref(), Some("null"));
        assert!(answers.every.headers.is_empty());
    }

    fn limits(preset: &str, scale: Option<f64>) -> Vec<String> {
        expand(preset, scale).unwrap().short_limits()
    }

    #[test]
    fn short_limits_use_the_units_and_scopes_of_the_preset() {
        for (preset, expected) in [
            ("openai", &["500 requests/min", "30 000 tokens/min"][..]),
            (
                "github",
                &["5 000/h per user", "100 at once", "900 points/min per endpoint", "80 creations/min"],
            ),
            ("stripe", &["100/s per account", "25/s per endpoint", "100 at once"]),
            ("cloudflare-api", &["200/s per address", "320 queries in 5m per user", "1 200 in 5m per user"]),
            ("ietf", &["100 requests/min", "1 000 requests/day"]),
            ("s3", &["5 500 reads/s", "3 500 writes/s"]),
            ("lambda", &["1 000 at once", "1 000 at once per function"]),
            ("nginx", &["10/s per address", "50 at once"]),
            ("busy", &["50 at once"]),
        ] {
            assert_eq!(limits(preset, None), expected, "{preset}");
        }
    }

    #[test]
    fn figures_are_scaled_and_limits_that_are_off_are_left_out() {
        assert_eq!(limits("openai", Some(0.02)), ["10 requests/min", "600 tokens/min"]);
        assert_eq!(
            limits("github:points=off,primary.limit=7,creations=off", None),
            ["7/h per user", "100 at once"]
        );
    }

    fn of(key: &'static str, value: &str, scale: f64) -> Option<String> {
        let (about, accepted) = ("", String::new());
        scaled("", &ParameterInfo { key, about, value: value.to_owned(), accepted }, scale)
    }

    #[test]
    fn request_counts_are_scaled_and_rounded_but_times_are_not() {
        for (key, value, scale, wanted) in [
            ("limit", "5000", 0.02, Some("100")),
            ("limit", "40", 0.02, Some("1")),
            ("cap", "5", 0.5, Some("3")),
            ("cap", "unlimited", 0.5, None),
            ("queue", "0", 0.5, None),
            ("burst", "1", 0.000_001, Some("1")),
            ("burst", "1000", 12.5, Some("12500")),
            ("rate", "10000/s", 0.02, Some("200/s")),
            ("rate", "900/min", 0.01, Some("9/min")),
            ("rate", "2/s", 0.02, Some("1/s")),
            ("rate", "0.5/s", 0.02, Some("0.01/s")),
            ("rate", "1.5/300s", 3.0, Some("4.5/300s")),
            ("window", "1h", 0.02, None),
            ("lock", "5m", 0.02, None),
            ("p", "0.5", 0.02, None),
        ] {
            assert_eq!(of(key, value, scale).as_deref(), wanted, "{key}={value} × {scale}");
        }
        for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(checked(nonsense).is_err());
        }
    }
}
