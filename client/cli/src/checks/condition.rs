//! Conditions judged on results.

use serde_json::Value;
use statistics::{Level, Method, Summary};
use vocabulary::did_you_mean;

use super::Subject;
use crate::args::Condition;
use crate::exit::{Exit, Fatal};
use crate::text::figures::{short, thousands};

type Statistic = fn(&Summary) -> f64;

/// What of several runs can be asked for.
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

/// The one figure that is missing when all is well.
const MISSING_WHEN_WELL: &str = "stalled_at_s";

/// A condition on one strategy.
#[derive(Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) condition: String,
    pub(super) strategy: String,
    /// The figure, or why there is none.
    pub(super) found: String,
    pub(super) failed: bool,
}

/// Refuses paths that no result has, before anything runs.
pub(super) fn refuse_unknown(conditions: &[Condition], paths: &[String]) -> anyhow::Result<()> {
    for condition in conditions {
        let known = |path: &str| paths.iter().any(|there| there == path);
        if !known(&condition.path) && !known(split(&condition.path).0) {
            let words = format!(
                "`--fail-if '{}'`: a result has no figure `{}`{}; docs/figures.md lists them",
                condition.text,
                condition.path,
                did_you_mean(&condition.path, paths.iter().map(String::as_str))
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(())
}

/// Refuses conditions on strategies that do not run.
pub(super) fn refuse_absent(conditions: &[Condition], strategies: &[&str]) -> anyhow::Result<()> {
    for condition in conditions {
        let Some(wanted) = &condition.strategy else { continue };
        if !strategies.iter().any(|strategy| is_meant(wanted, strategy)) {
            let words = format!(
                "`--fail-if '{}'`: there is no strategy `{wanted}` here{}; there are: {}",
                condition.text,
                did_you_mean(wanted, strategies.iter().copied()),
                strategies.join(", ")
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(())
}

/// A strategy is meant by all of its text, or by what stands before its parameters.
fn is_meant(wanted: &str, strategy: &str) -> bool {
    strategy == wanted || strategy.split(':').next() == Some(wanted)
}

/// Judges every condition on every strategy that it is about.
pub(super) fn judge(conditions: &[Condition], subjects: &[Subject]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for condition in conditions {
        let about =
            |subject: &&Subject| condition.strategy.as_ref().is_none_or(|it| is_meant(it, &subject.strategy));
        findings.extend(subjects.iter().filter(about).map(|subject| finding(condition, subject)));
    }
    findings
}

fn finding(condition: &Condition, subject: &Subject) -> Finding {
    let (found, failed) = match figure(&condition.path, &subject.runs) {
        Ok(figure) => (short(figure), condition.operator.holds(figure, condition.value)),
        Err(_) if split(&condition.path).0 == MISSING_WHEN_WELL => ("did not stall".to_owned(), false),
        Err(why) => (why, true),
    };
    Finding { condition: condition.text.clone(), strategy: subject.strategy.clone(), found, failed }
}

/// A figure of one or several runs by its path, with or without a statistic at the end.
fn figure(path: &str, runs: &[Value]) -> Result<f64, String> {
    let of = |path: &str| -> Vec<Option<&Value>> { runs.iter().map(|run| at(run, path)).collect() };
    let mut found = of(path);
    let mut statistic = STATISTICS[0].1;
    if found.iter().all(Option::is_none) {
        let (inner, named) = split(path);
        if let Some(named) = named {
            (found, statistic) = (of(inner), named);
        }
    }
    let values: Vec<f64> = found.iter().filter_map(|value| value.and_then(number)).collect();
    // Who did not stall has no time at which it did: those that have one count.
    let some_will_do = split(path).0 == MISSING_WHEN_WELL && !values.is_empty();
    if values.len() < runs.len() && !some_will_do {
        let missing = runs.len() - values.len();
        return Err(match runs.len() {
            0 => "there are no runs".to_owned(),
            1 => "the run has no such figure".to_owned(),
            all => {
                format!("{} of {} runs have no such figure", thousands(missing as u64), thousands(all as u64))
            }
        });
    }
    Summary::of(&values, Level::P95, Method::StudentT)
        .map(|figure| statistic(&figure))
        .ok_or_else(|| "the figure is no finite number".to_owned())
}

/// What stands at a path, even if it is null; nothing when there is no such path.
pub(super) fn at<'a>(run: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(run, |value, key| value.get(key))
}

/// Numbers, and truths as 1 or 0.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_bool().map(|truth| f64::from(u8::from(truth))))
}

/// A path without the statistic at its end, and that.
fn split(path: &str) -> (&str, Option<Statistic>) {
    let parts = path.rsplit_once('.').and_then(|(inner, last)| {
        STATISTICS.iter().find(|(name, _)| *name == last).map(|(_, statistic)| (inner, Some(*statistic)))
    });
    parts.unwrap_or((path, None))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn subject(strategy: &str, p99s: &[f64]) -> Subject {
        let runs = p99s
            .iter()
            .map(|p99| json!({ "op_latency_ms": { "p99": p99 }, "makespan_complete": true, "stalled_at_s": null }))
            .collect();
        Subject { strategy: strategy.to_owned(), runs }
    }

    fn failed(condition: &str, subjects: &[Subject]) -> Vec<(String, String)> {
        let conditions = [condition.parse().unwrap()];
        let findings = judge(&conditions, subjects);
        findings.into_iter().filter(|one| one.failed).map(|one| (one.strategy, one.found)).collect()
    }

    #[test]
    fn the_mean_counts_unless_another_statistic_is_named() {
        let runs = [subject("aimd", &[100.0, 200.0, 600.0])];
        assert!(failed("op_latency_ms.p99 > 300", &runs).is_empty());
        assert_eq!(failed("op_latency_ms.p99 >= 300", &runs), [("aimd".into(), "300".into())]);
        assert_eq!(failed("op_latency_ms.p99.max > 300", &runs), [("aimd".into(), "600".into())]);
        assert!(failed("op_latency_ms.p99.p50 != 200", &runs).is_empty());
    }

    #[test]
    fn a_figure_that_is_missing_fails_but_no_stall_is_well() {
        let runs = [subject("aimd", &[1.0])];
        assert_eq!(failed("late_share > 0.1", &runs), [("aimd".into(), "the run has no such figure".into())]);
        assert!(failed("stalled_at_s > 0", &runs).is_empty());
        assert_eq!(failed("makespan_complete == true", &runs).len(), 1);
    }

    #[test]
    fn a_condition_can_be_about_one_strategy() {
        let runs = [subject("aimd:beta=0.5", &[5.0]), subject("none", &[9.0])];
        assert_eq!(failed("op_latency_ms.p99 > 1", &runs).len(), 2);
        assert_eq!(failed("op_latency_ms.p99 of aimd > 1", &runs).len(), 1);
        let wanted = ["op_latency_ms.p99 of amid > 1".parse().unwrap()];
        let error = refuse_absent(&wanted, &["aimd:beta=0.5", "none"]).unwrap_err().to_string();
        assert!(error.contains("there are: aimd:beta=0.5, none"), "{error}");
    }

    #[test]
    fn unknown_paths_are_refused_with_the_nearest() {
        let paths = ["amplification".to_owned(), "op_latency_ms.p99".to_owned()];
        let refused = |text: &str| refuse_unknown(&[text.parse().unwrap()], &paths);
        let error = refused("amplifcation > 1").unwrap_err().to_string();
        assert!(error.contains("did you mean `amplification`?"), "{error}");
        assert!(refused("amplification.p95 > 1").is_ok() && refused("op_latency_ms.p99.max > 1").is_ok());
        assert!(refused("op_latency_ms > 1").is_err());
    }
}
