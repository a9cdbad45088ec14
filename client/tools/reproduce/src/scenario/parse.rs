//! Parsing of a scenario file, and application of the `--set` flags to it.

use serde::Deserialize;
use toml::Table;
use vocabulary::did_you_mean;

use crate::scenario::file::Scenario;
use crate::scenario::location::Text;
use crate::scenario::setting;
use experiments::Error;

pub(super) fn parse(text: &Text, settings: &[String]) -> Result<Scenario, Error> {
    let refuse = |error: &toml::de::Error, place: String| {
        Error::usage(format!("scenario {place}: {}", with_suggestion(error.message())))
    };
    // The text is parsed once without the `--set` settings, because errors have a line number only in the original text.
    let scenario: Scenario = toml::from_str(&text.text).map_err(|error| match other_format(&text.text) {
        Some(format) => Error::usage(format!(
            "{} is not TOML (it looks like {format}); scenarios are TOML, see docs/scenarios.md",
            text.name
        )),
        None => refuse(&error, text.at(error.span().map(|span| span.start)).to_string()),
    })?;
    if settings.is_empty() {
        return Ok(scenario);
    }
    let mut table: Table =
        text.text.parse().map_err(|error: toml::de::Error| refuse(&error, text.name.clone()))?;
    for (index, setting) in settings.iter().enumerate() {
        let key = |setting: &str| setting.split('=').next().unwrap_or_default().replace(' ', "");
        if settings[..index].iter().any(|before| key(before) == key(setting)) {
            let words = format!("`--set {setting}`: `{}` is set twice; keep one of them", key(setting));
            return Err(Error::usage(words));
        }
        setting::apply(&mut table, setting).map_err(Error::usage)?;
        let key = setting.split('=').next().unwrap_or_default();
        let varied = key.strip_prefix("server.").or_else(|| key.strip_prefix("workload."));
        let by = scenario
            .experiment
            .iter()
            .find(|(_, experiment)| varied.is_some_and(|key| experiment.vary.contains_key(key.trim())));
        if let Some((name, _)) = by {
            let words = format!(
                "`--set {setting}`: experiment `{name}` varies this key; set `experiment.{name}.vary` instead"
            );
            return Err(Error::usage(words));
        }
    }
    Scenario::deserialize(table)
        .map_err(|error| refuse(&error, format!("{} with `--set {}`", text.name, settings.join("` `--set "))))
}

fn other_format(text: &str) -> Option<&'static str> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let is_key = |key: &str| key.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter));
    let is_yaml = first.split_once(':').is_some_and(|(key, rest)| is_key(key) && !rest.contains('='));
    match first {
        _ if first.starts_with('{') => Some("JSON"),
        _ if first == "---" || is_yaml => Some("YAML"),
        _ => None,
    }
}

fn with_suggestion(message: &str) -> String {
    let message = message.trim();
    let mut names = message.split('`').skip(1).step_by(2);
    match names.next().filter(|_| message.starts_with("unknown field")) {
        Some(unknown) => {
            let known: Vec<&str> = names.collect();
            let suggestion = did_you_mean(unknown, known.iter().copied());
            format!("unknown key `{unknown}`{suggestion}; accepted are `{}`", known.join("`, `"))
        }
        None => message.to_owned(),
    }
}
