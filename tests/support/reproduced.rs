//! Scenarios that are run in this process instead of by a built program.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use experiments::runs::driver::Nobody;
use experiments::runs::stop::Never;
use experiments::runs::virtual_time::VirtualTime;
use reproduce::reproduction::{Changes, Plan, Reproduction, Tally, document};
use reproduce::scenario::{EMBEDDED, Text, embedded, load, wanted};
use serde_json::Value;

use super::full_size::full_or;

pub(crate) fn planned(text: &Text, settings: &[&str], changes: Changes) -> Reproduction {
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let (scenario, cells) = load(text, &settings).unwrap();
    Reproduction::new(scenario, cells, changes)
}

pub(crate) fn run(reproduction: Reproduction) -> Reproduction {
    let mut one = [reproduction];
    Plan::simulated(&one).drive(&mut one, &VirtualTime::on_threads(None), &Never, &Nobody).unwrap();
    let [done] = one;
    done
}

pub(crate) fn run_only(mut reproduction: Reproduction, experiments: &[&str]) -> Reproduction {
    for cell in &mut reproduction.cells {
        if !experiments.contains(&cell.experiment.as_str()) {
            cell.settings.repeats = 0;
        }
    }
    run(reproduction)
}

fn run_and_draw(reproduction: Reproduction) -> Reproduction {
    let mut one = [run(reproduction)];
    Plan::drawn(&one).drive(&mut one, &VirtualTime::on_threads(None), &Never, &Nobody).unwrap();
    let [done] = one;
    done
}

pub(crate) fn document_of(reproduction: &Reproduction) -> Value {
    let judged = reproduction.judged(false);
    let mut tally = Tally::default();
    tally.add(&judged);
    serde_json::to_value(document(&[(reproduction, judged)], &tally, None)).unwrap()
}

pub(crate) fn scenario_of(reproduction: &Reproduction) -> Value {
    document_of(reproduction)["scenarios"][0].take()
}

/// Reproduces the only scenario of a text, and returns it as `--json` writes it. Checks that all claims come out as
/// expected.
pub(crate) fn reproduce_text(text: &str) -> Value {
    let text = Text { name: "mine.toml".to_owned(), text: text.to_owned() };
    let mut document = document_of(&run_and_draw(planned(&text, &[], Changes::default())));
    for whose in ["source", "ours"] {
        assert_eq!(document["claims"][whose]["not_as_expected"], 0, "{}", document["claims"]);
    }
    document["scenarios"][0].take()
}

/// Runs that an experiment keeps when it is thinned to a fifth. Reference figures need as many.
const MIN_RUNS: u32 = 40;

/// Returns a built-in scenario with its default settings. Experiments with many runs are thinned to a fifth.
fn thinned(name: &str) -> Reproduction {
    let mut reproduction = planned(&embedded(name).unwrap(), &[], Changes::default());
    for cell in &mut reproduction.cells {
        let full = cell.settings.repeats;
        cell.settings.repeats = full_or(full, full.min(MIN_RUNS.max(full / 5)));
    }
    reproduction
}

/// Reproduces a built-in scenario, including plots; once for all tests.
pub(crate) fn built_in(name: &str) -> &'static Reproduction {
    static DONE: [OnceLock<Reproduction>; EMBEDDED.len()] = [const { OnceLock::new() }; EMBEDDED.len()];
    let place = EMBEDDED.iter().position(|(known, _)| *known == name).unwrap();
    DONE[place].get_or_init(|| run_and_draw(thinned(name)))
}

/// Returns a built-in scenario's experiment with `runs` runs of every cell: the runs that all tests share, and those
/// with the following seeds.
pub(crate) fn with_further_runs(name: &str, experiment: &str, runs: u32) -> Value {
    let shared = built_in(name);
    let of = |cell: &&reproduce::scenario::Cell| cell.experiment == experiment;
    let there = shared.cells.iter().find(of).unwrap().settings.repeats;
    let changes = Changes { repeats: Some(runs - there), seed: Some(shared.seed(there)) };
    let mut all = run_only(planned(&embedded(name).unwrap(), &[], changes), &[experiment]);
    let figures: BTreeSet<&str> = wanted(&shared.scenario);
    for (index, _) in shared.cells.iter().enumerate().filter(|(_, cell)| of(cell)) {
        for run in 0..there as usize {
            let measured = figures.iter().map(|figure| (*figure, shared.data.values(index, figure)[run]));
            let measured = measured.filter(|(_, value)| value.is_finite());
            all.data.push(index, measured.map(|(figure, value)| (figure.to_owned(), value)).collect());
        }
    }
    scenario_of(&all)
}
