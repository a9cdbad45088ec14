//! Screen of a comparison: the answer, the table, the load and the lower bound, pointers, one line per warning.

use std::fmt::Write as _;

use experiments::judge::comparison::Comparison;
use experiments::judge::sensitivity::Sensitivity;
use experiments::runs::blocks::Blocks;
use results::{Answer, RankedBy, Score, Standing};

use super::load::{self, Unthrottled};
use super::setting::Setting;
use crate::interrupt::by_whom;
use crate::repeats;
use crate::text::figures::{seconds, thousands};
use crate::text::ranking::Ranking;
use crate::text::wrapping::{side_by_side, wrapped_to};

/// Mark of a warning, and the indent of its second line.
const WARNING: (&str, &str) = ("! ", "  ");

/// Returns the screen.
pub(super) fn screen(comparison: &Comparison, setting: &Setting<'_>) -> String {
    let Setting { blocks, mode, explain, width, .. } = *setting;
    let answer = Answer::new(&comparison.standings, comparison.by);
    let load = load::load(blocks, mode);
    let unthrottled = load::unthrottled(comparison, load.as_ref());
    if let (Some(Unthrottled::NothingToCompare(words)), false) = (&unthrottled, explain) {
        let mut text = paragraphs(words, width);
        if let Some(last) = words.last().filter(|last| last.starts_with("Try ")) {
            text = paragraphs(&words[..words.len() - 1], width)
                + &side_by_side(&[last, "Table: --explain"], width);
        } else {
            text.push_str("Table: --explain\n");
        }
        return text + &warnings(comparison, &answer, setting, None);
    }
    let mut text = match &unthrottled {
        Some(Unthrottled::NothingToCompare(words)) => paragraphs(words, width),
        _ => paragraphs(&answer.sentences(mode).iter().map(ToString::to_string).collect::<Vec<_>>(), width),
    };
    let table = Ranking::new(&answer, width, load.as_ref().and_then(experiments::Load::slots));
    let _ = write!(text, "\n{}\n", table.text(width, explain));
    if let Some(line) = load_and_bound(comparison, &answer, blocks, load.as_ref()) {
        let _ = writeln!(text, "{}", wrapped_to(width, &line, "", ""));
    }
    let mut legend = table.legend(explain);
    if !explain {
        legend.push("More: --explain");
    }
    text.push_str(&side_by_side(&legend, width));
    let own_limits = match &unthrottled {
        Some(Unthrottled::OwnLimits(words)) => Some(words.as_str()),
        _ => None,
    };
    text.push_str(&warnings(comparison, &answer, setting, own_limits));
    if explain {
        text.push_str(&super::explain::sections(comparison, &answer, setting));
    }
    text
}

/// Returns the answer and the table as Markdown.
pub(super) fn markdown(comparison: &Comparison, setting: &Setting<'_>) -> String {
    let Setting { blocks, mode, .. } = *setting;
    let answer = Answer::new(&comparison.standings, comparison.by);
    let load = load::load(blocks, mode);
    let table = Ranking::new(&answer, 100, load.as_ref().and_then(experiments::Load::slots));
    let sentences =
        answer.sentences(mode).iter().map(results::Sentence::markdown).collect::<Vec<_>>().join(" ");
    let line = load_and_bound(comparison, &answer, blocks, load.as_ref()).unwrap_or_default();
    let legend = table.legend(true).join(" · ");
    let below: Vec<String> = [line, legend].into_iter().filter(|text| !text.is_empty()).collect();
    let below = if below.is_empty() { String::new() } else { format!("\n{}\n", below.join("  \n")) };
    format!("{sentences}\n\n{}{below}", table.markdown())
}

fn paragraphs(paragraphs: &[String], width: usize) -> String {
    let lines: Vec<String> = paragraphs.iter().map(|words| wrapped_to(width, words, "", "") + "\n").collect();
    lines.concat()
}

/// `2 000 ops at 1000/s: 10 × capacity (50 slots × 500 ms). Lower bound: 20.1 s.`
fn load_and_bound(
    comparison: &Comparison,
    answer: &Answer,
    blocks: Blocks<'_>,
    load: Option<&experiments::Load>,
) -> Option<String> {
    let ops = blocks.strategies.first().and_then(|first| first.run.workload.ops);
    let load = load.map(|load| format!("{}.", load.line(ops)));
    let bound = comparison.standings.iter().find_map(|standing| standing.figure("optimal_makespan_s"));
    let bound = bound.filter(|_| answer.ranked_by != RankedBy::Share);
    let bound = bound.map(|bound| format!("Lower bound: {}.", seconds(bound.mean)));
    let parts: Vec<String> = [load, bound].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Returns one line per kind of warning.
fn warnings(
    comparison: &Comparison,
    answer: &Answer,
    setting: &Setting<'_>,
    own_limits: Option<&str>,
) -> String {
    let Setting { blocks, mode, bottlenecks, stopped_by, explain, width } = *setting;
    let mut text = String::new();
    let mut line = |words: &str| {
        let _ = writeln!(text, "{}", wrapped_to(width, words, "", ""));
    };
    own_limits.into_iter().for_each(&mut line);
    if let Some(words) = sensitivity(&comparison.sensitivity, explain) {
        line(&words);
    }
    let mut warn = |words: &str| {
        let _ = writeln!(text, "{}", wrapped_to(width, words, WARNING.0, WARNING.1));
    };
    if answer.ranked_by == RankedBy::Share
        && ![Score::makespan(), Score::attempts_per_success()].contains(&answer.by)
    {
        warn(&format!("not ranked by {}: shares of ops done differ", answer.by.key()));
    }
    let gave_up = load::all_gave_up(comparison, blocks, mode);
    let skewed = skewed(&comparison.standings, answer, explain);
    for words in skewed.into_iter().chain(blocks.opponent.changed()).chain(gave_up) {
        warn(&words);
    }
    if bottlenecks > 0 {
        let runs = thousands(bottlenecks as u64);
        warn(&format!("the load generator was the bottleneck in {runs} runs; try a larger --time-scale"));
    }
    if let Some(cause) = stopped_by {
        let (done, of) = (thousands(comparison.measured.blocks() as u64), thousands(blocks.count() as u64));
        warn(&format!(
            "stopped by {}: {done} of {of} seeds were complete, and only those count",
            by_whom(cause)
        ));
    }
    text
}

/// Returns the warnings of skewed figures: the first in one line, or all in full.
fn skewed(standings: &[Standing], answer: &Answer, explain: bool) -> Vec<String> {
    let mut scores = vec![answer.by];
    if answer.by != Score::attempts() {
        scores.push(Score::attempts());
    }
    let of = |standing: &Standing, score: Score| {
        let summary = *standing.figure(score.path())?;
        Some((format!("{} of {}", score.name(), standing.strategy), score, summary))
    };
    let compared = standings.iter().filter(|standing| standing.is_comparable());
    let figures: Vec<_> = compared
        .flat_map(|standing| scores.iter().filter_map(|score| of(standing, *score)).collect::<Vec<_>>())
        .collect();
    if explain {
        return repeats::skewed(figures.iter().map(|(name, _, summary)| (name.clone(), summary)));
    }
    let skewed: Vec<_> = figures.iter().filter(|(.., summary)| summary.too_skewed().is_some()).collect();
    let Some((name, score, summary)) = skewed.first() else { return Vec::new() };
    let median = score.cell(summary.p50);
    vec![match skewed.len() {
        1 => format!("{name} is skewed: median {median} (--explain)"),
        several => format!("{several} figures are skewed, such as {name}: median {median} (--explain)"),
    }]
}

/// `Same winner with cap ±20 %, lognormal service, jittered network.`
fn sensitivity(sensitivity: &[Sensitivity], explain: bool) -> Option<String> {
    if sensitivity.is_empty() || explain {
        return None;
    }
    let changed = sensitivity.iter().find(|tried| !tried.same_winner());
    if let Some(tried) = changed {
        let first = tried.winner().unwrap_or("no strategy");
        return Some(format!("! with {} {first} is first (--explain)", tried.variation.short_name()));
    }
    let mut names: Vec<&str> = sensitivity.iter().map(|tried| tried.variation.short_name()).collect();
    let caps = names.iter().filter(|name| name.starts_with("cap ")).count();
    if caps == 2 {
        names.retain(|name| !name.starts_with("cap "));
        names.insert(0, "cap ±20 %");
    }
    Some(format!("Same winner with {}.", names.join(", ")))
}
