//! What a comparison tells people, in 80 columns.

use std::fmt::Write as _;

use statistics::Summary;

use super::pair::Pair;
use super::sensitivity::Outcome;
use super::standing::{OVER_OPTIMUM, Standing, best_that_can_be_had};
use crate::args::Score;
use crate::figures::{percent, short, thousands};
use crate::wrapping::wrapped;

/// Columns of a name that shares its line with figures.
const NAME: usize = 20;

/// The ranked table, and the intervals of its means.
pub(super) fn tables(standings: &[Standing], by: Score) -> String {
    let latency = match by {
        Score::Makespan | Score::Attempts => Score::P99,
        latency => latency,
    };
    let label = latency.path().trim_start_matches("op_latency_ms.");
    let mut text = format!(
        "\n    {:<NAME$}{:>8}{:>7}{:>10}{:>7}{:>7}{:>9}{:>8}\n",
        "strategy",
        "makespan",
        "± sd",
        "attempts",
        "± sd",
        "per op",
        format!("{label} ms"),
        "optimum"
    );
    for (index, one) in standings.iter().enumerate() {
        let rank = if one.is_complete() { (index + 1).to_string() } else { "–".to_owned() };
        let lead = format!("{}{rank:>2} ", if one.on_front { '◆' } else { ' ' });
        let (makespan, makespan_sd) = mean_and_spread(one.figure(Score::Makespan.path()));
        let (attempts, attempts_sd) = mean_and_spread(one.figure(Score::Attempts.path()));
        let (per_op, _) = mean_and_spread(one.figure("amplification"));
        let (latency, _) = mean_and_spread(one.figure(latency.path()));
        let optimum = one.figure(OVER_OPTIMUM).map_or_else(dash, |over| beyond(over.mean));
        let figures = format!(
            "{makespan:>8}{makespan_sd:>7}{attempts:>10}{attempts_sd:>7}{per_op:>7}{latency:>9}{optimum:>8}"
        );
        text.push_str(&line(&lead, &one.strategy, &figures));
        if let Some(why) = &one.incomplete {
            let _ = writeln!(text, "{}", wrapped(why, "      incomplete: ", "      "));
        }
    }
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
            format!("{:>17}{:>18}{:>18}", range(Score::Makespan), range(Score::Attempts), range(latency));
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

/// How the best does against each of the others; and, when the best knows the future, the best that does not.
pub(super) fn sentences(standings: &[Standing], pairs: &[Pair], companion: &[Pair]) -> String {
    let mut complete = standings.iter().filter(|one| one.is_complete());
    let (best, second) = (complete.next(), complete.next());
    let Some(best) = best else { return "\nno strategy is complete: there is nothing to rank\n".to_owned() };
    let mut text = String::from("\n");
    if second.is_none() {
        let _ = writeln!(text, "{} alone is complete: there is nothing to compare it with", best.strategy);
        return text;
    }
    let real = best_that_can_be_had(standings).map(|one| &one.strategy);
    let told = pairs.iter().filter(|pair| pair.first == best.strategy || Some(&pair.first) == real);
    for pair in told.chain(companion) {
        let _ = writeln!(text, "{}", wrapped(&pair.words(), "", "  "));
    }
    text
}

/// What must be known to read the figures.
pub(super) fn notes(by: Score, blocks: usize, simulated: bool, optimum: bool) -> String {
    let over = if simulated {
        "over seeds, for this server model"
    } else {
        "over seeds, for this server model and machine"
    };
    let mut text = format!(
        "Ranked by {}, among strategies with the same share of succeeded ops. ◆ Pareto front: no other is both sooner done \
         and sparing of attempts (the oracle aside: it knows the future). ",
        by.name()
    );
    text.push_str(
        "Wasted: time of the server's slots for nothing. Fits: when the window had come within 10 % of the cap. Beyond: most \
         in flight above it. Swings: the window's spread over its mean. ",
    );
    if optimum {
        text.push_str("Optimum: how far the makespan lies above the best that any client could do. ");
    }
    if blocks >= 5 {
        let _ = write!(
            text,
            "Intervals are {over}; those of differences are paired by block and corrected for comparing many (Holm)."
        );
    } else {
        text.push_str("Below 5 repeats there are no intervals.");
    }
    format!("\n{}\n", wrapped(&text, "", ""))
}

/// That the ranking is one among strategies that all leave ops undone.
pub(super) fn nobody_completes(share: f64) -> String {
    let words = format!(
        "no strategy completes every op; ranked are those that complete the most, {}",
        percent(share)
    );
    format!("\n{}\n", wrapped(&words, "note: ", "      "))
}

/// What an interrupt left out.
pub(super) fn cut_off(blocks: usize, of: u32, by: &str) -> String {
    let (blocks, of) = (thousands(blocks as u64), thousands(u64::from(of)));
    format!("\nstopped by {by}: {blocks} of {of} blocks were complete, and only those count\n")
}

/// Whether the ranking stands.
pub(super) fn sensitivity(outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nDoes the ranking stand against other servers?\n");
    for Outcome { variation, changes, .. } in outcomes {
        let words = if changes.is_empty() { "it stands".to_owned() } else { changes.join("; ") };
        let _ = writeln!(text, "{}", wrapped(&words, &format!("  {:<36}", variation.name), &" ".repeat(38)));
    }
    let stands = outcomes.iter().filter(|one| one.changes.is_empty()).count();
    let words = if stands == outcomes.len() {
        "the ranking stands against all of them".to_owned()
    } else {
        format!("the ranking stands against {stands} of {}", outcomes.len())
    };
    let _ = writeln!(text, "{words}");
    text
}
