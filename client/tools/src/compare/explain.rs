//! Sections of `loadgen compare --explain`: legend, means with confidence intervals, side effects, comparisons of all pairs, sensitivity.

use std::fmt::Write as _;

use experiments::evaluation::comparison::Comparison;
use results::{Answer, PairRow, RankedBy, RankedStrategy, Score, Times, pair_rows};
use shell::text::figures::{level, range};
use shell::text::{Column, LongNames, Table, dash, labelled, percent, short, wrapped};
use statistics::{Interval, Summary};

use crate::compare::Setting;

/// Width in terminal columns of a table row's start: the indent and the strategy's name.
const HEAD: usize = 24;
const INDENT: &str = "    ";

pub(super) fn sections(comparison: &Comparison, answer: &Answer, setting: &Setting<'_>) -> String {
    let standings = &comparison.standings;
    let mut text = legend(answer, standings, setting);
    text.push_str(&incomplete(standings));
    text.push_str(&means(standings, answer));
    text.push_str(&side_effects(standings));
    text.push_str(&pairs(&pair_rows(answer, standings), answer));
    text.push_str(&sensitivity(comparison));
    text
}

fn legend(answer: &Answer, standings: &[RankedStrategy], setting: &Setting<'_>) -> String {
    let mut text = String::from(
        "× best: geometric mean of ratios to the best strategy, paired by seed. Cells of the ranked figure and of attempts \
         are geometric means, too; all others are means. ",
    );
    if answer.has_intervals() {
        let _ = write!(
            text,
            "95 %: Student's t on the logarithms of the ratios, each interval at {}, so that all intervals hold together in \
             95 % of comparisons. Two strategies are equal if their interval contains 1 or lies within 0.98–1.02. Equal \
             strategies are listed by attempts. Intervals are {}. ",
            level(answer.level),
            setting.blocks.server_under_test.intervals(),
        );
    }
    if answer.ranked_by != RankedBy::Score {
        text.push_str(
            "Strategies that did more of their ops come first; then fewer attempts per done op. Makespans are compared only \
             among strategies that did every op. ",
        );
    }
    if standings.iter().any(RankedStrategy::share_is_lower_bound) {
        text.push_str("≥: a run was stopped and might have done more. ");
    }
    if standings.iter().any(|standing| standing.counts.of_arrived) {
        text.push_str("Shares are of the ops that arrived, because a closed loop with --duration has no fixed number of ops. ");
    }
    let seeds = setting.blocks.strategies.first().map_or(0, |first| first.run.seed);
    let _ = write!(text, "Seeds {seeds} to {}.", seeds + (answer.seeds as u64).saturating_sub(1));
    format!("\n{}\n", wrapped(&text, "", ""))
}

fn incomplete(standings: &[RankedStrategy]) -> String {
    let reasons =
        standings.iter().filter_map(|standing| Some((&standing.strategy, standing.incomplete.as_ref()?)));
    let lines: Vec<String> = reasons.map(|(name, why)| wrapped(&format!("{name} {why}"), "", "  ")).collect();
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}

fn means(standings: &[RankedStrategy], answer: &Answer) -> String {
    let shares = [Score::done_share(), Score::attempts_per_success()];
    let scores: Vec<Score> = match answer.ranked_by {
        RankedBy::Share => shares.to_vec(),
        RankedBy::ScoreThenShare => [answer.by].into_iter().chain(shares).collect(),
        RankedBy::Score if answer.by == Score::attempts() => vec![Score::attempts(), Score::makespan()],
        RankedBy::Score => vec![answer.by, Score::attempts()],
    };
    let mut text = String::new();
    for score in scores {
        let mut table = Table::new(HEAD, [10, 17, 9, 9, 10].map(Column::Right), LongNames::Broken);
        table.line("");
        table.titles(&format!("{}, over seeds", score.column()), ["mean", "95 %", "± sd", "median", "max"]);
        let comparable = |standing: &&RankedStrategy| {
            standing.rank.is_some() && (shares.contains(&score) || standing.is_comparable())
        };
        for standing in standings.iter().filter(comparable) {
            let Some(figure) = standing.figure(score.path()) else { continue };
            let cells = [
                score.cell(figure.mean),
                interval(figure, score),
                figure.deviation.map_or_else(dash, |deviation| score.cell(deviation)),
                score.cell(figure.p50),
                score.cell(figure.max),
            ];
            table.row(INDENT, &standing.strategy, &cells);
        }
        text.push_str(&table.into_text());
    }
    text
}

fn interval(figure: &Summary, score: Score) -> String {
    let is_share = score == Score::done_share();
    // A confidence interval by Student's t can contain impossible values. Its ends are therefore clamped, because no figure is negative and
    // no share is above 1.
    let ends =
        |range: Interval| (range.low.max(0.0), if is_share { range.high.min(1.0) } else { range.high });
    figure.interval.map_or_else(
        || "too few runs".to_owned(),
        |interval| {
            let (low, high) = ends(interval);
            range(&score.cell(low), &score.cell(high))
        },
    )
}

struct SideEffect {
    label: &'static str,
    path: &'static str,
    show: fn(f64) -> String,
    legend: &'static str,
}

const SIDE_EFFECTS: &[SideEffect] = &[
    SideEffect {
        label: "wasted s",
        path: "wasted_server_s",
        show: short,
        legend: "wasted: server time in seconds spent on attempts that were rejected or abandoned",
    },
    SideEffect {
        label: "fits s",
        path: "window.convergence_s",
        show: short,
        legend: "fits: seconds until the window was within 10 % of the cap",
    },
    SideEffect {
        label: "beyond",
        path: "window.overshoot",
        show: short,
        legend: "beyond: maximum of attempts in flight above the cap",
    },
    SideEffect {
        label: "swings",
        path: "window.variation",
        show: percent,
        legend: "swings: standard deviation of the window over its mean",
    },
    SideEffect {
        label: "late",
        path: "late_share",
        show: percent,
        legend: "late: share of ops after their deadline",
    },
    SideEffect {
        label: "broken",
        path: "advice.broken",
        show: short,
        legend: "broken: retries before the time that the server advised for their op",
    },
    SideEffect {
        label: "jain",
        path: "fairness.jain",
        show: |index| format!("{index:.3}"),
        legend: "jain: Jain's index of fairness among clients, 1 if all are equal",
    },
    SideEffect {
        label: "slowest",
        path: "fairness.slowest_over_median",
        show: |times| format!("{times:.2} ×"),
        legend: "slowest: mean latency of the slowest client divided by the median client's",
    },
];

/// Returns the table of each strategy's effects on the server and on other clients. A column is left out if no strategy has a value for it.
fn side_effects(standings: &[RankedStrategy]) -> String {
    let known = |effect: &&SideEffect| {
        let of = |standing: &RankedStrategy| standing.figure(effect.path).map(|figure| figure.max);
        let is_zero = effect.path == "advice.broken";
        standings.iter().filter_map(of).any(|max| !is_zero || max > 0.0)
    };
    let effects: Vec<&SideEffect> = SIDE_EFFECTS.iter().filter(known).collect();
    if effects.is_empty() {
        return String::new();
    }
    let mut table = Table::new(HEAD, effects.iter().map(|_| Column::Right(8)), LongNames::Broken);
    table.line("");
    table.titles("side effects (mean)", effects.iter().map(|effect| effect.label));
    for standing in standings {
        let show = |effect: &&SideEffect| {
            standing.figure(effect.path).map_or_else(dash, |figure| (effect.show)(figure.mean))
        };
        table.row(INDENT, &standing.strategy, &effects.iter().map(show).collect::<Vec<_>>());
    }
    let words = effects.iter().map(|effect| effect.legend).collect::<Vec<_>>().join("; ");
    format!("{}{}\n", table.into_text(), wrapped(&format!("{words}."), INDENT, INDENT))
}

fn pairs(pairs: &[PairRow], answer: &Answer) -> String {
    let figure = answer.figure().column();
    let mut text = String::new();
    if pairs.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "\nevery pair: ratio of the second to the first, each interval at {}",
        level(answer.level)
    );
    let times = |times: Option<Times>, name: &str| {
        times.map(|times| match times.range_text() {
            Some(range) => format!("{name} {} × ({range})", times.ratio_text()),
            None => format!("{name} {} ×", times.ratio_text()),
        })
    };
    for pair in pairs {
        let mut ratios = vec![times(pair.figure, figure)];
        if answer.figure() != Score::attempts() {
            ratios.push(times(pair.attempts, "attempts"));
        }
        let ratios: Vec<String> = ratios.into_iter().flatten().collect();
        let ratios =
            if ratios.is_empty() { "did not do the same work".to_owned() } else { ratios.join(", ") };
        let words = format!("{} / {}: {ratios}", pair.second, pair.first);
        let _ = writeln!(text, "{}", wrapped(&words, INDENT, "      "));
    }
    text
}

fn sensitivity(comparison: &Comparison) -> String {
    if comparison.sensitivity.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nranking against other servers\n");
    for tried in &comparison.sensitivity {
        let words = if tried.stands { "the same".to_owned() } else { tried.changes.join("; ") };
        let _ = writeln!(text, "{}", labelled(&format!("{INDENT}{}", tried.variation), 40, &words));
    }
    text
}
