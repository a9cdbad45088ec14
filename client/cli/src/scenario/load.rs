//! Reads scenarios: those that are built in, and files.

use std::path::Path;

use anyhow::{Context, anyhow};
use serde::Deserialize;
use toml::Table;
use vocabulary::did_you_mean;

use super::cases::check_claim;
use super::cell::{Cell, cells};
use super::embedded::EMBEDDED;
use super::file::Scenario;
use super::place::Text;
use super::run::known_figures;
use super::setting;
use crate::exit::{Exit, Fatal};
use crate::files::reading::{SMALL, text_of};

/// Where a scenario comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// Built in, by name.
    Name(&'a str),
    /// A file of the user's.
    File(&'a Path),
}

/// Reads a scenario, puts the `--set` settings in, and checks all of it before anything runs.
pub(crate) fn load(source: Source<'_>, settings: &[String]) -> anyhow::Result<(Scenario, Vec<Cell>)> {
    let text = read(source)?;
    let mut scenario = parse(&text, settings)?;
    let with = if settings.is_empty() {
        String::new()
    } else {
        format!(" with `--set {}`", settings.join("` `--set "))
    };
    let refuse = |path: &[&str], error: anyhow::Error| {
        Fatal::because(Exit::Usage, format!("scenario {}{with}", text.of(path)), error)
    };
    let cells = cells(&scenario).map_err(|fault| {
        let path: Vec<&str> = fault.path.iter().map(String::as_str).collect();
        refuse(&path, fault.error)
    })?;
    check_labels(&scenario, &cells, settings).map_err(|words| Fatal::error(Exit::Usage, words))?;
    check_figures(&scenario)
        .map_err(|(path, error)| refuse(&path.iter().map(String::as_str).collect::<Vec<_>>(), error))?;
    for (index, claim) in scenario.claim.iter().enumerate() {
        let index = index.to_string();
        check_claim(&scenario, claim, &cells)
            .map_err(|(key, error)| refuse(&["claim", &index, key], error))?;
    }
    let mut impossible = Vec::new();
    for (name, plot) in &scenario.plot {
        match plot.check(&scenario, &cells) {
            Ok(()) => {}
            // Who runs less than the file says does not want its figures either.
            Err(_) if !settings.is_empty() => impossible.push(name.clone()),
            Err((key, error)) => return Err(refuse(&["plot", name, key], error)),
        }
    }
    scenario.plot.retain(|name, _| !impossible.contains(name));
    if let Some(http) = &scenario.http {
        for name in &http.experiments {
            if !scenario.experiment.contains_key(name) {
                let suggestion = did_you_mean(name, scenario.experiment.keys().map(String::as_str));
                return Err(refuse(
                    &["http", "experiments"],
                    anyhow!("no experiment is called `{name}`{suggestion}"),
                ));
            }
        }
        vocabulary::TimeScale::parse(&http.time_scale.to_string())
            .map_err(|error| refuse(&["http", "time_scale"], anyhow!("{error}")))?;
    }
    Ok((scenario, cells))
}

fn read(source: Source<'_>) -> anyhow::Result<Text> {
    match source {
        Source::Name(name) => {
            let known = || EMBEDDED.iter().map(|(name, _)| *name);
            let (_, text) = EMBEDDED.iter().find(|(known, _)| *known == name).ok_or_else(|| {
                let suggestion = did_you_mean(name, known());
                let words = format!(
                    "unknown scenario `{name}`{suggestion}; `loadgen reproduce --list` lists them, `--scenario FILE` reads \
                     your own"
                );
                Fatal::error(Exit::Usage, words)
            })?;
            Ok(Text { name: format!("`{name}`"), text: (*text).to_owned() })
        }
        Source::File(path) => {
            let text = text_of(path, SMALL)
                .with_context(|| format!("cannot read `{}` (--scenario)", path.display()))?;
            Ok(Text { name: path.display().to_string(), text })
        }
    }
}

fn parse(text: &Text, settings: &[String]) -> anyhow::Result<Scenario> {
    let refuse = |error: &toml::de::Error, place: String| {
        Fatal::error(Exit::Usage, format!("scenario {place}: {}", with_suggestion(error.message())))
    };
    // First as it stands, so that errors know their line.
    let scenario: Scenario = toml::from_str(&text.text)
        .map_err(|error| refuse(&error, text.at(error.span().map(|span| span.start)).to_string()))?;
    if settings.is_empty() {
        return Ok(scenario);
    }
    let mut table: Table =
        text.text.parse().map_err(|error: toml::de::Error| refuse(&error, text.name.clone()))?;
    for (index, setting) in settings.iter().enumerate() {
        let key = |setting: &str| setting.split('=').next().unwrap_or_default().replace(' ', "");
        if settings[..index].iter().any(|before| key(before) == key(setting)) {
            let words = format!("`--set {setting}`: `{}` is set twice; keep one of them", key(setting));
            return Err(Fatal::error(Exit::Usage, words));
        }
        setting::apply(&mut table, setting).map_err(|words| Fatal::error(Exit::Usage, words))?;
        let key = setting.split('=').next().unwrap_or_default();
        let varied = key.strip_prefix("server.").or_else(|| key.strip_prefix("workload."));
        let by = scenario
            .experiment
            .iter()
            .find(|(_, experiment)| varied.is_some_and(|key| experiment.vary.contains_key(key.trim())));
        if let Some((name, _)) = by {
            let words = format!(
                "`--set {setting}`: experiment `{name}` varies it; set `experiment.{name}.vary` instead"
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Scenario::deserialize(table)
        .map_err(|error| refuse(&error, format!("{} with `--set {}`", text.name, settings.join("` `--set "))))
}

/// Adds "did you mean" to what the parser says of an unknown key.
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

/// A strategy that is set must be one that is run: a new label is a mistyped one, unless an experiment takes it.
fn check_labels(scenario: &Scenario, cells: &[Cell], settings: &[String]) -> Result<(), String> {
    for setting in settings {
        let path = setting.split('=').next().unwrap_or_default();
        let Some(label) = path.trim().strip_prefix("strategies.").map(str::trim) else { continue };
        if !cells.iter().any(|cell| cell.label == label) {
            let suggestion = did_you_mean(label, cells.iter().map(|cell| cell.label.as_str()));
            let known = scenario.strategies.keys().filter(|key| *key != label).cloned().collect::<Vec<_>>();
            return Err(format!(
                "`--set {setting}`: no experiment runs a strategy labelled `{label}`{suggestion}; there are `{}`",
                known.join("`, `")
            ));
        }
    }
    Ok(())
}

/// Every figure that is asked for must be one that a run has.
fn check_figures(scenario: &Scenario) -> Result<(), (Vec<String>, anyhow::Error)> {
    for (name, derived) in &scenario.figure {
        if let Some(fault) = derived.fault() {
            return Err((vec!["figure".to_owned(), name.clone()], anyhow!(fault)));
        }
    }
    let known = known_figures();
    let mut wanted: Vec<(Vec<String>, &str)> = Vec::new();
    for (name, experiment) in &scenario.experiment {
        let path = vec!["experiment".to_owned(), name.clone(), "columns".to_owned()];
        wanted.extend(experiment.columns.iter().map(|column| (path.clone(), column.figure.as_str())));
    }
    for (index, claim) in scenario.claim.iter().enumerate() {
        let path = vec!["claim".to_owned(), index.to_string(), "figure".to_owned()];
        wanted.extend(claim.figures().map(|figure| (path.clone(), figure)));
    }
    for (path, figure) in wanted {
        if !scenario.figure.contains_key(figure) && !known.iter().any(|known| known == figure) {
            let all = known.iter().map(String::as_str).chain(scenario.figure.keys().map(String::as_str));
            let words = format!(
                "unknown figure `{figure}`{}; it is neither a number of the result, such as `attempts.total`, nor defined \
                 under `[figure]`",
                did_you_mean(figure, all)
            );
            return Err((path, anyhow!(words)));
        }
    }
    Ok(())
}
