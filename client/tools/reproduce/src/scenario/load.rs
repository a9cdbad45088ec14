//! Loading of scenarios: the whole scenario is checked before any run begins.

use experiments::{Error, ErrorKind};
use results::{FIGURES, Kind};
use toml::{Table, Value};
use vocabulary::{TimeScale, did_you_mean};

use crate::scenario::cases::cases;
use crate::scenario::cells::{Cell, cells};
use crate::scenario::wrong::{Wrong, refuse};
use crate::scenario::{Claim, Condition, Scenario, Stat, Text};

/// Parses a scenario, applies the `--set` settings to it, and checks the result.
///
/// # Errors
/// The error contains the position of the fault in the scenario's text, and the values that are accepted at this position.
pub fn load(text: &Text, settings: &[String]) -> Result<(Scenario, Vec<Cell>), Error> {
    let mut scenario = parse(text, settings)?;
    let with = if settings.is_empty() { String::new() } else { with_settings(settings) };
    let located = |wrong: Wrong| {
        let message = format!("scenario {}{with}", text.of(&wrong.path));
        Error::because(ErrorKind::Usage, message, wrong.to_string())
    };
    let cells = cells(&scenario).map_err(located)?;
    check_labels(&scenario, &cells, settings).map_err(Error::usage)?;
    check_figures(&scenario).map_err(located)?;
    for (index, claim) in scenario.claim.iter().enumerate() {
        check_claim(&scenario, claim, &cells)
            .map_err(|wrong| located(wrong.within(&["claim", &index.to_string()])))?;
    }
    let mut found = Vec::new();
    for (name, plot) in &scenario.plot {
        found.push(match plot.check(&scenario, &cells) {
            Ok(basis) => Some(basis),
            // `--set` may reduce the strategies or points of a scenario. A plot that needs one of the removed strategies or points is then
            // left out, and is not an error.
            Err(_) if !settings.is_empty() => None,
            Err(wrong) => return Err(located(wrong.within(&["plot", name]))),
        });
    }
    for (plot, basis) in scenario.plot.values_mut().zip(found) {
        plot.basis = basis;
    }
    scenario.plot.retain(|_, plot| plot.basis.is_some());
    check_http(&scenario).map_err(|wrong| located(wrong.within(&["http"])))?;
    Ok((scenario, cells))
}

fn with_settings(settings: &[String]) -> String {
    format!(" with `--set {}`", settings.join("` `--set "))
}

/// Returns the key that a `--set` setting changes.
fn key_of(setting: &str) -> &str {
    setting.split('=').next().unwrap_or_default()
}

/// Parsing of a scenario file, and application of the `--set` flags to it.
pub(super) fn parse(text: &Text, settings: &[String]) -> Result<Scenario, Error> {
    let unreadable = |error: &toml::de::Error, place: String| {
        Error::usage(format!("scenario {place}: {}", with_suggestion(error.message())))
    };
    // The text is parsed once without the `--set` settings, because errors have a line number only in the original text.
    let scenario: Scenario = toml::from_str(&text.text).map_err(|error| match other_format(&text.text) {
        Some(format) => Error::usage(format!(
            "{} is not TOML (it looks like {format}); scenarios are TOML, see docs/scenarios.md",
            text.name
        )),
        None => unreadable(&error, text.at(error.span().map(|span| span.start))),
    })?;
    if settings.is_empty() {
        return Ok(scenario);
    }
    let mut table: Table =
        text.text.parse().map_err(|error: toml::de::Error| unreadable(&error, text.name.clone()))?;
    for (index, setting) in settings.iter().enumerate() {
        let key = |setting: &str| key_of(setting).replace(' ', "");
        if settings[..index].iter().any(|before| key(before) == key(setting)) {
            let words = format!("`--set {setting}`: `{}` is set twice; keep one of them", key(setting));
            return Err(Error::usage(words));
        }
        apply(&mut table, setting).map_err(Error::usage)?;
        let key = key_of(setting);
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
    // Read from text like the file, so that the scenario is compiled for one deserializer only.
    toml::from_str(&table.to_string())
        .map_err(|error| unreadable(&error, text.name.clone() + &with_settings(settings)))
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
fn check_labels(scenario: &Scenario, cells: &[Cell], settings: &[String]) -> Result<(), String> {
    for setting in settings {
        let Some(label) = key_of(setting).trim().strip_prefix("strategies.").map(str::trim) else { continue };
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

fn check_figures(scenario: &Scenario) -> Result<(), Wrong> {
    for (name, derived) in &scenario.figure {
        if let Some(fault) = derived.fault() {
            return refuse(name, fault).map_err(|wrong| wrong.within(&["figure"]));
        }
    }
    let check = |figure: &str, key: &str, section: [&str; 2]| {
        if scenario.figure.contains_key(figure) || numbers().any(|known| known == figure) {
            return Ok(());
        }
        let all = numbers().chain(scenario.figure.keys().map(String::as_str));
        let words = format!(
            "unknown figure `{figure}`{}; it is neither a number of the result, such as `attempts.total`, nor defined \
             under `[figure]`",
            did_you_mean(figure, all)
        );
        Err(Wrong::new(key, words).within(&section))
    };
    for (name, experiment) in &scenario.experiment {
        for column in &experiment.columns {
            check(&column.figure, "columns", ["experiment", name])?;
        }
    }
    for (index, claim) in scenario.claim.iter().enumerate() {
        for figure in claim.figures() {
            check(figure, "figure", ["claim", &index.to_string()])?;
        }
    }
    Ok(())
}

fn check_claim(scenario: &Scenario, claim: &Claim, cells: &[Cell]) -> Result<(), Wrong> {
    cases(scenario, claim, cells)?;
    Condition::new(claim)?;
    if claim.judged_twice() {
        let words = "`stat` applies to all runs together and `one_run` to each run; leave one of them out";
        return refuse("stat", words);
    }
    if claim.stat == Some(Stat::Deviation) && claim.against.is_some() {
        return refuse("stat", "`stat = \"deviation\"` and `against` exclude one another");
    }
    if let Some(plot) = claim.plot.as_ref().filter(|plot| !scenario.plot.contains_key(*plot)) {
        let suggestion = did_you_mean(plot, scenario.plot.keys().map(String::as_str));
        return refuse("plot", format!("no figure is defined as `[plot.{plot}]`{suggestion}"));
    }
    let (name, _) = scenario.existing(claim.experiment.as_deref(), "the claim")?;
    let binned =
        cells.iter().filter(|cell| cell.experiment == name).all(|cell| cell.settings.run.bins.is_some());
    for figure in claim.figures() {
        if scenario.figure.contains_key(figure) && !binned {
            let words = format!("`{figure}` needs calls in bins: set `bins` in the workload of `{name}`");
            return refuse("figure", words);
        }
    }
    Ok(())
}

fn check_http(scenario: &Scenario) -> Result<(), Wrong> {
    let Some(http) = &scenario.http else { return Ok(()) };
    for name in &http.experiments {
        if !scenario.experiment.contains_key(name) {
            let suggestion = did_you_mean(name, scenario.experiment.keys().map(String::as_str));
            return refuse("experiments", format!("no experiment is called `{name}`{suggestion}"));
        }
    }
    TimeScale::parse(&http.time_scale.to_string()).or_else(|words| refuse("time_scale", words))?;
    Ok(())
}

/// Applies a setting of the form `key.key=value` to a scenario. The value is parsed as TOML. A value that is not valid TOML is taken as
/// plain text.
fn apply(table: &mut Table, setting: &str) -> Result<(), String> {
    let fault = |why: &str| format!("`--set {setting}`: {why}");
    let (path, text) = setting
        .split_once('=')
        .ok_or_else(|| fault("write a key, `=` and a value, such as `server.max_busy=20`"))?;
    let value = format!("value = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut parsed| parsed.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()));
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    let Some((last, parents)) = keys.split_last().filter(|(last, _)| !last.is_empty()) else {
        return Err(fault("the key is empty"));
    };
    // Missing sections are created, because a file may leave sections out. An experiment, figure, claim or plot that the file lacks is an
    // error.
    let mut place = table;
    for (depth, key) in keys.iter().enumerate() {
        let named = depth == 1 && matches!(parents[0], "experiment" | "figure" | "claim" | "plot");
        if named && !place.contains_key(*key) {
            let suggestion = did_you_mean(key, place.keys().map(String::as_str));
            return Err(fault(&format!("there is no {} `{key}`{suggestion}", parents[0])));
        }
        if depth == parents.len() {
            break;
        }
        let next = place.entry(*key).or_insert_with(|| Value::Table(Table::new()));
        place = match next {
            Value::Table(inner) => inner,
            _ => return Err(fault(&format!("`{key}` holds no keys"))),
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
