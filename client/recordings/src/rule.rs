//! Rules of presets. A rule maps a recorded configuration to a strategy. It depends on the library, its version, and the options in the
//! text of the configuration.
//!
//! A pattern is the text of an option with placeholders for values, such as `max_retries={n}`. A `=` in a pattern matches `=`, `:` or a
//! space, as in `max_retries=2`, `maxRetries: 2` and `--retry 2`. There are five placeholders:
//!
//! - `{n}`: a whole number
//! - `{x}`: a number
//! - `{s}`: a duration, in seconds if it has no unit
//! - `{m}`: a duration, in milliseconds if it has no unit
//! - `{l}`: a list of numbers
//!
//! If a pattern has several placeholders of the same kind, they are numbered (`{s2}`). Each pattern belongs to a text with parameters of
//! the strategy. This text contains the placeholders again. Arithmetic may follow the name of a placeholder (`{n+1}`, `{s*2}`), or a suffix
//! that is appended to each item of a list (`{l&idempotent}`).

use std::collections::BTreeMap;
use std::ops::Range;

use tailback::Rule;
use vocabulary::split_options_of;

use crate::pair::{Pair, Recording};

type Values = BTreeMap<String, Value>;

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(f64),
    /// Value that is a duration in seconds.
    Duration(f64),
    List(Vec<String>),
}

/// Words that are values of options. If one of them occurs in a configuration, the word before it is an option.
const SWITCHES: [&str; 8] = ["true", "false", "True", "False", "on", "off", "none", "None"];

/// Returns the text of the rule's strategy, with the options of the configuration. Returns `None` if the rule is for another library or
/// version, or if its patterns `needs` and `lacks` exclude the configuration. Also returns `None` if the rule does not cover every option
/// of the configuration.
pub(crate) fn strategy_text(rule: &Rule, recording: &Recording, pair: &Pair) -> Option<String> {
    let is_for = is_library(&rule.library, &recording.library)
        && rule.versions.as_deref().is_none_or(|range| is_version(range, &recording.version));
    let has = |pattern: &String| find(pattern, &pair.config).is_some();
    if !is_for || !rule.needs.iter().all(has) || rule.lacks.iter().any(has) {
        return None;
    }
    let mut rest = pair.config.clone();
    let mut overrides = Vec::new();
    // Longer patterns are matched before shorter ones, because the text that matches a long pattern may contain a match of a short one.
    let mut options: Vec<(&String, &String)> = rule.options.iter().collect();
    options.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
    for (pattern, puts_in) in options {
        if let Some((place, values)) = find(pattern, &rest) {
            overrides.push((place.start, filled(puts_in, &values)?));
            rest.replace_range(place.clone(), &" ".repeat(place.len()));
        }
    }
    if rest.contains('=') || rest.split(is_between).any(is_option) {
        return None;
    }
    overrides.sort_by_key(|(start, _)| *start);
    let of_scenario = rule.scenarios.iter().filter(|(word, _)| pair.id.contains(*word));
    let of_scenario = of_scenario.map(|(_, puts_in)| puts_in);
    let overrides = overrides.iter().map(|(_, puts_in)| puts_in).chain(of_scenario);
    Some(with(&rule.text, overrides.map(String::as_str)))
}

/// Returns true if the name of a library matches `wanted`. The name may end with a major version, as in `got-16`, if several versions of
/// the library were recorded. If `wanted` ends with `*`, only the beginning of the name must match.
fn is_library(wanted: &str, library: &str) -> bool {
    let plain = match library.rsplit_once('-') {
        Some((plain, major)) if major.chars().all(|digit| digit.is_ascii_digit()) => plain,
        _ => library,
    };
    match wanted.strip_suffix('*') {
        Some(start) => library.starts_with(start),
        None => wanted == library || wanted == plain,
    }
}

/// Returns true if a version is in a range of the form `FROM..BELOW`. Either bound of the range may be missing.
fn is_version(range: &str, version: &str) -> bool {
    let (from, below) = range.split_once("..").unwrap_or((range, ""));
    let numbers = |text: &str| -> Vec<u64> {
        let leading =
            text.split(|char: char| !char.is_ascii_digit() && char != '.').next().unwrap_or_default();
        leading.split('.').map_while(|number| number.parse().ok()).collect()
    };
    let version = numbers(version);
    (from.is_empty() || version >= numbers(from)) && (below.is_empty() || version < numbers(below))
}

/// Finds the first match of a pattern in a text. Returns the place of the match, and the values of the placeholders.
fn find(pattern: &str, text: &str) -> Option<(Range<usize>, Values)> {
    let first = pattern.chars().next()?;
    text.char_indices().map(|(at, _)| at).find_map(|at| {
        let before = text[..at].chars().next_back();
        let is_start = before.is_none_or(|before| match first {
            '-' => before.is_whitespace(),
            _ if is_word(first) => !is_word(before) && before != '-',
            _ => true,
        });
        let (length, values) = is_start.then(|| matches(pattern, &text[at..])).flatten()?;
        Some((at..at + length, values))
    })
}

/// Matches a pattern at the start of the text. Returns the length of the match and the values of the placeholders.
fn matches(pattern: &str, text: &str) -> Option<(usize, Values)> {
    let (mut left, mut rest, mut values) = (pattern, text, Values::new());
    while let Some(next) = left.chars().next() {
        if next == '{' {
            let (name, after) = left[1..].split_once('}')?;
            let (value, after_value) = value(name, rest)?;
            values.insert(name.to_owned(), value);
            (left, rest) = (after, after_value);
            continue;
        }
        left = &left[next.len_utf8()..];
        rest = match next {
            '=' => {
                let trimmed = rest.trim_start();
                let after = trimmed.strip_prefix(['=', ':']).unwrap_or(trimmed).trim_start();
                Some(after).filter(|after| after.len() < rest.len())?
            }
            ' ' => Some(rest.trim_start()).filter(|after| after.len() < rest.len())?,
            literal => rest.strip_prefix(literal)?,
        };
    }
    let ends_in_word = pattern.ends_with(|last: char| is_word(last) || last == '}');
    let word_continues = ends_in_word && rest.starts_with(|next: char| is_word(next) || next == '-');
    (!word_continues).then_some((text.len() - rest.len(), values))
}

fn value<'a>(name: &str, text: &'a str) -> Option<(Value, &'a str)> {
    match name.chars().next()? {
        'l' => list(text),
        kind @ ('n' | 'x') => {
            let (number, rest) = number(text, kind == 'x')?;
            Some((Value::Number(number), rest))
        }
        kind => {
            let (number, rest) = number(text, true)?;
            let unit = rest.trim_start();
            let length = unit.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(unit.len());
            let (unit, after) = unit.split_at(length);
            let (seconds, rest) = match unit {
                "ms" => (1e-3, after),
                "s" => (1.0, after),
                "m" | "min" => (60.0, after),
                _ => (if kind == 'm' { 1e-3 } else { 1.0 }, rest),
            };
            Some((Value::Duration(number * seconds), rest))
        }
    }
}

fn number(text: &str, may_have_point: bool) -> Option<(f64, &str)> {
    let is_part = |char: char| char.is_ascii_digit() || (may_have_point && char == '.');
    let length = text.find(|char| !is_part(char)).unwrap_or(text.len());
    Some((text[..length].parse().ok()?, &text[length..]))
}

fn list(text: &str) -> Option<(Value, &str)> {
    let inner = text.strip_prefix(['[', '{', '(']).unwrap_or(text);
    let is_part = |char: char| char.is_ascii_digit() || char == ',' || char == ' ';
    let length = inner.find(|char| !is_part(char)).unwrap_or(inner.len());
    let numbers: Vec<String> = inner[..length].split(',').map(|number| number.trim().to_owned()).collect();
    let is_list = numbers.iter().all(|number| number.parse::<u16>().is_ok());
    let rest = inner[length..].strip_prefix([']', '}', ')']).unwrap_or(&inner[length..]);
    is_list.then_some((Value::List(numbers), rest))
}

fn filled(template: &str, values: &Values) -> Option<String> {
    let (mut text, mut left) = (String::new(), template);
    while let Some((before, after)) = left.split_once('{') {
        let (place, after) = after.split_once('}')?;
        let end = place.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(place.len());
        let (name, suffix) = place.split_at(end);
        text += before;
        text += &match values.get(name)? {
            Value::Number(number) => calculated(*number, suffix)?.to_string(),
            Value::Duration(seconds) => duration(calculated(*seconds, suffix)?),
            Value::List(items) => {
                items.iter().map(|item| format!("{item}{suffix}")).collect::<Vec<_>>().join("|")
            }
        };
        left = after;
    }
    Some(text + left)
}

/// Applies the arithmetic of a placeholder, such as `*2+1`, to a number. Additions and multiplications are applied from left to right.
fn calculated(number: f64, mut arithmetic: &str) -> Option<f64> {
    let mut result = number;
    while let Some(operator) = arithmetic.chars().next() {
        let (operand, rest) = self::number(&arithmetic[1..], true)?;
        match operator {
            '+' => result += operand,
            '*' => result *= operand,
            _ => return None,
        }
        arithmetic = rest;
    }
    Some(result)
}

fn duration(seconds: f64) -> String {
    let microseconds = (seconds * 1e6).round();
    match () {
        () if microseconds % 1e6 == 0.0 => format!("{}s", microseconds / 1e6),
        () if microseconds % 1e3 == 0.0 => format!("{}ms", microseconds / 1e3),
        () => format!("{microseconds}us"),
    }
}

/// Inserts overrides into the text of a strategy. An override that is an option is inserted into the first part of the strategy, and
/// replaces an earlier value of this option. An override that is a part of a strategy (such as `+aimd`) is appended to the text.
fn with<'a>(text: &'a str, overrides: impl Iterator<Item = &'a str>) -> String {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let mut set: Vec<(&str, Option<&str>)> = split_options_of(options);
    let mut parts = String::new();
    for options in overrides {
        if options.starts_with('+') {
            parts += options;
            continue;
        }
        for (key, value) in split_options_of(options) {
            match set.iter_mut().find(|(known, _)| *known == key) {
                Some(known) => known.1 = value,
                None => set.push((key, value)),
            }
        }
    }
    let set: Vec<String> = set
        .into_iter()
        .map(|(key, value)| value.map_or_else(|| key.to_owned(), |value| format!("{key}={value}")))
        .collect();
    if set.is_empty() { format!("{name}{parts}") } else { format!("{name}:{}{parts}", set.join(",")) }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn is_between(char: char) -> bool {
    !is_word(char) && !['.', '-', '+'].contains(&char)
}

/// Returns true if a word of a library's configuration looks like a value or a flag. If no pattern of a rule matches such a word, the rule
/// does not cover the configuration.
fn is_option(word: &str) -> bool {
    let word = word.trim_matches('.');
    let is_value = word.trim_start_matches(['-', '+']).starts_with(|first: char| first.is_ascii_digit());
    let is_flag = word.starts_with('-') && word.chars().any(char::is_alphanumeric);
    is_value || is_flag || SWITCHES.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn mapped(rule: &Rule, library: &str, version: &str, id: &str, config: &str) -> Option<String> {
        let text = serde_json::json!({
            "library": library, "version": version, "language": "python", "interception": "sleeps",
            "scenarios": [{"id": id, "config": config, "n": 1, "samples": [[]]}],
        });
        let recording = crate::read(&text.to_string()).unwrap();
        strategy_text(rule, &recording, &recording.pairs[0])
    }

    #[test]
    fn options_of_the_configuration_become_parameters() {
        let rule = rule(
            r#"
            library = "some"
            text = "preset:x,cap=1m"
            [options]
            "max_retries={n}" = "max-attempts={n+1}"
            "retries={n}" = "max-connect={n*2+1}"
            "wait({s}, {s2})" = "base={s},cap={s2*0.5}"
            "min={m}" = "base={m}"
            "list={l}" = "retry-on={l&idempotent}|closed"
            "adaptive" = "+aws-adaptive"
            "factor={x}" = "factor={x}"
            "#,
        );
        for (config, text) in [
            ("Client() default", Some("preset:x,cap=1m")),
            ("Client(max_retries=2)", Some("preset:x,cap=1m,max-attempts=3")),
            ("maxRetries, max_retries: 2", Some("preset:x,cap=1m,max-attempts=3")),
            ("max_retries 2, GetObject, s3", Some("preset:x,cap=1m,max-attempts=3")),
            ("max_retries=2, retries=3", Some("preset:x,cap=1m,max-attempts=3,max-connect=7")),
            ("wait(0.5, 3)", Some("preset:x,cap=1500ms,base=500ms")),
            ("wait(0.0005, 2 min)", Some("preset:x,cap=60s,base=500us")),
            ("min=100", Some("preset:x,cap=1m,base=100ms")),
            ("min=2 s", Some("preset:x,cap=1m,base=2s")),
            ("list=[429, 503]", Some("preset:x,cap=1m,retry-on=429&idempotent|503&idempotent|closed")),
            ("list={500}, factor=1.5", Some("preset:x,cap=1m,retry-on=500&idempotent|closed,factor=1.5")),
            ("adaptive, factor=2", Some("preset:x,cap=1m,factor=2+aws-adaptive")),
            // Unknown options map to no preset.
            ("max_retries=2, jitter=0.5", None),
            ("mode=adaptive", None),
            ("my_max_retries=2", None),
            ("max_retries=2.5", None),
            ("something 7", None),
            ("redirects off", None),
            ("--insecure", None),
        ] {
            assert_eq!(mapped(&rule, "some", "1", "503", config).as_deref(), text, "{config}");
        }
    }

    #[test]
    fn rules_ask_for_the_library_the_version_words_and_the_scenario() {
        let text = r#"
            library = "some-*"
            versions = "2.5..10"
            needs = ["--all"]
            lacks = ["-f"]
            text = "preset:x"
            options = { "--all" = "" }
            scenarios = { "receive" = "long-poll=true" }
            "#;
        let rule = rule(text);
        for (library, version, id, config, text) in [
            ("some-client", "2.5", "503", "--all", Some("preset:x")),
            ("some-client", "9.9.1 (on x 1)", "503", "--all", Some("preset:x")),
            ("some-client", "2.10.0", "series-receive", "--all", Some("preset:x,long-poll=true")),
            ("some-client", "2.4.9", "503", "--all", None),
            ("some-client", "10.0", "503", "--all", None),
            ("other", "3", "503", "--all", None),
            ("some-client", "3", "503", "", None),
            ("some-client", "3", "503", "--all -f", None),
            ("some-client", "3", "503", "--all-errors", None),
        ] {
            let found = mapped(&rule, library, version, id, config);
            assert_eq!(found.as_deref(), text, "{library} {version} {id} {config}");
        }
        assert!(is_library("got", "got-16") && is_library("got", "got") && !is_library("got", "got-next"));
    }
}
