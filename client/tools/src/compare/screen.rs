//! Terminal output of a comparison: the answer, the table, the load and the lower bound, hints at further flags, and warnings in one line
//! each.

use std::fmt::Write as _;

use experiments::evaluation::comparison::Comparison;
use experiments::runs::blocks::Blocks;
use experiments::workload::WorkloadSpec;
use experiments::{Experiment, Load};
use mockserver::core::Config;
use results::{Answer, Mode, RankedBy, RankedStrategy, Score, Unthrottled, Variation, same_winner_sentence};
use shell::runner::interrupt::by_whom;
use shell::runner::variance_warnings;
use shell::text::ranking::Ranking;
use shell::text::wrapping::side_by_side;
use shell::text::{Styled, seconds, thousands, wrapped_to};
use statistics::Summary;

use crate::compare::Setting;

/// Prefixes of a printed warning: the mark before its first line, and the indent of its further lines.
const WARNING: (&str, &str) = ("! ", "  ");

pub(super) fn screen(comparison: &Comparison, setting: &Setting<'_>) -> Styled {
    let Setting { blocks, mode, explain, width, .. } = *setting;
    let answer = Answer::new(&comparison.standings, comparison.by);
    let load = load(blocks, mode);
    let unthrottled = Unthrottled::new(&comparison.standings, comparison.by);
    let nothing = unthrottled.and_then(|unthrottled| nothing_to_compare(unthrottled, load.as_ref()));
    if let (Some(words), false) = (&nothing, explain) {
        let mut text = paragraphs(words, width);
        if let Some(last) = words.last().filter(|last| last.starts_with("Try ")) {
            text = paragraphs(&words[..words.len() - 1], width)
                + &side_by_side(&[last, "Table: --explain"], width);
        } else {
            text.push_str("Table: --explain\n");
        }
        text += &warnings(comparison, &answer, setting, None);
        return Styled::from(text.as_str());
    }
    let sentences =
        nothing.unwrap_or_else(|| answer.sentences(mode).iter().map(ToString::to_string).collect::<Vec<_>>());
    let mut shown = Styled::from(format!("{}\n", paragraphs(&sentences, width)).as_str());
    let table = Ranking::new(&answer, width, load.as_ref().and_then(experiments::Load::slots));
    shown.append(table.text(width, explain));
    let mut text = String::from("\n");
    if let Some(line) = load_and_bound(comparison, &answer, blocks, load.as_ref()) {
        let _ = writeln!(text, "{}", wrapped_to(width, &line, "", ""));
    }
    let mut legend = table.legend(explain);
    if !explain {
        legend.push("More: --explain");
    }
    text.push_str(&side_by_side(&legend, width));
    let own_limits = unthrottled.filter(|unthrottled| !unthrottled.are_equal).map(Unthrottled::sentence);
    text.push_str(&warnings(comparison, &answer, setting, own_limits.as_deref()));
    if explain {
        text.push_str(&crate::compare::explain::sections(comparison, &answer, setting));
    }
    shown.push(&text);
    shown
}

pub(super) fn markdown(comparison: &Comparison, setting: &Setting<'_>) -> String {
    let Setting { blocks, mode, .. } = *setting;
    let answer = Answer::new(&comparison.standings, comparison.by);
    let load = load(blocks, mode);
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

fn warnings(
    comparison: &Comparison,
    answer: &Answer,
    setting: &Setting<'_>,
    own_limits: Option<&str>,
) -> String {
    let Setting { blocks, mode, bottlenecks, ref long_wait, stopped_by, explain, width, .. } = *setting;
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
    let gave_up = all_gave_up(comparison, blocks, mode);
    let skewed = skewed(&comparison.standings, answer, explain);
    let rest = blocks.server_under_test.changed().into_iter().chain(gave_up).chain(long_wait.clone());
    for words in skewed.into_iter().chain(rest) {
        warn(&words);
    }
    if let Some(cause) = stopped_by {
        let (done, of) = (thousands(comparison.measured.blocks() as u64), thousands(blocks.count() as u64));
        warn(&format!(
            "stopped by {}: {done} of {of} seeds were complete, and only those count",
            by_whom(cause)
        ));
    }
    if bottlenecks > 0 {
        let runs = thousands(bottlenecks as u64);
        warn(&format!("the load generator was the bottleneck in {runs} runs; try a larger --time-scale"));
    }
    text
}

struct Skewed<'a> {
    strategy: &'a str,
    score: Score,
    summary: &'a Summary,
}

impl Skewed<'_> {
    fn name(&self) -> String {
        format!("{} of {}", self.score.name(), self.strategy)
    }

    /// True if the median of a figure, in printed form, differs from the value of this figure in the table.
    fn is_visible(&self, answer: &Answer) -> bool {
        let row = answer.rows.iter().find(|row| row.strategy == self.strategy);
        let printed = row.and_then(|row| if self.score == answer.by { row.figure } else { row.attempts });
        printed.is_some_and(|value| self.score.cell(value) != self.score.cell(self.summary.p50))
    }
}

fn skewed(standings: &[RankedStrategy], answer: &Answer, explain: bool) -> Vec<String> {
    let mut scores = vec![answer.by];
    if answer.by != Score::attempts() {
        scores.push(Score::attempts());
    }
    let mut all: Vec<Skewed<'_>> = Vec::new();
    for standing in standings.iter().filter(|standing| standing.is_comparable()) {
        let summaries = scores.iter().filter_map(|score| Some((*score, standing.figure(score.path())?)));
        let skewed = summaries.filter(|(_, summary)| summary.too_skewed().is_some());
        all.extend(skewed.map(|(score, summary)| Skewed { strategy: &standing.strategy, score, summary }));
    }
    if explain {
        return variance_warnings::skewed(all.iter().map(|skewed| (skewed.name(), skewed.summary)));
    }
    let visible: Vec<&Skewed<'_>> = all.iter().filter(|skewed| skewed.is_visible(answer)).collect();
    let Some(first) = visible.first() else { return Vec::new() };
    vec![variance_warnings::brief(visible.len(), &first.name(), &first.score.cell(first.summary.p50))]
}

/// Returns a sentence on how the ranking depends on the server. Returns `None` with `explain`, because `--explain` prints a whole section
/// on sensitivity.
fn sensitivity(variations: &[Variation], explain: bool) -> Option<String> {
    let sentence = same_winner_sentence(variations).filter(|_| !explain)?;
    let is_changed = variations.iter().any(|tried| tried.same_winner == Some(false));
    Some(format!("{sentence}{}", if is_changed { " (--explain)" } else { "" }))
}

/// Flags of the overload in `docs/clients.md`. This load lasts three minutes. During one of them, it exceeds the capacity of the default
/// server by 20 %.
const OVERLOAD: &str = "--rate 72/s --duration 3m --caps 60s=30,120s=50";

/// Returns the load of a comparison relative to the server's capacity, or `None` if the capacity is unknown.
pub(super) fn load(blocks: Blocks<'_>, mode: Mode) -> Option<Load> {
    Load::new(blocks.strategies.first()?, blocks.server_under_test.model(), mode)
}

/// Returns paragraphs to print instead of a ranking if the server rejected nothing and the strategies have equal results. Otherwise returns
/// `None`.
fn nothing_to_compare(unthrottled: Unthrottled, load: Option<&Load>) -> Option<Vec<String>> {
    if !unthrottled.are_equal {
        return None;
    }
    let mut paragraphs = vec![unthrottled.sentence()];
    paragraphs.extend(load.map(Load::within_limit).unwrap_or_default());
    Some(paragraphs)
}

/// Returns a hint that suggests another load if every strategy gave up ops under the default load. The default load suits only clients that
/// wait instead of giving up.
fn all_gave_up(comparison: &Comparison, blocks: Blocks<'_>, mode: Mode) -> Option<String> {
    let gave_up = |standing: &RankedStrategy| {
        standing.figure("ops.given_up").is_some_and(|given_up| given_up.min > 0.0)
    };
    let (first, server) = (blocks.strategies.first()?, blocks.server_under_test.model()?);
    if !is_default_load(first) || !comparison.standings.iter().all(gave_up) {
        return None;
    }
    let flags =
        if is_default_server(server) { OVERLOAD.to_owned() } else { load(blocks, mode)?.beyond_limit() };
    Some(format!("every strategy gave up ops, because this load needs clients that wait longer; try {flags}"))
}

fn is_default_load(experiment: &Experiment) -> bool {
    let WorkloadSpec { ops, ops_per_client, duration, .. } = &experiment.workload;
    !experiment.workload.is_paced() && ops.is_none() && ops_per_client.is_none() && duration.is_none()
}

fn is_default_server(server: &Config) -> bool {
    Config { seed: Config::default().seed, ..server.clone() } == Config::default()
}
