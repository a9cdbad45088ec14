//! Runs of one strategy under the same conditions, whatever their seeds.

use serde_json::Value;

use super::reading::look;
use super::run::Run;

/// What may tell groups of runs of one strategy apart, and how it is called.
const ASPECTS: [(&str, &str); 7] = [
    ("config.workload.ops", "ops"),
    ("config.workload.clients", "clients"),
    ("config.workload.in_flight", "in flight"),
    ("config.workload.rate_per_s", "per s"),
    ("config.server_model.max_busy", "max busy"),
    ("mode", ""),
    ("config.server", ""),
];

/// Runs of one strategy.
#[derive(Clone, Debug)]
pub(super) struct Strategy {
    /// The strategy as typed, and what else sets these runs apart.
    pub(super) label: String,
    pub(super) runs: Vec<Run>,
    /// Which run is drawn: the one in the middle by makespan.
    median: usize,
}

impl Strategy {
    /// One run under a name of its own.
    pub(super) fn alone(label: String, run: Run) -> Self {
        Self { label, runs: vec![run], median: 0 }
    }

    /// The run in the middle by makespan; one that did not complete comes after all that did.
    pub(super) fn median(&self) -> &Run {
        &self.runs[self.median]
    }

    /// Whether every op of every run succeeded.
    pub(super) fn complete(&self) -> bool {
        self.runs.iter().all(|run| run.complete)
    }

    /// Whether a run of it ended because nothing succeeded any more.
    pub(super) fn stalled(&self) -> bool {
        self.runs.iter().any(|run| run.stalled)
    }

    /// Whether it knows what no client can know.
    pub(super) fn is_yardstick(&self) -> bool {
        self.runs[0].strategy.split([':', '+']).next() == Some("oracle")
    }

    /// Every run's value of a figure, in rising order.
    pub(super) fn values(&self, figure: impl Fn(&Run) -> Option<f64>) -> Vec<f64> {
        let mut values: Vec<f64> = self.runs.iter().filter_map(figure).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Everything that was the same for strategies that can be compared.
    pub(super) fn conditions(&self) -> Value {
        let mut conditions = conditions(&self.runs[0]);
        for own in ["max_attempts", "retry_after"] {
            conditions[0].as_object_mut().map(|config| config.remove(own));
        }
        // The oracle shares one instance whatever was asked for.
        conditions[0]["workload"].as_object_mut().map(|workload| workload.remove("share_strategy"));
        conditions
    }
}

/// Runs by strategy and conditions.
pub(super) fn strategies(runs: Vec<Run>) -> Vec<Strategy> {
    let mut groups: Vec<((String, Value), Vec<Run>)> = Vec::new();
    for run in runs {
        let key = (run.strategy.clone(), conditions(&run));
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

/// The configuration without strategy, seeds and what is different in every run, and the mode.
fn conditions(run: &Run) -> Value {
    let mut config = look(&run.raw, "config").cloned().unwrap_or_default();
    let embedded = config.get("server").and_then(Value::as_str) == Some("embedded");
    if let Some(config) = config.as_object_mut() {
        for own in ["command_line", "strategy", "seed", "repeats", "version", "program"] {
            config.remove(own);
        }
        if embedded {
            // Its port is another one each time.
            config.remove("target");
        }
        if let Some(model) = config.get_mut("server_model").and_then(Value::as_object_mut) {
            model.remove("seed");
        }
    }
    Value::Array(vec![config, Value::from(run.mode.as_str())])
}

fn median(runs: &[Run]) -> usize {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let key = |index: &usize| (!runs[*index].complete, runs[*index].makespan_s.unwrap_or(f64::MAX));
    order.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    order[(runs.len() - 1) / 2]
}

/// The strategies' names, with as much of the conditions as tells them apart.
fn labels(groups: &[Vec<Run>]) -> Vec<String> {
    let mut labels: Vec<String> = groups.iter().map(|runs| runs[0].strategy.clone()).collect();
    for (path, name) in ASPECTS {
        let values: Vec<Option<&Value>> = groups.iter().map(|runs| look(&runs[0].raw, path)).collect();
        let before = labels.clone();
        for (index, label) in labels.iter_mut().enumerate() {
            let alike = (0..groups.len()).filter(|other| before[*other] == before[index]);
            let differs = alike.into_iter().any(|other| values[other] != values[index]);
            if let Some(value) = values[index].filter(|_| differs) {
                let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
                label.push_str(format!(", {value} {name}").trim_end());
            }
        }
    }
    for index in 0..labels.len() {
        let same = labels[..index].iter().filter(|label| **label == labels[index]).count();
        if same > 0 {
            labels[index] = format!("{} ({})", labels[index], same + 1);
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(strategy: &str, ops: u64, seed: u64, makespan_s: Option<f64>) -> Run {
        Run::read(&json!({
            "schema_version": 1, "mode": "simulated", "strategy": strategy, "seed": seed,
            "config": { "workload": { "ops": ops }, "seed": seed, "server_model": { "seed": seed } },
            "ops": { "total": ops, "succeeded": ops, "given_up": 0 }, "attempts": { "total": ops },
            "makespan_s": makespan_s, "makespan_complete": makespan_s.is_some(),
        }))
        .unwrap()
    }

    #[test]
    fn runs_are_grouped_by_all_but_their_seeds_and_named_by_what_differs() {
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
    fn the_run_in_the_middle_is_drawn_and_incomplete_ones_count_as_last() {
        let makespans = [None, Some(9.0), Some(3.0), Some(5.0), None];
        let runs = (1..).zip(makespans).map(|(seed, makespan)| run("aimd", 10, seed, makespan)).collect();
        assert_eq!(strategies(runs)[0].median().makespan_s, Some(9.0));
    }
}
