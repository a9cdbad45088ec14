//! Screen of `loadgen judge`: one line for each situation, its findings, and the counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use results::numbers::counted;
use shell::exit::{Exit, Fatal};
use shell::text::styled::{RED, Styled};
use shell::text::wrapping::{terminal_width, wrapped, wrapped_to};

use crate::args::JudgeArgs;
use crate::judgement::{ClosestPreset, Judgement};
use crate::report::{JudgedSituation, Report, Verdict};
use crate::rule::{Finding, Severity};
use crate::rules::RULES;
use crate::suite::Suite;

const NAME: usize = 16;
const TITLE: usize = 28;
const VERDICT: usize = 9;
const FAIL: &str = "FAIL";

const SUMMARY: usize = 78;

const OUTPUT_LINES: usize = 10;

/// Output of the command's last run, by the name of the situation.
pub(super) type Outputs<'a> = BTreeMap<&'a str, &'a str>;

/// Prints the screen, with failures in red if stdout shows colours.
pub(super) fn print(
    document: &Judgement,
    outputs: &Outputs<'_>,
    took: Option<Duration>,
    stdout_is_claimed: bool,
) -> anyhow::Result<()> {
    let mut screen = Styled::default();
    let situations: Vec<&JudgedSituation> = shown(document).collect();
    let mut last_shown = None;
    for (index, situation) in situations.iter().enumerate() {
        let rows = rows(situation, &situations[..index]);
        let start = names(situation).len();
        match situation.verdict {
            Verdict::Failed => screen.push_styled(&rows, start..start + FAIL.len(), RED),
            _ => screen.push(&rows),
        }
        // The output is the same in many situations, so it is shown only where it differs from the one before.
        if let Some(output) = explaining(situation, outputs).filter(|output| Some(*output) != last_shown) {
            screen.push(&shown_output(output));
            last_shown = Some(output);
        }
    }
    screen.push(&conclusion(document, took));
    screen.print(stdout_is_claimed)
}

fn conclusion(document: &Judgement, took: Option<Duration>) -> String {
    let mut text = String::new();
    let Report { situations, causes } = &document.report;
    let causes = causes.iter().map(|cause| format!("{}: {}", cause.situations.join(", "), cause.text));
    for line in other_calls(situations).into_iter().chain(causes).chain(document.closest.as_ref().map(alike))
    {
        let _ = writeln!(text, "{}", prose(&line, "", "    "));
    }
    let unused = situations.len() - shown(document).count();
    if unused > 0 {
        let _ = writeln!(text, "{unused} situations received no request.");
    }
    let counts = counts(document);
    let took = took.map(|took| format!("{:.1} s", took.as_secs_f64())).unwrap_or_default();
    let width = terminal_width().min(SUMMARY).saturating_sub(counts.len() + 1);
    let _ = writeln!(text, "{}", format!("{counts} {took:>width$}").trim_end());
    text
}

const PRESETS: usize = 3;
const DIFFERENCES: usize = 3;

fn alike(closest: &ClosestPreset) -> String {
    let ClosestPreset { presets, same, compared, differs } = closest;
    let first = format!("same as {} in {same} of {compared} compared situations", listed(presets, PRESETS));
    if differs.is_empty() {
        return first;
    }
    let differs: Vec<String> =
        differs.iter().map(|one| format!("{} ({})", one.situation, one.text)).collect();
    format!("{first}; differs in {}", listed(&differs, DIFFERENCES))
}

/// Lists the first of the items, at most `most`, and the number of the others.
fn listed(items: &[String], most: usize) -> String {
    let shown = items[..items.len().min(most)].join(", ");
    if items.len() > most { format!("{shown} and {} more", items.len() - most) } else { shown }
}

/// Returns the situations to print. A session with `--serve` rarely uses all of them.
fn shown(document: &Judgement) -> impl Iterator<Item = &JudgedSituation> {
    let is_session = document.command.is_none() && document.strategy.is_none();
    let has_request =
        |situation: &JudgedSituation| situation.observation.runs.iter().any(|run| run.received > 0);
    document.report.situations.iter().filter(move |situation| !is_session || has_request(situation))
}

const CALLS: usize = 4;

/// Lists the calls that were not judged, each with its number of requests, such as the fetching of a token.
fn other_calls(situations: &[JudgedSituation]) -> Option<String> {
    let calls = calls_besides(situations).into_iter();
    let calls = calls.map(|(call, requests)| format!("{call} ({requests} ×)"));
    let calls: Vec<String> = calls.collect();
    (!calls.is_empty())
        .then(|| format!("Not judged: {} (--call selects another call)", listed(&calls, CALLS)))
}

/// Returns the number of requests of each call that was not judged.
fn calls_besides(situations: &[JudgedSituation]) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    let runs = situations.iter().flat_map(|situation| &situation.observation.runs);
    for call in runs.flat_map(|run| &run.others) {
        *calls.entry(format!("{} {}", call.method, call.target)).or_default() += call.requests;
    }
    calls
}

/// Wraps text to the terminal, and keeps numbers and units together.
fn prose(text: &str, first: &str, rest: &str) -> String {
    wrapped_to(terminal_width(), text, first, rest)
}

fn counts(document: &Judgement) -> String {
    let mut parts = vec![
        format!("{} failed", document.failed),
        counted(document.warned as u64, "warning"),
        format!("{} passed", document.passed),
        format!("{} skipped", document.skipped),
    ];
    if document.allowed > 0 {
        parts.push(format!("{} allowed", document.allowed));
    }
    parts.join(", ")
}

fn names(situation: &JudgedSituation) -> String {
    format!("{:<NAME$}{:<TITLE$}", situation.name, situation.title)
}

/// Returns the lines of a situation. Findings that a situation before has in the same words are shortened to their rule.
fn rows(situation: &JudgedSituation, before: &[&JudgedSituation]) -> String {
    let JudgedSituation { verdict, note, findings, .. } = situation;
    let word = word(*verdict);
    let head = names(situation) + word;
    let separator = match verdict {
        Verdict::Skipped => ": ".to_owned(),
        _ => " ".repeat(VERDICT - word.len()),
    };
    if findings.is_empty() {
        return beside(&head, &separator, note);
    }
    let (mut repeated, mut new) = (Vec::new(), String::new());
    for finding in findings {
        let has_it =
            |other: &&&JudgedSituation| other.findings.iter().any(|there| there.text == finding.text);
        if let Some(first) = before.iter().find(has_it) {
            repeated.push(format!("{}, as in {}", finding.rule, first.name));
        } else {
            let _ = writeln!(new, "{}", prose(&sentence(finding), "    ", "        "));
        }
    }
    let first = match repeated.as_slice() {
        [] => head + "\n",
        repeated => beside(&head, &separator, &repeated.join("; ")),
    };
    first + &new
}

fn sentence(finding: &Finding) -> String {
    let first = match (finding.severity, finding.allowed) {
        (_, true) => "allowed: ",
        (Severity::Fail, _) => "",
        (Severity::Warn, _) => "warning: ",
    };
    format!("{first}{} ({})", finding.text, finding.rule)
}

/// Puts words beside the verdict or, if the terminal is too narrow for them, below.
fn beside(head: &str, separator: &str, words: &str) -> String {
    let row = format!("{head}{separator}{words}");
    if row.chars().count() <= terminal_width() {
        return row + "\n";
    }
    format!("{head}\n{}\n", prose(words, "    ", "    "))
}

/// Returns the command's output if it may explain the verdict: after a failure, or without an attempt.
fn explaining<'a>(situation: &JudgedSituation, outputs: &Outputs<'a>) -> Option<&'a str> {
    let is_unclear = situation.verdict == Verdict::Failed || situation.observation.is_empty();
    outputs.get(situation.name.as_str()).copied().filter(|output| is_unclear && !output.is_empty())
}

fn shown_output(output: &str) -> String {
    let lines = last_lines(output);
    let all = output.lines().count();
    let mut text = match all - lines.len() {
        0 => "    output of the command:\n".to_owned(),
        before => format!("    end of the command's output, after {before} other lines:\n"),
    };
    for line in lines {
        let line: String = line.chars().take(terminal_width().saturating_sub(6)).collect();
        let _ = writeln!(text, "    | {line}");
    }
    text
}

fn last_lines(output: &str) -> Vec<&str> {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines[lines.len().saturating_sub(OUTPUT_LINES)..].to_vec()
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Failed => FAIL,
        Verdict::Warned => "warning",
        Verdict::Allowed => "allowed",
        Verdict::Passed => "pass",
        Verdict::Skipped => "skipped",
    }
}

/// Returns the findings of a situation as sentences, each with its rule.
pub(super) fn findings(situation: &JudgedSituation) -> Vec<String> {
    situation.findings.iter().filter(|finding| !finding.allowed).map(sentence).collect()
}

/// `loadgen judge --list`: the situations of the suite and all rules.
pub(super) fn listing(suite: &Suite) -> String {
    let mut text = "Situations\n".to_owned();
    for situation in &suite.situations {
        let runs = if situation.runs == 1 { String::new() } else { format!(", {} runs", situation.runs) };
        let _ = writeln!(text, "  {:<17}{}{runs}", situation.name, situation.title);
        let _ = writeln!(text, "{}", wrapped(&situation.why, "                   ", "                   "));
    }
    text.push_str("\nRules\n");
    for rule in RULES {
        let severity = match rule.severity {
            Severity::Fail => "fail",
            Severity::Warn => "warn",
        };
        let _ = writeln!(
            text,
            "{}",
            wrapped(
                rule.summary,
                &format!("  {:<23}{severity}  ", rule.name),
                "                               "
            )
        );
    }
    text
}

const MAX_CALLS: usize = 3;

/// Error if no situation has a judged request: the reason, and the end of the command's output.
pub(super) fn no_request(args: &JudgeArgs, judged: &Report, outputs: &[String]) -> anyhow::Error {
    if args.serve {
        let words = "no request reached any of the servers: does the client use their URLs?";
        return Fatal::error(Exit::Unmet, words);
    }
    let calls: Vec<String> = calls_besides(&judged.situations).into_keys().take(MAX_CALLS).collect();
    let calls = calls.join(", ");
    let reason = match (calls.is_empty(), &args.call) {
        (true, _) => "no request reached {url}: does the command use it?".to_owned(),
        (false, Some(_)) => format!("no request matches --call; the command requested {calls}"),
        (false, None) => format!("no request can be judged; the command requested {calls}"),
    };
    let output = outputs.iter().find(|output| !output.trim().is_empty());
    let output = output.map_or_else(
        || "the command wrote nothing".to_owned(),
        |output| format!("the end of its output:\n    | {}", last_lines(output).join("\n    | ")),
    );
    Fatal::error(Exit::Unmet, format!("{reason}\n{output}"))
}
