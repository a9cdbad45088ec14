//! Loading of scenarios: the whole scenario is checked before any run begins.

use experiments::{Error, ErrorKind};
use results::{FIGURES, Kind};
use serde::Deserialize;
use toml::{Table, Value};
use vocabulary::{TimeScale, did_you_mean};

use crate::scenario::cases::cases;
use crate::scenario::cells::{Cell, cells};
use crate::scenario::claim::{Claim, Stat};
use crate::scenario::condition::Condition;
use crate::scenario::drawing::Drawable;
use crate::scenario::file::Scenario;
use crate::scenario::location::Text;
use crate::scenario::wrong::Wrong;

/// Parses a scenario, applies the `--set` settings to it, and checks the result. `plots` lists the plots that a report can draw.
///
/// # Errors
/// The error contains the position of the fault in the scenario's text, and the values that are accepted at this position.
pub fn load(text: &Text, settings: &[String], plots: &[Drawable]) -> Result<(Scenario, Vec<Cell>), Error> {
    let mut scenario = parse(text, settings)?;
    let with = if settings.is_empty() {
        String::new()
    } else {
        format!(" with `--set {}`", settings.join("` `--set "))
    };
    let refuse = |path: &[&str], words: String| {
        Error::because(ErrorKind::Usage, format!("scenario {}{with}", text.of(path)), words)
    };
    let borrowed =
        |path: &[String], words: String| refuse(&path.iter().map(String::as_str).collect::<Vec<_>>(), words);
    let cells = cells(&scenario).map_err(|fault| borrowed(&fault.path, fault.words))?;
    check_labels(&scenario, &cells, settings).map_err(Error::usage)?;
    check_figures(&scenario).map_err(|(path, words)| borrowed(&path, words))?;
    for (index, claim) in scenario.claim.iter().enumerate() {
        let index = index.to_string();
        check_claim(&scenario, claim, &cells)
            .map_err(|wrong| refuse(&["claim", &index, wrong.key], wrong.to_string()))?;
    }
    let mut found = Vec::new();
    for (name, plot) in &scenario.plot {
        found.push(match plot.check(&scenario, &cells, plots) {
            Ok(basis) => Some(basis),
            // `--set` may reduce the strategies or points of a scenario. A plot that needs one of the removed strategies or points is then
            // left out, and is not an error.
            Err(_) if !settings.is_empty() => None,
            Err(wrong) => return Err(refuse(&["plot", name, wrong.key], wrong.to_string())),
        });
    }
    for (plot, basis) in scenario.plot.values_mut().zip(found) {
        plot.basis = basis;
    }
    scenario.plot.retain(|_, plot| plot.basis().is_some());
    check_http(&scenario).map_err(|wrong| refuse(&["http", wrong.key], wrong.to_string()))?;
    Ok((scenario, cells))
}

/// Parsing of a scenario file, and application of the `--set` flags to it.
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
        apply(&mut table, setting).map_err(Error::usage)?;
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

/// Checks that every setting `--set strategies.LABEL=…` names a strategy that some experiment runs. Any other label is rejected, because it
/// is probably mistyped.
pub(super) fn check_labels(scenario: &Scenario, cells: &[Cell], settings: &[String]) -> Result<(), String> {
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

/// Returns the paths of all numeric figures that a result can have. Not every run has all of them; for example, fairness needs several
/// clients.
fn numbers<'a>() -> impl Iterator<Item = &'a str> {
    FIGURES.iter().filter(|figure| figure.kind != Kind::Truth).map(|figure| figure.path)
}

pub(super) fn check_figures(scenario: &Scenario) -> Result<(), (Vec<String>, String)> {
    for (name, derived) in &scenario.figure {
        if let Some(fault) = derived.fault() {
            return Err((vec!["figure".to_owned(), name.clone()], fault));
        }
    }
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
        if !scenario.figure.contains_key(figure) && !numbers().any(|known| known == figure) {
            let all = numbers().chain(scenario.figure.keys().map(String::as_str));
            let words = format!(
                "unknown figure `{figure}`{}; it is neither a number of the result, such as `attempts.total`, nor defined \
                 under `[figure]`",
                did_you_mean(figure, all)
            );
            return Err((path, words));
        }
    }
    Ok(())
}

pub(super) fn check_claim(scenario: &Scenario, claim: &Claim, cells: &[Cell]) -> Result<(), Wrong> {
    cases(scenario, claim, cells)?;
    Condition::new(claim)?;
    if claim.judged_twice() {
        let words = "`stat` applies to all runs together and `one_run` to each run; leave one of them out";
        return Err(Wrong::new("stat", words));
    }
    if claim.stat == Some(Stat::Deviation) && claim.against.is_some() {
        return Err(Wrong::new("stat", "`stat = \"deviation\"` and `against` exclude one another"));
    }
    if let Some(plot) = claim.plot.as_ref().filter(|plot| !scenario.plot.contains_key(*plot)) {
        let suggestion = did_you_mean(plot, scenario.plot.keys().map(String::as_str));
        return Err(Wrong::new("plot", format!("no figure is defined as `[plot.{plot}]`{suggestion}")));
    }
    let (name, _) =
        scenario.experiment_of(claim).expect("the cases of this claim were found in its experiment");
    let binned =
        cells.iter().filter(|cell| cell.experiment == name).all(|cell| cell.settings.run.bins.is_some());
    for figure in claim.figures() {
        if scenario.figure.contains_key(figure) && !binned {
            let words = format!("`{figure}` needs calls in bins: set `bins` in the workload of `{name}`");
            return Err(Wrong::new("figure", words));
        }
    }
    Ok(())
}

pub(super) fn check_http(scenario: &Scenario) -> Result<(), Wrong> {
    let Some(http) = &scenario.http else { return Ok(()) };
    for name in &http.experiments {
        if !scenario.experiment.contains_key(name) {
            let suggestion = did_you_mean(name, scenario.experiment.keys().map(String::as_str));
            return Err(Wrong::new("experiments", format!("no experiment is called `{name}`{suggestion}")));
        }
    }
    let scale = TimeScale::parse(&http.time_scale.to_string());
    scale.map(|_| ()).map_err(|words| Wrong::new("time_scale", words))
}

/// Applies a setting of the form `key.key=value` to a scenario. The value is parsed as TOML. A value that is not valid TOML is taken as
/// plain text.
pub(super) fn apply(table: &mut Table, setting: &str) -> Result<(), String> {
    let refuse = |why: &str| format!("`--set {setting}`: {why}");
    let (path, text) = setting
        .split_once('=')
        .ok_or_else(|| refuse("write a key, `=` and a value, such as `server.max_busy=20`"))?;
    let value = format!("value = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut parsed| parsed.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()));
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    let Some((last, parents)) = keys.split_last().filter(|(last, _)| !last.is_empty()) else {
        return Err(refuse("the key is empty"));
    };
    // Missing sections are created, because a file may leave sections out. An experiment, figure, claim or plot that the file lacks is an
    // error.
    let mut place = table;
    for (depth, key) in keys.iter().enumerate() {
        let named = depth == 1 && matches!(parents[0], "experiment" | "figure" | "claim" | "plot");
        if named && !place.contains_key(*key) {
            let suggestion = vocabulary::did_you_mean(key, place.keys().map(String::as_str));
            return Err(refuse(&format!("there is no {} `{key}`{suggestion}", parents[0])));
        }
        if depth == parents.len() {
            break;
        }
        let next = place.entry(*key).or_insert_with(|| Value::Table(Table::new()));
        place = match next {
            Value::Table(inner) => inner,
            _ => return Err(refuse(&format!("`{key}` holds no keys"))),
        };
    }
    place.insert((*last).to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_toml_or_plain_text_and_tables_are_made_on_the_way() {
        let mut table: Table = "repeats = 3\n[server]\nmax_busy = 50\n[experiment.main]".parse().unwrap();
        for setting in
            ["server.max_busy=20", "server.service_time=exp(1s)", "experiment.main.repeats=5", "repeats=7"]
        {
            apply(&mut table, setting).unwrap();
        }
        let wanted: Table = "repeats = 7\n[server]\nmax_busy = 20\nservice_time = \"exp(1s)\"\n\
                             [experiment.main]\nrepeats = 5"
            .parse()
            .unwrap();
        assert_eq!(table, wanted);
    }

    #[test]
    fn nonsense_is_refused() {
        let mut table: Table = "repeats = 3\n[experiment.main]\n[plot.main]".parse().unwrap();
        for (setting, why) in [
            ("repeats", "write a key"),
            ("=3", "empty"),
            ("repeats.x=1", "holds no keys"),
            ("experiment.man.repeats=1", "there is no experiment `man`"),
            ("experiment.man={}", "there is no experiment `man`"),
            ("plot.man={}", "there is no plot `man`"),
        ] {
            assert!(apply(&mut table, setting).unwrap_err().contains(why), "{setting}");
        }
    }
}
