//! Summary of several runs of one strategy: the answer, a table of figures over seeds, the load, warnings.

use std::fmt::Write as _;

use experiments::Experiment;
use results::{RunFigures, RunResult, WarningGroups, paired_ratio};
use statistics::{Level, Summary};

use crate::runner::variance_warnings;
use crate::text::figures::{range, span};
use crate::text::notes::note;
use crate::text::summary::one_run::setting;
use crate::text::{
    Column, LongNames, Table, at_least, counted, dash, seconds, short, terminal_width, thousands, wrapped_to,
};

/// Minimum number of seeds for confidence intervals.
const MIN_SEEDS: usize = 5;

/// Rows of the table: each row's label, and the path of its figure in the result.
pub const SHOWN: &[(&str, &str)] = &[
    ("attempts", "attempts.total"),
    ("per op", "amplification"),
    ("makespan s", "makespan_s"),
    ("lower bound s", "optimal_makespan_s"),
    ("goodput /s", "goodput_per_s"),
    ("p50 op ms", "op_latency_ms.p50"),
    ("p99 op ms", "op_latency_ms.p99"),
    EARLY,
];

/// Row that is shown only if a run has such requests.
const EARLY: (&str, &str) = ("early", "advice.early_shared");

/// Data of several runs for their summary, besides their figures. Only complete runs count, or the interrupted run if no run is complete.
#[derive(Debug, Default)]
pub struct OverSeeds {
    /// Number of ops of the last run.
    ops: Option<u64>,
    has_uneven_ops: bool,
    last_seed: u64,
    warnings: WarningGroups,
}

impl OverSeeds {
    pub fn note(&mut self, run: &RunResult) {
        let ops = run.ops.share_base();
        self.has_uneven_ops |= self.ops.is_some_and(|before| before != ops);
        (self.ops, self.last_seed) = (Some(ops), run.seed);
        self.warnings.note(&run.warnings);
    }

    fn answer(&self, figures: &RunFigures, strategy: &str) -> String {
        let counts = &figures.counts;
        let share = at_least(counts.at_all(), counts.is_lower_bound);
        let runs = counted(counts.runs as u64, "run");
        if counts.stalled > 0 {
            let stalled = thousands(counts.stalled as u64);
            return format!("{strategy}: stalled in {stalled} of {runs}, {share} of the ops done (mean)");
        }
        let seeds = counted(counts.runs as u64, "seed");
        let ops = match (counts.short, self.ops.filter(|_| !self.has_uneven_ops)) {
            (0, Some(ops)) => format!("all {} ops done", thousands(ops)),
            (0, None) => "all ops done".to_owned(),
            _ => format!("{share} of the ops done"),
        };
        let makespans = figures.known("makespan_s");
        let Some(mean) = paired_ratio(makespans, &vec![1.0; makespans.len()], Level::P95) else {
            return format!("{strategy}: {ops}, mean of {seeds}");
        };
        let makespan = seconds(mean.ratio);
        match mean.interval.map(|ends| span(&seconds(ends.low), &seconds(ends.high))) {
            None => format!(
                "{strategy}: {ops} in {makespan}, geometric mean of {seeds}; intervals need {MIN_SEEDS}"
            ),
            Some(interval) => {
                format!("{strategy}: {ops} in {makespan} ({interval}), geometric mean of {seeds}")
            }
        }
    }
}

pub fn several(seeds: &OverSeeds, figures: &RunFigures, experiment: &Experiment, explain: bool) -> String {
    let strategy = experiment.strategy.to_string();
    let mut text = format!("{}\n\n", wrapped_to(terminal_width(), &seeds.answer(figures, &strategy), "", ""));
    let summaries = figures.summaries();
    let shown: Vec<(&str, &Summary)> = SHOWN
        .iter()
        .filter_map(|(label, path)| {
            let (_, figure) = summaries.iter().find(|(name, _)| name == path)?;
            (*label != EARLY.0 || figure.max > 0.0).then_some((*label, figure))
        })
        .collect();
    text.push_str(&table(&shown));
    if let Some(first) = figures.first() {
        let (runs, first_seed, last_seed) = (figures.runs(), first.seed, seeds.last_seed);
        let is_range = last_seed.wrapping_sub(first_seed) == runs as u64 - 1;
        let named = if is_range { "seeds".to_owned() } else { format!("{runs} seeds of") };
        let named = format!("{named} {first_seed}–{last_seed}");
        let _ = write!(text, "\n{}", setting(first, &named, experiment));
    }
    let runs = counted(figures.runs() as u64, "run");
    for (warned, warning) in seeds.warnings.iter() {
        let words = format!("in {} of {runs} {warning}", thousands(warned as u64));
        let _ = writeln!(text, "{}", note(&words, explain));
    }
    text.push_str(&skewed(&shown, explain));
    text
}

fn skewed(shown: &[(&str, &Summary)], explain: bool) -> String {
    let skewed: Vec<_> = shown.iter().filter(|(_, figure)| figure.too_skewed().is_some()).collect();
    if explain {
        let each = variance_warnings::skewed(
            skewed.into_iter().map(|(label, figure)| ((*label).to_owned(), *figure)),
        );
        return each.iter().map(|words| note(words, true) + "\n").collect();
    }
    let Some((label, figure)) = skewed.first() else { return String::new() };
    let words = variance_warnings::brief(skewed.len(), label, &short(figure.p50));
    format!("{}\n", note(&words, false))
}

fn table(shown: &[(&str, &Summary)]) -> String {
    let columns = [
        Column::Right(11),
        Column::Right(9),
        Column::Left(18),
        Column::Right(8),
        Column::Right(8),
        Column::Right(8),
    ];
    let mut table = Table::new(16, columns, LongNames::Shift);
    table.titles("  over seeds", ["mean", "± sd", "95 % of the mean", "p5", "p50", "p95"]);
    for (label, figure) in shown {
        let likely = figure.interval.map_or_else(
            || format!("needs {MIN_SEEDS} seeds"),
            |ends| range(&short(ends.low), &short(ends.high)),
        );
        let spread = figure.deviation.map_or_else(dash, short);
        let [p5, p50, p95] = [figure.p5, figure.p50, figure.p95].map(short);
        table.row("  ", label, &[short(figure.mean), spread, likely, p5, p50, p95]);
    }
    table.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_its_unit_once() {
        for (low, high, text) in [
            ("25.1 s", "25.3 s", "25.1–25.3 s"),
            ("980 ms", "1.02 s", "980 ms–1.02 s"),
            ("2 088", "2 090", "2 088–2 090"),
        ] {
            assert_eq!(span(low, high), text);
        }
    }
}
