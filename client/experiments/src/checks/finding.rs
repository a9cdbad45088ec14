//! Evaluation of conditions on results, such as `amplification > 1.2` in `--fail-if`.

use results::numbers::{short, thousands};
use results::{Column, Figure, RunFigures};
use statistics::{Level, Method, Summary};
use vocabulary::did_you_mean;

use crate::checks::{Condition, Subject};
use crate::error::refuse;

type Statistic = fn(&Summary) -> f64;

/// Statistics over runs, by name. The path of a figure in a condition may end with such a name, as in `makespan_s.p95`. Without a name, the
/// first statistic (the mean) is used.
const STATISTICS: [(&str, Statistic); 9] = [
    ("mean", |figure| figure.mean),
    ("sd", |figure| figure.deviation.unwrap_or(0.0)),
    ("min", |figure| figure.min),
    ("p5", |figure| figure.p5),
    ("p25", |figure| figure.p25),
    ("p50", |figure| figure.p50),
    ("p75", |figure| figure.p75),
    ("p95", |figure| figure.p95),
    ("max", |figure| figure.max),
];

/// Path of the time at which a run stalled. It is the only figure that healthy runs do not have.
const MISSING_WHEN_WELL: &str = "stalled_at_s";

#[derive(Debug, PartialEq)]
pub struct Finding {
    pub condition: String,
    pub strategy: String,
    /// Value of the figure as text, or the reason why the figure is missing.
    pub found: String,
    /// True if the condition holds, because a condition describes a state that must not occur. Also true if the condition's figure is
    /// missing. The exception is `stalled_at_s`: only stalled runs have this figure, so its absence is not a failure.
    pub failed: bool,
}

pub fn refuse_unknown(conditions: &[Condition]) -> anyhow::Result<()> {
    let columns = Column::all();
    let paths: Vec<&str> = columns.iter().map(Column::path).collect();
    for condition in conditions {
        let known = |path: &str| paths.contains(&path);
        if !known(&condition.path) && !known(split(&condition.path).0) {
            let end = format!(".{}", condition.path);
            let same_end: Vec<&str> = paths.iter().copied().filter(|path| path.ends_with(&end)).collect();
            let why = match same_end[..] {
                [one] => format!("did you mean {one}?"),
                [one, other, ..] if one.contains("_ms.") => format!("did you mean {one} (ms) or {other}?"),
                [one, other, ..] => format!("did you mean {one} or {other}?"),
                [] => format!(
                    "there is no figure `{}`{}; docs/figures.md lists them",
                    condition.path,
                    did_you_mean(&condition.path, paths.iter().copied())
                ),
            };
            let words = format!("--fail-if '{}': {why}", condition.text);
            return refuse(words);
        }
    }
    Ok(())
}

pub fn refuse_absent(conditions: &[Condition], strategies: &[&str]) -> anyhow::Result<()> {
    for condition in conditions {
        let Some(wanted) = &condition.strategy else { continue };
        if !strategies.iter().any(|strategy| is_meant(wanted, strategy)) {
            let words = format!(
                "`--fail-if '{}'`: there is no strategy `{wanted}` here{}; there are: {}",
                condition.text,
                did_you_mean(wanted, strategies.iter().copied()),
                strategies.join(", ")
            );
            return refuse(words);
        }
    }
    Ok(())
}

fn is_meant(wanted: &str, strategy: &str) -> bool {
    strategy == wanted || strategy.split(':').next() == Some(wanted)
}

pub fn judge(conditions: &[Condition], subjects: &[Subject<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for condition in conditions {
        let about = |subject: &&Subject<'_>| {
            condition.strategy.as_ref().is_none_or(|it| is_meant(it, &subject.strategy))
        };
        findings.extend(subjects.iter().filter(about).map(|subject| finding(condition, subject)));
    }
    findings
}

fn finding(condition: &Condition, subject: &Subject<'_>) -> Finding {
    let Condition { text, path, operator, value, .. } = condition;
    let of_figure = || match figure(path, subject.runs) {
        Ok(figure) => (short(figure), operator.holds(figure, *value)),
        Err(_) if split(path).0 == MISSING_WHEN_WELL => ("did not stall".to_owned(), false),
        Err(why) => (why, true),
    };
    let (found, failed) = truth(condition, subject.runs).unwrap_or_else(of_figure);
    Finding { condition: text.clone(), strategy: subject.strategy.clone(), found, failed }
}

/// Checks a condition that compares a figure with `true` or `false`. Each run is checked separately, because the mean of several truth
/// values may be neither true nor false. The check fails if the condition holds in at least one run. Returns `None` if the condition
/// compares with a number, or if a run lacks the figure.
fn truth(condition: &Condition, runs: &RunFigures) -> Option<(String, bool)> {
    let figure = Figure::find(&condition.path).filter(|_| condition.is_truth)?;
    let values = runs.known(figure.path);
    if values.is_empty() || values.len() < runs.runs() {
        return None;
    }
    let holds = |value: f64| condition.operator.holds(value, condition.value);
    let failed = values.iter().filter(|value| holds(**value)).count();
    let word = |value: f64| if value == 0.0 { "false" } else { "true" };
    let shown = values.iter().copied().find(|value| holds(*value)).unwrap_or(values[0]);
    let found = match (values.len(), failed) {
        (1, _) => word(shown).to_owned(),
        (all, 0) => format!("{} in all {} runs", word(shown), thousands(all as u64)),
        (all, some) => {
            format!("{} in {} of {} runs", word(shown), thousands(some as u64), thousands(all as u64))
        }
    };
    Some((found, failed > 0))
}

fn figure(path: &str, runs: &RunFigures) -> Result<f64, String> {
    let (figure, statistic) = meant(path);
    let values = figure.map_or(&[][..], |figure| runs.known(figure.path));
    // Only stalled runs have the figure `stalled_at_s`. Its statistic is therefore computed over the stalled runs, while any other figure
    // must exist in all runs.
    let some_will_do = split(path).0 == MISSING_WHEN_WELL && !values.is_empty();
    if values.len() < runs.runs() && !some_will_do {
        let missing = runs.runs() - values.len();
        return Err(match runs.runs() {
            0 => "there are no runs".to_owned(),
            1 => "the run does not have this figure".to_owned(),
            all => {
                format!(
                    "{} of {} runs do not have this figure",
                    thousands(missing as u64),
                    thousands(all as u64)
                )
            }
        });
    }
    Summary::new(values, Level::P95, Method::StudentT)
        .map(|figure| statistic(&figure))
        .ok_or_else(|| "the figure is not a finite number".to_owned())
}

pub fn asked_for(conditions: &[Condition]) -> impl Iterator<Item = &'static Figure> {
    conditions.iter().filter_map(|condition| meant(&condition.path).0)
}

fn meant(path: &str) -> (Option<&'static Figure>, Statistic) {
    let (inner, named) = split(path);
    match (Figure::find(path), named) {
        (None, Some(named)) => (Figure::find(inner), named),
        (figure, _) => (figure, STATISTICS[0].1),
    }
}

fn split(path: &str) -> (&str, Option<Statistic>) {
    let parts = path.rsplit_once('.').and_then(|(inner, last)| {
        STATISTICS.iter().find(|(name, _)| *name == last).map(|(_, statistic)| (inner, Some(*statistic)))
    });
    parts.unwrap_or((path, None))
}

#[cfg(test)]
mod tests {
    use results::RunResult;

    use super::*;

    fn runs(strategy: &str, p99s: &[f64]) -> (String, Vec<RunResult>) {
        let run = |p99: &f64| -> RunResult {
            let text = format!(
                r#"{{"schema_version": 1, "mode": "simulated", "strategy": "{strategy}", "seed": 1,
                     "ops": {{"total": 1, "succeeded": 1, "given_up": 0}}, "attempts": {{"total": 1}},
                     "makespan_complete": true, "op_latency_ms": {{"p99": {p99}}}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        (strategy.to_owned(), p99s.iter().map(run).collect())
    }

    fn failed(condition: &str, strategies: &[(String, Vec<RunResult>)]) -> Vec<(String, String)> {
        let conditions = [condition.parse().unwrap()];
        let kept = |(_, runs): &(String, Vec<RunResult>)| RunFigures::new(asked_for(&conditions), runs);
        let kept: Vec<RunFigures> = strategies.iter().map(kept).collect();
        let named = strategies.iter().zip(&kept);
        let subjects: Vec<Subject<'_>> = named.map(|((name, _), runs)| Subject::new(name, runs)).collect();
        let findings = judge(&conditions, &subjects);
        findings.into_iter().filter(|one| one.failed).map(|one| (one.strategy, one.found)).collect()
    }

    #[test]
    fn the_mean_counts_unless_another_statistic_is_named() {
        let runs = [runs("aimd", &[100.0, 200.0, 600.0])];
        assert!(failed("op_latency_ms.p99 > 300", &runs).is_empty());
        assert_eq!(failed("op_latency_ms.p99 >= 300", &runs), [("aimd".into(), "300".into())]);
        assert_eq!(failed("op_latency_ms.p99.max > 300", &runs), [("aimd".into(), "600".into())]);
        assert!(failed("op_latency_ms.p99.p50 != 200", &runs).is_empty());
    }

    #[test]
    fn a_figure_that_is_missing_fails_but_no_stall_is_well() {
        let runs = [runs("aimd", &[1.0])];
        assert_eq!(
            failed("late_share > 0.1", &runs),
            [("aimd".into(), "the run does not have this figure".into())]
        );
        assert!(failed("stalled_at_s > 0", &runs).is_empty());
        assert_eq!(failed("makespan_complete == true", &runs).len(), 1);
    }

    #[test]
    fn a_condition_can_be_about_one_strategy() {
        let runs = [runs("aimd:beta=0.5", &[5.0]), runs("none", &[9.0])];
        assert_eq!(failed("op_latency_ms.p99 > 1", &runs).len(), 2);
        assert_eq!(failed("op_latency_ms.p99 of aimd > 1", &runs).len(), 1);
        let wanted = ["op_latency_ms.p99 of amid > 1".parse().unwrap()];
        let error = refuse_absent(&wanted, &["aimd:beta=0.5", "none"]).unwrap_err().to_string();
        assert!(error.contains("there are: aimd:beta=0.5, none"), "{error}");
    }

    #[test]
    fn unknown_paths_are_refused_with_the_nearest() {
        let refused = |text: &str| refuse_unknown(&[text.parse().unwrap()]);
        let error = refused("amplifcation > 1").unwrap_err().to_string();
        assert!(error.contains("did you mean `amplification`?"), "{error}");
        let error = refused("p99 > 100").unwrap_err().to_string();
        let words = "did you mean op_latency_ms.p99 (ms) or attempt_latency_ms.p99?";
        assert_eq!(error, format!("--fail-if 'p99 > 100': {words}"));
        assert!(refused("amplification.p95 > 1").is_ok() && refused("op_latency_ms.p99.max > 1").is_ok());
        assert!(refused("op_latency_ms > 1").is_err());
    }
}
