//! The tables of a comparison.

use results::{MAKESPAN_OVER_BOUND, Score, Standing};
use statistics::{Interval, Summary};

use crate::text::figures::{percent, short};
use crate::text::table::{Column, LongNames, Table};
use crate::text::wrapping::wrapped;

/// Columns of rank and name.
pub(super) const HEAD: usize = 24;

/// The ranked table.
pub(super) fn ranking(standings: &[Standing], by: Score) -> String {
    let third = by.beside_makespan_and_attempts();
    let columns = [8, 7, 10, 7, 7, 9, 8].map(Column::Right);
    let mut table = Table::new(HEAD, columns, LongNames::Broken);
    table.line("");
    let titles = ["makespan s", "± sd", "attempts", "± sd", "per op", &third.heading(), "bound"];
    table.titles("    strategy (means)", titles);
    for standing in standings {
        let mark = mark(standing);
        // Who leaves ops undone is soon done: that is no makespan to compare with.
        let makespan = standing.figure(Score::makespan().path()).filter(|_| standing.is_complete());
        let attempts = standing.figure(Score::attempts().path());
        let figures = [
            mean(makespan),
            spread(makespan),
            mean(attempts),
            spread(attempts),
            mean(standing.figure("amplification")),
            mean(standing.figure(third.path())),
            standing.figure(MAKESPAN_OVER_BOUND).map_or_else(dash, |over| beyond(over.mean)),
        ];
        table.row(&mark, &standing.strategy, &figures);
        if let Some(why) = &standing.incomplete {
            table.line(&wrapped(why, "      incomplete: ", "      "));
        }
    }
    table.into_text()
}

/// What stands before a name: whether it is on the Pareto front, and its rank, such as `◆ 1 `, or ` 2= ` among equals.
pub(super) fn mark(standing: &Standing) -> String {
    let front = if standing.on_front { '◆' } else { ' ' };
    match standing.rank {
        None => format!("{front} – "),
        // A rank of two digits takes a column of the name.
        Some(rank) if standing.is_tied => format!("{front}{rank}= "),
        Some(rank) => format!("{front}{rank:>2} "),
    }
}

/// Returns the legend of `=` behind ranks, if any rank has it.
pub(super) fn of_ties(standings: &[Standing], then: &str) -> String {
    if standings.iter().any(|standing| standing.is_tied) {
        format!("= not distinguishable from the first of that rank, or within 2 % of it; ordered by {then}. ")
    } else {
        String::new()
    }
}

/// The intervals of the ranked means.
pub(super) fn details(standings: &[Standing], by: Score) -> String {
    let third = by.beside_makespan_and_attempts();
    let mut table = Table::new(HEAD, [17, 18, 18].map(Column::Right), LongNames::Broken);
    table.line("");
    table.titles("    95 % of the mean", ["makespan s", "attempts", &third.heading()]);
    for standing in standings.iter().filter(|standing| standing.is_comparable()) {
        let range = |score: Score| interval(standing.figure(score.path()));
        table.row("    ", &standing.strategy, &[Score::makespan(), Score::attempts(), third].map(range));
    }
    table.into_text()
}

/// A figure of the table of side effects.
struct SideEffect {
    label: &'static str,
    path: &'static str,
    show: fn(f64) -> String,
}

const SIDE_EFFECTS: &[SideEffect] = &[
    SideEffect { label: "wasted s", path: "wasted_server_s", show: short },
    SideEffect { label: "fits s", path: "window.convergence_s", show: short },
    SideEffect { label: "beyond", path: "window.overshoot", show: short },
    SideEffect { label: "swings", path: "window.variation", show: percent },
    SideEffect { label: "late", path: "late_share", show: percent },
    SideEffect { label: "jain", path: "fairness.jain", show: |index| format!("{index:.3}") },
    SideEffect {
        label: "slowest",
        path: "fairness.slowest_over_median",
        show: |times| format!("{times:.2} ×"),
    },
];

/// What strategies do to the server and to one another, as far as any of them has such figures.
pub(super) fn side_effects(standings: &[Standing]) -> String {
    let known =
        |effect: &&SideEffect| standings.iter().any(|standing| standing.figure(effect.path).is_some());
    let effects: Vec<&SideEffect> = SIDE_EFFECTS.iter().filter(known).collect();
    if effects.is_empty() {
        return String::new();
    }
    let mut table = Table::new(HEAD, effects.iter().map(|_| Column::Right(8)), LongNames::Broken);
    table.line("");
    table.titles("    side effects, means", effects.iter().map(|effect| effect.label));
    for standing in standings {
        let show = |effect: &&SideEffect| {
            standing.figure(effect.path).map_or_else(dash, |figure| (effect.show)(figure.mean))
        };
        table.row("    ", &standing.strategy, &effects.iter().map(show).collect::<Vec<_>>());
    }
    table.into_text()
}

pub(super) fn mean(figure: Option<&Summary>) -> String {
    figure.map_or_else(dash, |figure| short(figure.mean))
}

fn spread(figure: Option<&Summary>) -> String {
    figure.and_then(|figure| figure.deviation).map_or_else(dash, short)
}

pub(super) fn beyond(ratio: f64) -> String {
    format!("{:+.0} %", (ratio - 1.0) * 100.0)
}

fn interval(figure: Option<&Summary>) -> String {
    let range = figure.and_then(|figure| figure.interval);
    // Student's t does not know that nothing of this is below zero.
    let told = |range: Interval| format!("{}–{}", short(range.low.max(0.0)), short(range.high));
    range.map_or_else(|| "too few".to_owned(), told)
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use experiments::Experiment;
    use experiments::judge::standings::standings;
    use experiments::runs::blocks::Blocks;
    use experiments::runs::driver::Nobody;
    use experiments::runs::virtual_time::VirtualTime;
    use experiments::servers::opponent::Opponent;
    use loadgen_core::{RunConfig, Workload};
    use results::RunFigures;

    use super::*;
    use crate::interrupt::Interrupt;

    /// Three blocks of simulated runs, ranked by makespan.
    pub(in super::super) fn standings_of(strategies: &[&str]) -> Vec<Standing> {
        let experiment = |strategy: &&str| {
            let workload = Workload { ops: Some(150), ..Workload::default() };
            let run = RunConfig { workload, ..RunConfig::default() };
            Experiment { repeats: 3, ..Experiment::of_run(strategy.parse().unwrap(), run) }
        };
        let experiments: Vec<Experiment> = strategies.iter().map(experiment).collect();
        let opponent = Opponent::Own(Box::default());
        let blocks = Blocks { strategies: &experiments, opponent: &opponent };
        let figures: Vec<_> = RunFigures::ranked(Score::makespan()).collect();
        let driver = VirtualTime { threads: 1 };
        let measured = blocks.run(&driver, &Interrupt::default(), &Nobody, &figures, &mut |_| ()).unwrap();
        standings(&experiments, &measured, Score::makespan())
    }

    #[test]
    fn a_long_name_has_lines_of_its_own_and_who_leaves_ops_undone_no_makespan() {
        let standings = standings_of(&["none", "aimd", "full-jitter:base=100ms+aimd+retry-budget"]);
        insta::assert_snapshot!("ranking", ranking(&standings, Score::makespan()));
        let details = details(&standings, Score::makespan()) + &side_effects(&standings);
        insta::assert_snapshot!("details", details);
    }
}
