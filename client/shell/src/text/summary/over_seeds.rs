//! Summary of several runs of one strategy: the answer, a table of figures over seeds, the load, warnings.

use std::fmt::Write as _;

use experiments::Experiment;
use results::{RunFigures, RunResult, WarningGroups};
use statistics::{Comparison, Level, Margin, Method, PairedRatio, Summary};

use crate::runner::variance_warnings;
use crate::text::figures::{at_least, counted, seconds, short, thousands};
use crate::text::notes::note;
use crate::text::summary::one_run::setting;
use crate::text::table::{Column, LongNames, Table};
use crate::text::wrapping::{terminal_width, wrapped_to};

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
];

/// Totals over the complete runs. If no run is complete, totals of the interrupted run.
#[derive(Debug, Default)]
pub struct OverSeeds {
    runs: usize,
    /// Number of runs in which every op succeeded.
    complete: usize,
    stalled: usize,
    is_lower_bound: bool,
    /// Number of ops of each run; `None` unless all runs have equally many ops.
    ops: Option<u64>,
    /// Sum over all runs of the share of ops that succeeded. Each share is from 0 to 1.
    shares: f64,
    /// Makespans in seconds of the runs. Runs without a makespan are left out.
    makespans: Vec<f64>,
    first_seed: u64,
    last_seed: u64,
    warnings: WarningGroups,
}

impl OverSeeds {
    pub fn note(&mut self, run: &RunResult) {
        let base = run.ops.share_base();
        if self.runs == 0 {
            (self.ops, self.first_seed) = (Some(base), run.seed);
        }
        self.runs += 1;
        self.last_seed = run.seed;
        self.ops = self.ops.filter(|ops| *ops == base);
        self.complete += usize::from(run.makespan_complete);
        self.stalled += usize::from(run.stalled_at_s.is_some());
        self.is_lower_bound |= run.share_is_lower_bound;
        self.shares += run.ops.share(run.ops.succeeded).unwrap_or_default();
        self.makespans.extend(run.makespan_s);
        self.warnings.note(&run.warnings);
    }

    fn answer(&self, strategy: &str) -> String {
        let share = at_least(self.shares / self.runs.max(1) as f64, self.is_lower_bound);
        let runs = counted(self.runs as u64, "run");
        if self.stalled > 0 {
            let stalled = thousands(self.stalled as u64);
            return format!("{strategy}: stalled in {stalled} of {runs}, {share} of the ops done (mean)");
        }
        let seeds = counted(self.runs as u64, "seed");
        let ops = match (self.complete == self.runs, self.ops) {
            (true, Some(ops)) => format!("all {} ops done", thousands(ops)),
            (true, None) => "all ops done".to_owned(),
            (false, _) => format!("{share} of the ops done"),
        };
        match self.makespan() {
            None => format!("{strategy}: {ops}, mean of {seeds}"),
            Some((makespan, None)) => {
                let makespan = seconds(makespan);
                format!(
                    "{strategy}: {ops} in {makespan}, geometric mean of {seeds}; intervals need {MIN_SEEDS}"
                )
            }
            Some((makespan, Some((low, high)))) => {
                let interval = interval(&seconds(low), &seconds(high));
                format!("{strategy}: {ops} in {} ({interval}), geometric mean of {seeds}", seconds(makespan))
            }
        }
    }

    /// Returns the geometric mean of the makespans in seconds, and the 95 % confidence interval of this mean if there are at least
    /// `MIN_SEEDS` makespans.
    fn makespan(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let comparison =
            Comparison { level: Level::P95, method: Method::StudentT, margin: Margin::TWO_PERCENT };
        let mean = PairedRatio::new(&self.makespans, &vec![1.0; self.makespans.len()], comparison).ok()?;
        Some((mean.ratio, mean.interval.map(|interval| (interval.low, interval.high))))
    }
}

pub fn several(seeds: &OverSeeds, figures: &RunFigures, experiment: &Experiment, explain: bool) -> String {
    let strategy = experiment.strategy.to_string();
    let mut text = format!("{}\n\n", wrapped_to(terminal_width(), &seeds.answer(&strategy), "", ""));
    let summaries = figures.summaries();
    let shown: Vec<(&str, &Summary)> = SHOWN
        .iter()
        .filter_map(|(label, path)| {
            let (_, figure) = summaries.iter().find(|(name, _)| name == path)?;
            Some((*label, figure))
        })
        .collect();
    text.push_str(&table(&shown));
    if let Some(first) = figures.first() {
        let OverSeeds { runs, first_seed, last_seed, .. } = seeds;
        let is_range = last_seed.wrapping_sub(*first_seed) == *runs as u64 - 1;
        let named = if is_range { "seeds".to_owned() } else { format!("{runs} seeds of") };
        let named = format!("{named} {first_seed}–{last_seed}");
        let _ = write!(text, "\n{}", setting(first, &named, experiment));
    }
    let runs = counted(seeds.runs as u64, "run");
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
        let notes: Vec<String> = each.iter().map(|words| note(words, true) + "\n").collect();
        return notes.concat();
    }
    let Some((label, figure)) = skewed.first() else { return String::new() };
    let median = short(figure.p50);
    let words = match skewed.len() {
        1 => format!("{label} is skewed: median {median} (--explain)"),
        several => format!("{several} figures are skewed, such as {label}: median {median} (--explain)"),
    };
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
            |range| match [range.low, range.high].map(short) {
                [low, high] if low == high => low,
                [low, high] => interval(&low, &high),
            },
        );
        let spread = figure.deviation.map_or_else(|| "–".to_owned(), short);
        let [p5, p50, p95] = [figure.p5, figure.p50, figure.p95].map(short);
        table.row("  ", label, &[short(figure.mean), spread, likely, p5, p50, p95]);
    }
    table.into_text()
}

fn interval(low: &str, high: &str) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same && unit.chars().all(char::is_alphabetic) => {
            format!("{number}–{high}")
        }
        _ => format!("{low}–{high}"),
    }
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
            assert_eq!(interval(low, high), text);
        }
    }
}
