//! Screen of `loadgen judge`: one line for each situation, its findings, and the counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use results::numbers::counted;
use shell::exit::{Exit, Fatal};
use shell::text::styled::{RED, Styled};
use shell::text::wrapping::{terminal_width, wrapped, wrapped_to};

use crate::args::JudgeArgs;
use crate::judgement::{ClosestPreset, Judgement};
use crate::last_error::is_parse_error;
use crate::observation::{End, ObservedRun};
use crate::report::{JudgedSituation, Reaction, Report, SPEAKS_TLS, TableRow, Verdict};
use crate::rule::{Finding, NO_RETRY, Severity};
use crate::rules::early_retry::WAITED;
use crate::rules::{RULES, gave_up, not_retried};
use crate::situation::{MAX_PATIENCE, Table};
use crate::suite::Suite;
use crate::words::time;

const NAME: usize = 16;
const TITLE: usize = 28;
const VERDICT: usize = 9;
const FAIL: &str = "FAIL";

const SUMMARY: usize = 78;

const OUTPUT_LINES: usize = 10;

/// Output of the command's last run, by the name of the situation.
pub(super) type Outputs = BTreeMap<String, String>;

/// Prints the screen, with failures in red if stdout shows colours.
pub(super) fn print(
    document: &Judgement,
    args: &JudgeArgs,
    outputs: &Outputs,
    took: Option<Duration>,
    stdout_is_claimed: bool,
) -> anyhow::Result<()> {
    let mut screen = Styled::default();
    let never_retried = NeverRetried::of(&document.report.situations);
    let situations: Vec<&JudgedSituation> =
        shown(document).filter(|situation| !never_retried.explains(situation)).collect();
    let longest = situations.iter().map(|situation| situation.name.len() + 2).max().unwrap_or(0);
    let width = longest.max(NAME);
    let (mut last_shown, mut last_error) = (None, None);
    for (index, situation) in situations.iter().enumerate() {
        let rows = rows(situation, &situations[..index], width);
        let start = names(situation, width).len();
        match situation.verdict {
            Verdict::Failed => screen.push_styled(&rows, start..start + FAIL.len(), RED),
            _ => screen.push(&rows),
        }
        // The output is the same in many situations, so it is shown only with new findings, and where it differs from the one before.
        let is_new =
            situation.findings.iter().any(|finding| first_with(finding, &situations[..index]).is_none());
        let output = explaining(situation, outputs).filter(|output| Some(*output) != last_shown);
        if let Some(output) = output.filter(|_| is_new || situation.findings.is_empty()) {
            screen.push(&shown_output(output));
            last_shown = Some(output);
        } else if let Some(error) = error_at_end(situation).filter(|error| Some(*error) != last_error) {
            screen.push(&shown_line(error));
            last_error = Some(error);
        }
    }
    screen.push(&tables(&document.report.tables));
    screen.push(&conclusion(document, args, &never_retried, took));
    screen.print(stdout_is_claimed)
}

fn conclusion(
    document: &Judgement,
    args: &JudgeArgs,
    never_retried: &NeverRetried<'_>,
    took: Option<Duration>,
) -> String {
    let mut text = String::new();
    let Report { situations, causes, .. } = &document.report;
    let causes = causes.iter().map(|cause| format!("{}: {}", cause.situations.join(", "), cause.text));
    let lines = [never_retried.sentence(), other_calls(situations)].into_iter().flatten();
    let hints =
        [patience(args, situations), parse_error(args, situations), serving(args)].into_iter().flatten();
    for line in lines.chain(causes).chain(document.closest.as_ref().map(alike)).chain(hints) {
        let _ = writeln!(text, "{}", prose(&line, "", "    "));
    }
    let unused = situations.len() - shown(document).count();
    if unused > 0 {
        let _ = writeln!(text, "{} received no request.", counted(unused as u64, "situation"));
    }
    let counts = counts(document);
    let took = took.map(|took| format!("{:.1} s", took.as_secs_f64())).unwrap_or_default();
    let width = terminal_width().min(SUMMARY).saturating_sub(counts.len() + 1);
    let _ = writeln!(text, "{}", format!("{counts} {took:>width$}").trim_end());
    text
}

/// Statuses that the client never retried. Situations with them that are skipped tell nothing, so one sentence stands for all.
struct NeverRetried<'a> {
    statuses: BTreeSet<u16>,
    situations: Vec<&'a str>,
}

/// Minimum number of situations for which the sentence stands.
const MANY_SKIPPED: usize = 3;

impl<'a> NeverRetried<'a> {
    fn of(situations: &'a [JudgedSituation]) -> Self {
        let retried: BTreeSet<u16> = situations
            .iter()
            .filter(|situation| situation.observation.has_retry())
            .filter_map(|situation| situation.observation.code())
            .collect();
        let is_over =
            |situation: &&JudgedSituation| situation.observation.runs.iter().all(ObservedRun::is_over);
        let tells_nothing = |situation: &&JudgedSituation| {
            situation.verdict == Verdict::Skipped && situation.note == NO_RETRY && is_over(situation)
        };
        let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
        for situation in situations.iter().filter(tells_nothing) {
            if let Some(status) = situation.observation.code().filter(|status| !retried.contains(status)) {
                by_status.entry(status).or_default().push(&situation.name);
            }
        }
        by_status.retain(|_, names| names.len() > 1);
        if by_status.values().map(Vec::len).sum::<usize>() < MANY_SKIPPED {
            by_status.clear();
        }
        let statuses = by_status.keys().copied().collect();
        Self { statuses, situations: by_status.into_values().flatten().collect() }
    }

    fn explains(&self, situation: &JudgedSituation) -> bool {
        self.situations.contains(&situation.name.as_str())
    }

    fn sentence(&self) -> Option<String> {
        let statuses: Vec<String> = self.statuses.iter().map(u16::to_string).collect();
        let verb = if statuses.len() == 1 { "is" } else { "are" };
        let (count, names) = (self.situations.len(), self.situations.join(", "));
        (count > 0).then(|| {
            format!(
                "{} {verb} never retried, so {count} situations tell nothing: {names}.",
                statuses.join(" and ")
            )
        })
    }
}

/// Names the situations whose whole advice `--patient` awaits.
fn patience(args: &JudgeArgs, situations: &[JudgedSituation]) -> Option<String> {
    let is_cut = |situation: &&JudgedSituation| {
        let advised = situation.observation.attempts().filter_map(|attempt| attempt.reply.advice()?.wait());
        situation.note.starts_with(WAITED) && advised.max().is_some_and(|longest| longest <= MAX_PATIENCE)
    };
    let names: Vec<&str> =
        situations.iter().filter(is_cut).map(|situation| situation.name.as_str()).collect();
    let is_shown = !args.patient && !names.is_empty();
    is_shown.then(|| format!("{}: --patient waits for the whole advice.", names.join(", ")))
}

/// Returns the remedy if the client cannot parse rejections without advice for which the user gave no body.
fn parse_error(args: &JudgeArgs, situations: &[JudgedSituation]) -> Option<String> {
    let without_advice = situations.iter().filter(|situation| !situation.observation.is_advised());
    let runs = without_advice.flat_map(|situation| &situation.observation.runs);
    let code = runs.filter(|run| is_parse_error(&run.last_error)).find_map(|run| {
        let code = run.attempts.last()?.reply.code().filter(|code| run.is_over() && *code >= 400)?;
        let is_given = args.body.iter().any(|body| body.of.is_of(code));
        (!is_given).then_some(code)
    })?;
    Some(format!(
        "The client ends with a parse error after {code}: give the API's own error body with --body {code}=FILE or --preset."
    ))
}

fn serving(args: &JudgeArgs) -> Option<String> {
    let text = "With --serve, forms of Retry-After come with 429; time zones, second runs and waiting in full are left out.";
    args.serve.then(|| text.to_owned())
}

/// Lists the reactions without a verdict, one line for each kind.
fn tables(rows: &[TableRow]) -> String {
    let mut text = String::new();
    for (table, title) in [(Table::Statuses, "Which statuses are retried"), (Table::Advice, "Further advice")]
    {
        let mut by_reaction: BTreeMap<Reaction, Vec<&str>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.table == table) {
            let name = if table == Table::Statuses { &row.name } else { &row.title };
            by_reaction.entry(row.reaction).or_default().push(name);
        }
        if by_reaction.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{title}");
        for (reaction, names) in by_reaction {
            let first = format!("    {:<12}", reaction_word(reaction));
            let separator = if table == Table::Statuses { ", " } else { "; " };
            let _ = writeln!(text, "{}", prose(&names.join(separator), &first, "                "));
        }
    }
    text
}

fn reaction_word(reaction: Reaction) -> &'static str {
    match reaction {
        Reaction::Retried => "retried",
        Reaction::NotRetried => "not retried",
        Reaction::Obeyed => "obeyed",
        Reaction::Ignored => "ignored",
        Reaction::Unclear => "unclear",
    }
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
    let calls: Vec<String> = calls.map(|(call, requests)| format!("{call} ({requests} ×)")).collect();
    (!calls.is_empty())
        .then(|| format!("Not judged: {} (--call selects another call)", listed(&calls, CALLS)))
}

/// Returns the number of requests of each call that was not judged.
fn calls_besides(situations: &[JudgedSituation]) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    let runs = situations.iter().flat_map(|situation| &situation.observation.runs);
    for call in runs.flat_map(|run| &run.others) {
        let protocol = call.protocol.map(|protocol| format!(", {protocol}")).unwrap_or_default();
        *calls.entry(format!("{} {}{protocol}", call.method, call.target)).or_default() += call.requests;
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

fn names(situation: &JudgedSituation, width: usize) -> String {
    let title = &situation.title;
    let gap = if title.chars().count() < TITLE { "" } else { " " };
    format!("{:<width$}{title:<TITLE$}{gap}", situation.name)
}

/// Returns the lines of a situation. Findings that a situation before has in the same words are shortened to their rule.
fn rows(situation: &JudgedSituation, before: &[&JudgedSituation], width: usize) -> String {
    let JudgedSituation { verdict, note, findings, .. } = situation;
    let word = word(*verdict);
    let head = names(situation, width) + word;
    let separator = match verdict {
        Verdict::Skipped => ": ".to_owned(),
        _ => " ".repeat(VERDICT - word.len()),
    };
    if findings.is_empty() {
        return beside(&head, &separator, note);
    }
    let (mut repeated, mut new) = (Vec::new(), String::new());
    for finding in findings {
        if let Some(first) = first_with(finding, before) {
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

/// Returns the first situation that has the finding in the same words.
fn first_with<'a>(finding: &Finding, before: &[&'a JudgedSituation]) -> Option<&'a JudgedSituation> {
    before.iter().find(|other| other.findings.iter().any(|there| there.text == finding.text)).copied()
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
fn explaining<'a>(situation: &JudgedSituation, outputs: &'a Outputs) -> Option<&'a str> {
    let is_unclear = situation.verdict == Verdict::Failed || situation.observation.is_empty();
    outputs.get(&situation.name).map(String::as_str).filter(|output| is_unclear && !output.is_empty())
}

/// Returns the error with which the command ended where it should have retried.
fn error_at_end(situation: &JudgedSituation) -> Option<&str> {
    let ends = |finding: &&Finding| [gave_up::RULE.name, not_retried::RULE.name].contains(&finding.rule);
    let run = situation.findings.iter().find(ends)?.evidence.first()?.run;
    let error = situation.observation.runs.get(run - 1)?.last_error.as_str();
    (!error.is_empty()).then_some(error)
}

fn shown_output(output: &str) -> String {
    let lines = last_lines(output);
    let all = output.lines().count();
    let text = match all - lines.len() {
        0 => "    output of the command:\n".to_owned(),
        before => format!("    end of the command's output, after {before} other lines:\n"),
    };
    text + &lines.into_iter().map(shown_line).collect::<String>()
}

fn shown_line(line: &str) -> String {
    let line: String = line.chars().take(terminal_width().saturating_sub(6)).collect();
    format!("    | {line}\n")
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
        let mut runs = if situation.runs == 1 { String::new() } else { format!(", {} runs", situation.runs) };
        if let Some(table) = situation.table {
            let _ = write!(runs, " (table {}: --patient)", table.name());
        } else if let Some(preset) = situation.presets.first() {
            let _ = write!(runs, " (--preset {preset})");
        }
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
pub(super) fn no_request(args: &JudgeArgs, judged: &Report, outputs: &Outputs) -> anyhow::Error {
    if judged.situations.iter().any(|situation| situation.note == SPEAKS_TLS) {
        let remedy = "give it an address that begins with http://";
        return Fatal::error(Exit::Unmet, format!("{SPEAKS_TLS}; {remedy}"));
    }
    if args.serve {
        let words = "no request reached any of the servers: does the client use their URLs?";
        return Fatal::error(Exit::Unmet, words);
    }
    let mut runs = judged.situations.iter().flat_map(|situation| &situation.observation.runs);
    let was_ended = runs.any(|run| run.end == End::Idle);
    let calls: Vec<String> = calls_besides(&judged.situations).into_keys().take(MAX_CALLS).collect();
    let calls = calls.join(", ");
    let reason = match (calls.is_empty(), &args.call) {
        (true, _) if was_ended => {
            let limit = time(args.start_timeout);
            format!("no request reached {{url}} within {limit} (--start-timeout): does the command use it?")
        }
        (true, _) => "no request reached {url}: does the command use it?".to_owned(),
        (false, Some(_)) => format!("no request matches --call; the command requested {calls}"),
        (false, None) => format!("no request can be judged; the command requested {calls}"),
    };
    let runs = judged.situations.iter().flat_map(|situation| &situation.observation.runs);
    let has_protocol = runs.flat_map(|run| &run.others).any(|call| call.protocol.is_some());
    let protocols = if has_protocol { "; gRPC, websockets and other upgrades are not judged" } else { "" };
    let output = outputs.values().find(|output| !output.trim().is_empty());
    let output = output.map_or_else(
        || "the command wrote nothing".to_owned(),
        |output| format!("the end of its output:\n    | {}", last_lines(output).join("\n    | ")),
    );
    Fatal::error(Exit::Unmet, format!("{reason}{protocols}\n{output}"))
}
