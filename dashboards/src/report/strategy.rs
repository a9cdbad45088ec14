//! Runs of one strategy under the same conditions. The seeds of the runs may differ.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use results::{Conditions, RepeatKey, RunResult, Setting};

use super::Run;
use super::wrapping::shortened;

/// Property by which groups of runs of one strategy may differ, as (name, function that returns the value of the
/// property).
type Aspect = (&'static str, fn(&RunResult) -> Option<String>);

const ASPECTS: [Aspect; 7] = [
    ("ops", |run| run.config.workload.ops.map(|ops| ops.to_string())),
    ("clients", |run| {
        Some(run.config.workload.clients).filter(|count| *count > 0).map(|count| count.to_string())
    }),
    ("in flight", |run| run.config.workload.in_flight.map(|count| count.to_string())),
    ("per s", |run| run.config.workload.rate_per_s.map(|rate| Setting::Number(rate).to_string())),
    ("max busy", |run| run.config.server_model.as_ref()?.get("max_busy").map(ToString::to_string)),
    ("", |run| Some(run.mode.name().to_owned())),
    ("", |run| Some(run.config.server.clone()).filter(|server| !server.is_empty())),
];

const MAX_LISTED: usize = 3;

/// Maximum length of a setting's value in a label, in characters.
const MAX_VALUE: usize = 40;

/// Prefixes of the names of settings that a server preset determines. Strategy labels leave out these settings, because
/// the name of the preset covers them.
const OF_A_PRESET: [&str; 2] = ["server_model.answers", "server_model.policy"];

#[derive(Clone, Debug)]
pub(super) struct Strategy {
    /// Strategy as given on the command line, followed by the settings that distinguish these runs from other runs of
    /// the strategy.
    pub(super) label: String,
    pub(super) runs: Vec<Run>,
    /// Index of the run with the median makespan. Plots show this run.
    median: usize,
}

impl Strategy {
    pub(super) fn alone(label: String, run: Run) -> Self {
        Self { label, runs: vec![run], median: 0 }
    }

    /// Returns the run with the median makespan. Incomplete runs are ordered after all complete ones.
    pub(super) fn median(&self) -> &Run {
        &self.runs[self.median]
    }

    /// Returns the point of the median run, followed by the points of all runs.
    pub(super) fn median_and_runs(&self, point: impl Fn(&Run) -> Option<(f64, f64)>) -> Vec<(f64, f64)> {
        std::iter::once(self.median()).chain(&self.runs).filter_map(point).collect()
    }

    pub(super) fn complete(&self) -> bool {
        self.runs.iter().all(|run| run.result.makespan_complete)
    }

    pub(super) fn share_is_lower_bound(&self) -> bool {
        self.runs.iter().any(|run| run.result.share_is_lower_bound)
    }

    pub(super) fn stalled(&self) -> bool {
        self.runs.iter().any(|run| run.result.stalled_at_s.is_some())
    }

    pub(super) fn values(&self, figure: impl Fn(&Run) -> Option<f64>) -> Vec<f64> {
        let mut values: Vec<f64> = self.runs.iter().filter_map(figure).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Returns the conditions of the strategy's runs, without the seed and the strategy. Strategies with the same
    /// conditions can be compared.
    pub(super) fn conditions(&self) -> Conditions {
        Conditions::from_run(&self.runs[0].result).of_any_seed().of_any_strategy()
    }
}

pub(super) fn strategies(runs: Vec<Run>) -> Vec<Strategy> {
    let mut groups: Vec<(RepeatKey, Vec<Run>)> = Vec::new();
    for run in runs {
        let key = RepeatKey::from_run(&run.result);
        match groups.iter_mut().find(|(there, _)| *there == key) {
            Some((_, runs)) => runs.push(run),
            None => groups.push((key, vec![run])),
        }
    }
    let groups: Vec<Vec<Run>> = groups.into_iter().map(|(_, runs)| runs).collect();
    let labels = labels(&groups);
    let strategy = |(runs, label): (Vec<Run>, String)| {
        let median = median(&runs);
        Strategy { label, runs, median }
    };
    groups.into_iter().zip(labels).map(strategy).collect()
}

fn median(runs: &[Run]) -> usize {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let makespan_s = |index: &usize| runs[*index].makespan_s().unwrap_or(f64::MAX);
    order.sort_by(|a, b| makespan_s(a).total_cmp(&makespan_s(b)));
    order.sort_by_key(|index| !runs[*index].result.makespan_complete);
    order[(runs.len() - 1) / 2]
}

fn labels(groups: &[Vec<Run>]) -> Vec<String> {
    let mut labels: Vec<String> = groups.iter().map(|runs| runs[0].result.strategy.clone()).collect();
    for (name, value) in ASPECTS {
        let values: Vec<Option<String>> = groups.iter().map(|runs| value(&runs[0].result)).collect();
        let before = labels.clone();
        for (index, label) in labels.iter_mut().enumerate() {
            let differs = (0..groups.len())
                .any(|other| before[other] == before[index] && values[other] != values[index]);
            if let Some(value) = values[index].as_ref().filter(|_| differs) {
                label.push_str(format!(", {value} {name}").trim_end());
            }
        }
    }
    tell_settings(groups, &mut labels);
    let before = labels.clone();
    for (index, label) in labels.iter_mut().enumerate() {
        let same = before[..index].iter().filter(|there| **there == before[index]).count();
        if same > 0 {
            let _ = write!(label, " ({})", same + 1);
        }
    }
    labels
}

fn tell_settings(groups: &[Vec<Run>], labels: &mut [String]) {
    let settings: Vec<_> =
        groups.iter().map(|runs| Conditions::from_run(&runs[0].result).of_any_seed().settings()).collect();
    let before = labels.to_vec();
    for (index, label) in labels.iter_mut().enumerate() {
        let alike: Vec<_> = (0..groups.len()).filter(|other| before[*other] == before[index]).collect();
        let keys: BTreeSet<_> = alike.iter().flat_map(|other| settings[*other].keys()).collect();
        let differing = keys
            .into_iter()
            .filter(|key| alike.iter().any(|other| settings[*other].get(*key) != settings[index].get(*key)));
        let has_preset = settings[index].contains_key("server_model.preset");
        let listed =
            differing.filter(|key| !(has_preset && OF_A_PRESET.iter().any(|of| key.starts_with(of))));
        for (key, value) in listed.filter_map(|key| Some((key, settings[index].get(key)?))).take(MAX_LISTED) {
            let name = key.rsplit('.').next().unwrap_or(key).replace('_', " ");
            let _ = write!(label, ", {name} {}", shortened(value, MAX_VALUE));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn written(strategy: &str, ops: u64, seed: u64, makespan_s: Option<f64>) -> Value {
        json!({
            "schema_version": 1, "mode": "simulated", "strategy": strategy, "seed": seed,
            "config": { "workload": { "ops": ops }, "seed": seed, "server_model": { "seed": seed } },
            "ops": { "total": ops, "succeeded": ops, "given_up": 0 }, "attempts": { "total": ops },
            "makespan_s": makespan_s, "makespan_complete": makespan_s.is_some(),
        })
    }

    fn run(strategy: &str, ops: u64, seed: u64, makespan_s: Option<f64>) -> Run {
        Run::read(&written(strategy, ops, seed, makespan_s))
    }

    #[test]
    fn runs_are_grouped_by_all_but_seed_and_named_by_differences() {
        let runs = vec![
            run("aimd", 10, 1, Some(1.0)),
            run("none", 10, 1, Some(1.0)),
            run("aimd", 10, 2, Some(2.0)),
            run("aimd", 20, 1, Some(3.0)),
        ];
        let groups = strategies(runs);
        let named: Vec<_> = groups.iter().map(|group| (group.label.as_str(), group.runs.len())).collect();
        assert_eq!(named, [("aimd, 10 ops", 2), ("none", 1), ("aimd, 20 ops", 1)]);
        assert_ne!(groups[0].conditions(), groups[2].conditions());
        assert_eq!(groups[0].conditions(), groups[1].conditions());
    }

    #[test]
    fn strategy_flags_and_keys_of_later_versions_split_groups() {
        for (place, key, labels) in [
            ("/config", "max_attempts", ["aimd", "aimd (2)"]),
            ("/config", "retry_after", ["aimd", "aimd (2)"]),
            ("/config", "novel", ["aimd, novel 3", "aimd, novel 5"]),
            ("/config/workload", "think_time", ["aimd, think time 3", "aimd, think time 5"]),
        ] {
            let groups = ["3", "5", "3"].map(|value| {
                let mut run = written("aimd", 10, 1, Some(1.0));
                run.pointer_mut(place).unwrap()[key] = json!(value);
                Run::read(&run)
            });
            let groups = strategies(groups.into());
            let named: Vec<_> = groups.iter().map(|group| (group.label.as_str(), group.runs.len())).collect();
            assert_eq!(named, [(labels[0], 2), (labels[1], 1)], "{key}");
        }
    }

    #[test]
    fn labels_name_other_differences_and_number_equal_groups() {
        let with = |fault: &str, novel: u32| {
            let mut run = written("aimd", 10, 1, Some(1.0));
            run["config"]["server_model"]["fault"] = json!(fault);
            run["config"]["max_attempts"] = json!(novel.to_string());
            Run::read(&run)
        };
        let runs = vec![with("", 1), with("reset:1%", 1), with("", 2), with("", 3)];
        let named: Vec<_> = strategies(runs).into_iter().map(|group| group.label).collect();
        assert_eq!(named, ["aimd", "aimd, fault reset:1%", "aimd (2)", "aimd (3)"]);
    }

    #[test]
    fn the_median_run_is_drawn_and_incomplete_runs_count_as_last() {
        let makespans = [None, Some(9.0), Some(3.0), Some(5.0), None];
        let runs = (1..).zip(makespans).map(|(seed, makespan)| run("aimd", 10, seed, makespan)).collect();
        assert_eq!(strategies(runs)[0].median().makespan_s(), Some(9.0));
    }
}
