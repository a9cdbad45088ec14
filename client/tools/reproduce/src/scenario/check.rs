//! Checks that everything that a scenario refers to exists: labels of strategies, figures, the cells of claims, and experiments to run over
//! HTTP.

use results::{FIGURES, Kind};
use vocabulary::{TimeScale, did_you_mean};

use crate::scenario::cases::cases;
use crate::scenario::cells::Cell;
use crate::scenario::claim::{Claim, Stat};
use crate::scenario::condition::Condition;
use crate::scenario::file::Scenario;
use crate::scenario::wrong::Wrong;

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
