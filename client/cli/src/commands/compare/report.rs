//! What a comparison tells people, in 80 columns.

use std::fmt::Write as _;

use experiments::judge::comparison::Comparison;
use experiments::judge::pair::Pair;
use experiments::judge::sensitivity::Sensitivity;
use experiments::runs::blocks::Blocks;
use results::{MAKESPAN_OVER_BOUND, Score, Standing, best_that_can_be_had};
use statistics::Summary;

use crate::interrupt::by_whom;
use crate::text::figures::{percent, short, thousands};
use crate::text::wrapping::wrapped;

/// Columns of a name that shares its line with figures.
const NAME: usize = 20;

/// Everything, with what matters most last: it stays on the screen, however many strategies there are.
pub(super) fn text(
    comparison: &Comparison,
    blocks: Blocks<'_>,
    simulated: bool,
    stopped_by: Option<&str>,
) -> String {
    let Comparison { by, standings, pairs, companion, measured, .. } = comparison;
    let bound = standings.iter().any(|standing| standing.figure(MAKESPAN_OVER_BOUND).is_some());
    let mut text = details(standings, *by);
    text.push_str(&notes(*by, measured.blocks(), &over(blocks, simulated), bound));
    text.push_str(&sensitivity(&comparison.sensitivity));
    text.push_str(&sentences(standings, pairs, companion));
    text.push_str(&ranking(standings, *by));
    if let Some(share) = standings.first().map(|best| best.share).filter(|share| *share < 1.0) {
        text.push_str(&nobody_completes(share));
    }
    let mut warnings = skewed(standings, *by);
    warnings.extend(blocks.opponent.changed());
    let slow = comparison.runs().filter(|run| run.bottleneck).count();
    if slow > 0 {
        warnings.push(format!(
            "the generator was the bottleneck in {slow} runs; try again with a larger `--time-scale`"
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

/// The latency that is told, and its name.
fn latency_told(by: Score) -> (Score, &'static str) {
    let latency = if by.is_latency() { by } else { Score::p99() };
    (latency, latency.path().trim_start_matches("op_latency_ms."))
}

/// The ranked table.
fn ranking(standings: &[Standing], by: Score) -> String {
    let (latency, label) = latency_told(by);
    let mut text = format!(
        "\n    {:<name$}{:>10}{:>7}{:>10}{:>7}{:>7}{:>9}{:>8}\n",
        "strategy (means)",
        "makespan s",
        "± sd",
        "attempts",
        "± sd",
        "per op",
        format!("{label} ms"),
        "bound",
        name = NAME - 2
    );
    for (index, one) in standings.iter().enumerate() {
        let rank = if one.is_complete() { (index + 1).to_string() } else { "–".to_owned() };
        let lead = format!("{}{rank:>2} ", if one.on_front { '◆' } else { ' ' });
        // Who leaves ops undone is soon done: that is no makespan to compare with.
        let makespan = one.figure(Score::makespan().path()).filter(|_| one.is_complete());
        let (makespan, makespan_sd) = mean_and_spread(makespan);
        let (attempts, attempts_sd) = mean_and_spread(one.figure(Score::attempts().path()));
        let (per_op, _) = mean_and_spread(one.figure("amplification"));
        let (latency, _) = mean_and_spread(one.figure(latency.path()));
        let bound = one.figure(MAKESPAN_OVER_BOUND).map_or_else(dash, |over| beyond(over.mean));
        let figures = format!(
            "{makespan:>8}{makespan_sd:>7}{attempts:>10}{attempts_sd:>7}{per_op:>7}{latency:>9}{bound:>8}"
        );
        text.push_str(&line(&lead, &one.strategy, &figures));
        if let Some(why) = &one.incomplete {
            let _ = writeln!(text, "{}", wrapped(why, "      incomplete: ", "      "));
        }
    }
    text
}

/// The intervals of the ranked means, and side effects.
fn details(standings: &[Standing], by: Score) -> String {
    let (latency, label) = latency_told(by);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\n    {:<NAME$}{:>17}{:>18}{:>18}",
        "95 % of the mean",
        "makespan s",
        "attempts",
        format!("{label} ms")
    );
    for one in standings.iter().filter(|one| one.is_complete()) {
        let range = |score: Score| interval(one.figure(score.path()));
        let figures =
            format!("{:>17}{:>18}{:>18}", range(Score::makespan()), range(Score::attempts()), range(latency));
        text.push_str(&line("    ", &one.strategy, &figures));
    }
    text.push_str(&side_effects(standings));
    text
}

/// A figure of the table of side effects.
struct Column {
    label: &'static str,
    path: &'static str,
    show: fn(f64) -> String,
}

const SIDE_EFFECTS: &[Column] = &[
    Column { label: "wasted s", path: "wasted_server_s", show: short },
    Column { label: "fits s", path: "window.convergence_s", show: short },
    Column { label: "beyond", path: "window.overshoot", show: short },
    Column { label: "swings", path: "window.variation", show: percent },
    Column { label: "late", path: "late_share", show: percent },
    Column { label: "jain", path: "fairness.jain", show: |index| format!("{index:.3}") },
    Column { label: "slowest", path: "fairness.slowest_over_median", show: |times| format!("{times:.2} ×") },
];

/// What strategies do to the server and to one another, as far as any of them has such figures.
fn side_effects(standings: &[Standing]) -> String {
    let known = |column: &&Column| standings.iter().any(|one| one.figure(column.path).is_some());
    let columns: Vec<&Column> = SIDE_EFFECTS.iter().filter(known).collect();
    if columns.is_empty() {
        return String::new();
    }
    let labels = columns.iter().map(|column| column.label.to_owned());
    let mut text = format!("\n    {:<NAME$}{}\n", "side effects, means", cells(labels));
    for one in standings {
        let shown =
            |column: &&Column| one.figure(column.path).map_or_else(dash, |figure| (column.show)(figure.mean));
        text.push_str(&line("    ", &one.strategy, &cells(columns.iter().map(shown))));
    }
    text
}

fn cells(texts: impl Iterator<Item = String>) -> String {
    texts.fold(String::new(), |mut row, text| {
        let _ = write!(row, "{text:>8}");
        row
    })
}

/// A long name has a line of its own.
fn line(lead: &str, name: &str, figures: &str) -> String {
    if name.chars().count() < NAME {
        return format!("{lead}{name:<NAME$}{figures}\n");
    }
    let name = wrapped(&name.replace('+', "+ "), lead, "      ").replace("+ ", "+");
    format!("{name}\n{:width$}{figures}\n", "", width = NAME + 4)
}

fn mean_and_spread(figure: Option<&Summary>) -> (String, String) {
    let spread = figure.and_then(|figure| figure.deviation).map_or_else(dash, short);
    (figure.map_or_else(dash, |figure| short(figure.mean)), spread)
}

fn beyond(ratio: f64) -> String {
    format!("{:+.0} %", (ratio - 1.0) * 100.0)
}

fn interval(figure: Option<&Summary>) -> String {
    let range = figure.and_then(|figure| figure.interval);
    range.map_or_else(|| "too few".to_owned(), |range| format!("{}–{}", short(range.low), short(range.high)))
}

fn dash() -> String {
    "–".to_owned()
}

/// How the best that can be had does against each of the others, and against who knows the future.
fn sentences(standings: &[Standing], pairs: &[Pair], companion: &[Pair]) -> String {
    let mut complete = standings.iter().filter(|one| one.is_complete());
    let (best, second) = (complete.next(), complete.next());
    let Some(best) = best else { return "\nno strategy is complete: there is nothing to rank\n".to_owned() };
    let mut text = String::from("\n");
    if second.is_none() {
        let _ = writeln!(text, "{} alone is complete: there is nothing to compare it with", best.strategy);
        return text;
    }
    let real = best_that_can_be_had(standings).map(|one| &one.strategy);
    let first = real.unwrap_or(&best.strategy);
    // Of who knows the future: how far the best that can be had is from it.
    let yardstick = |pair: &&Pair| pair.first == best.strategy && pair.second == *first;
    let told = pairs.iter().filter(|pair| pair.first == *first || yardstick(pair));
    for pair in told.chain(companion) {
        let _ = writeln!(text, "{}", wrapped(&pair.words(), "", "  "));
    }
    text
}

/// Which intervals of the table of means cannot be trusted.
fn skewed(standings: &[Standing], by: Score) -> Vec<String> {
    let scores = [Score::makespan(), Score::attempts(), by];
    let scores = scores.iter().enumerate().filter(|(index, score)| !scores[..*index].contains(score));
    let scores: Vec<Score> = scores.map(|(_, score)| *score).collect();
    let told = standings.iter().filter(|one| one.is_complete()).flat_map(|one| {
        let figure = |score: &Score| {
            let what = format!("{} of {}", score.name(), one.strategy);
            Some((what, one.figure(score.path())?))
        };
        scores.iter().filter_map(figure).collect::<Vec<_>>()
    });
    crate::repeats::skewed(told)
}

/// What must be known to read the figures.
fn notes(by: Score, blocks: usize, over: &str, bound: bool) -> String {
    let mut text = format!(
        "Ranked by {} (its geometric mean over blocks, of which the ratios are; the figures of the table below are means), among strategies with the same share of succeeded ops. ◆ Pareto front: no other is both sooner done \
         and sparing of attempts (the oracle aside: it knows the future). ",
        by.name()
    );
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

/// Whether the ranking stands.
fn sensitivity(sensitivity: &[Sensitivity]) -> String {
    if sensitivity.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nDoes the ranking stand against other servers?\n");
    for tried in sensitivity {
        let words = if tried.stands() { "it stands".to_owned() } else { tried.changes.join("; ") };
        let _ = writeln!(
            text,
            "{}",
            wrapped(&words, &format!("  {:<36}", tried.variation.name), &" ".repeat(38))
        );
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
