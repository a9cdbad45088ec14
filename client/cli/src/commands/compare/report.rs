//! What a comparison tells people, in 80 columns: its tables, what they say in sentences, and what must be known to read them.

use std::fmt::Write as _;

use experiments::judge::comparison::Comparison;
use experiments::judge::pair::Pair;
use experiments::judge::sensitivity::Sensitivity;
use experiments::runs::blocks::{BlockRun, Blocks};
use experiments::runs::one_run::Finished;
use results::{MAKESPAN_OVER_BOUND, Score, Standing, best_that_can_be_had, ranked_by_share};

use super::by_share;
use super::load::{self, Unthrottled};
use super::table::{HEAD, dash, details, of_ties, ranking, side_effects};
use crate::interrupt::by_whom;
use crate::text::figures::{at_least, counted, percent, short, thousands};
use crate::text::table::{Column, LongNames, Table};
use crate::text::wrapping::{labelled, wrapped};

/// Everything, with what matters most last: it stays on the screen, however many strategies there are.
pub(super) fn text(
    comparison: &Comparison,
    blocks: Blocks<'_>,
    simulated: bool,
    (bottlenecks, stopped_by): (usize, Option<&str>),
) -> String {
    let Comparison { by, standings, pairs, companion, measured, .. } = comparison;
    let bound = standings.iter().any(|standing| standing.figure(MAKESPAN_OVER_BOUND).is_some());
    let by_share = ranked_by_share(standings);
    let mut pushes = load::load(blocks, simulated);
    let mut text = String::new();
    if !by_share || standings.iter().any(Standing::is_comparable) {
        text.push_str(&details(standings, *by));
    }
    if by_share {
        text.push_str(&by_share::details(standings));
    }
    text.push_str(&side_effects(standings));
    let ranks = if by_share {
        by_share::notes(standings, *by)
    } else {
        format!("{}{}", ranked_by(*by), of_ties(standings, by.companion().name()))
    };
    text.push_str(&notes(&ranks, measured.blocks(), &over(blocks, simulated), bound));
    text.push_str(&sensitivity(&comparison.sensitivity));
    text.push('\n');
    if by_share {
        text.push_str(&comparable(standings, pairs, companion).unwrap_or_default());
        text.push_str(&by_share::sentences(standings, &comparison.by_share));
        text.push_str(&by_share::ranking(standings, *by));
    } else {
        let unthrottled = load::unthrottled(comparison, pushes.as_ref());
        match &unthrottled {
            // It names the load and the limit.
            Some(Unthrottled::NothingToCompare(words)) => {
                pushes = None;
                text.push_str(words);
            }
            _ => text.push_str(&sentences(standings, pairs, companion)),
        }
        text.push_str(&ranking(standings, *by));
        if let Some(Unthrottled::OwnLimits(words)) = &unthrottled {
            let _ = write!(text, "\n{words}");
        }
        if let Some(share) = standings.first().map(|best| best.share).filter(|share| *share < 1.0) {
            text.push_str(&nobody_completes(share));
        }
    }
    text.push_str(&load::line(pushes.as_ref()));
    text.push_str(&load::all_gave_up(comparison, blocks, simulated));
    let mut warnings = skewed(standings, *by);
    warnings.extend(blocks.opponent.changed());
    if bottlenecks > 0 {
        warnings.push(format!(
            "the generator was the bottleneck in {bottlenecks} runs; try again with a larger `--time-scale`"
        ));
    }
    for words in warnings {
        let _ = writeln!(text, "{}", wrapped(&words, "warning: ", "         "));
    }
    if let Some(cause) = stopped_by {
        text.push_str(&cut_off(measured.blocks(), blocks.count(), cause));
    }
    text
}

/// What intervals are over.
fn over(blocks: Blocks<'_>, simulated: bool) -> String {
    let machine = if simulated || blocks.opponent.model().is_none() { "" } else { " and machine" };
    format!("{}{machine}", blocks.opponent.intervals())
}

/// How the best that can be had does against each of the others, and against who knows the future.
fn sentences(standings: &[Standing], pairs: &[Pair], companion: &[Pair]) -> String {
    comparable(standings, pairs, companion).unwrap_or_else(|| {
        match standings.iter().find(|standing| standing.is_complete()) {
            None => "no strategy is complete: there is nothing to rank\n".to_owned(),
            Some(best) => {
                format!("{} alone is complete: there is nothing to compare it with\n", best.strategy)
            }
        }
    })
}

/// The same of those who did the same work; nothing where there are no two of them.
fn comparable(standings: &[Standing], pairs: &[Pair], companion: &[Pair]) -> Option<String> {
    let mut complete = standings.iter().filter(|standing| standing.is_comparable());
    let (best, _second) = (complete.next()?, complete.next()?);
    let mut text = String::new();
    let real = best_that_can_be_had(standings).map(|standing| &standing.strategy);
    let first = real.unwrap_or(&best.strategy);
    // Of who knows the future: how far the best that can be had is from it.
    let yardstick = |pair: &&Pair| pair.first == best.strategy && pair.second == *first;
    let of_the_best = pairs.iter().filter(|pair| pair.first == *first || yardstick(pair));
    for pair in of_the_best.chain(companion) {
        let _ = writeln!(text, "{}", wrapped(&pair.words(), "", "  "));
    }
    Some(text)
}

/// Which intervals of the table of means cannot be trusted.
fn skewed(standings: &[Standing], by: Score) -> Vec<String> {
    let scores = [Score::makespan(), Score::attempts(), by];
    let scores = scores.iter().enumerate().filter(|(index, score)| !scores[..*index].contains(score));
    let scores: Vec<Score> = scores.map(|(_, score)| *score).collect();
    let figures = standings.iter().filter(|standing| standing.is_comparable()).flat_map(|standing| {
        let figure = |score: &Score| {
            let what = format!("{} of {}", score.name(), standing.strategy);
            Some((what, standing.figure(score.path())?))
        };
        scores.iter().filter_map(figure).collect::<Vec<_>>()
    });
    crate::repeats::skewed(figures)
}

/// What must be known to read the ranks.
fn ranked_by(by: Score) -> String {
    format!(
        "Ranked by {} (its geometric mean over blocks, of which the ratios are; the figures of the table below are means), among strategies with the same share of succeeded ops. ◆ Pareto front: no other is both sooner done \
         and sparing of attempts (the oracle aside: it knows the future). ",
        by.name()
    )
}

/// What must be known to read the figures.
fn notes(ranks: &str, blocks: usize, over: &str, bound: bool) -> String {
    let mut text = ranks.to_owned();
    text.push_str(
        "Wasted: time of the server's slots for nothing. Fits: when the window had come within 10 % of the cap. Beyond: most \
         in flight above it. Swings: the window's spread over its mean. ",
    );
    if bound {
        text.push_str("Bound: how far the makespan lies above a lower bound, below which none can be (– where none is known). ");
    }
    if blocks >= 5 {
        let _ = write!(text, "Intervals are {over}; {LEVELS}.");
    } else {
        text.push_str("Below 5 repeats there are no intervals.");
    }
    format!("\n{}\n", wrapped(&text, "", ""))
}

/// What the levels of intervals of differences mean.
const LEVELS: &str = "those of differences are paired by block, each at the level that stands before it, corrected for \
                                 comparing many (Holm): so in 95 % of comparisons no two strategies are told apart that are the \
                                 same, while all intervals together hold the truth less often than any one of them";

/// That the ranking is one among strategies that all leave ops undone.
fn nobody_completes(share: f64) -> String {
    let words = format!(
        "no strategy completes every op; ranked are those that complete the most, {}",
        percent(share)
    );
    format!("\n{}\n", wrapped(&words, "note: ", "      "))
}

/// What an interrupt left out.
fn cut_off(blocks: usize, of: usize, by: &str) -> String {
    let (blocks, of) = (thousands(blocks as u64), thousands(of as u64));
    let by = by_whom(by);
    format!("\nstopped by {by}: {blocks} of {of} blocks were complete, and only those count\n")
}

/// What there is when no block is complete.
pub(super) fn unranked(runs: &[BlockRun], blocks: Blocks<'_>, stopped_by: Option<&str>) -> String {
    let stopped = stopped_by.map(|by| format!("stopped by {}: ", by_whom(by))).unwrap_or_default();
    let Some(first) = runs.first() else {
        return format!("{stopped}no run was complete: there is nothing to compare, and nothing to write\n");
    };
    let mut table = Table::new(HEAD, [12, 12, 12].map(Column::Right), LongNames::Broken);
    table.line("");
    table.titles(
        &format!("    complete, seed {}", first.finished.result.seed),
        ["makespan s", "attempts", "ops done"],
    );
    for BlockRun { finished: Finished { result, .. }, .. } in runs {
        let makespan = result.makespan_s.filter(|_| result.makespan_complete);
        let cells = [
            makespan.map_or_else(dash, short),
            thousands(result.attempts.total),
            result.done_share.map_or_else(dash, |share| at_least(share, result.share_is_lower_bound)),
        ];
        table.row("    ", &result.strategy, &cells);
    }
    let mut text = table.into_text();
    let _ = writeln!(text, "\n{stopped}no block was complete: there is nothing to compare");
    let (runs, of) = (thousands(runs.len() as u64), counted(blocks.strategies.len() as u64, "run"));
    let _ = writeln!(text, "{runs} of the {of} of the first block are complete: outputs have those");
    text
}

/// Whether the ranking stands.
fn sensitivity(sensitivity: &[Sensitivity]) -> String {
    if sensitivity.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nDoes the ranking stand against other servers?\n");
    for tried in sensitivity {
        let words = if tried.stands() { "it stands".to_owned() } else { tried.changes.join("; ") };
        let _ = writeln!(text, "{}", labelled(&format!("  {}", tried.variation.name), 38, &words));
    }
    let stands = sensitivity.iter().filter(|tried| tried.stands()).count();
    let words = if stands == sensitivity.len() {
        "the ranking stands against all of them".to_owned()
    } else {
        format!("the ranking stands against {stands} of {}", sensitivity.len())
    };
    let _ = writeln!(text, "{words}");
    text
}
