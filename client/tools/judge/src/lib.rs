//! `loadgen judge`: tests the retries of a client in situations that a scripted server creates, and judges them by rules.
//!
//! An `Observation` is either from a real server, which an external program used, or from a strategy in virtual time. All rules are the
//! same for both.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod advice;
mod answers;
mod args;
mod call;
mod closest;
mod door;
mod judgement;
mod last_error;
mod observation;
mod plan;
mod recorded;
mod records;
mod report;
mod rule;
mod rules;
mod runs;
mod serve;
mod simulated;
mod situation;
mod suite;
mod text;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use door::Calls;
use experiments::checks::Condition;
use runs::Client;
use shell::checks::{Case, Outcome, junit};
use shell::exit::{Exit, Fatal};
use shell::files::exports::distinct;
use shell::files::output::Output;
use shell::files::reading::{SMALL, text_of};
use shell::runner::interrupt::Interrupt;
use shell::secrets::program_words;
use shell::text::progress::Live;
use shell::text::stderr::to_stderr;
use shell::text::styled::to_people;
use vocabulary::did_you_mean;

use crate::answers::{Answers, of_file};
use crate::call::BodyOf;
use crate::plan::{Observed, Session};
use crate::recorded::recording;
use crate::report::Verdict;
use crate::rules::unexpected_attempts;
use crate::situation::Situation;
use crate::suite::Suite;

pub use args::{COMMON_FLAGS, EXAMPLES, JudgeArgs};
pub use judgement::Judgement;
pub use observation::OperationType;
pub use report::Report;
pub use rule::Severity;
pub use rules::RULES;
pub use simulated::Simulated;
pub use suite::SuiteText;

pub fn run(args: &JudgeArgs) -> anyhow::Result<ExitCode> {
    let text = suite_text(args)?;
    if args.list {
        to_people(&text::listing(&text.parse()?), false)?;
        return Ok(ExitCode::SUCCESS);
    }
    let usual = selected(args, &text)?;
    let files = outputs(args)?;
    let [json, junit_file, recording_file] = &files;
    refuse_unknown_figures(&args.fail_if)?;
    refuse_unknown_situations(args, &usual)?;
    let interrupt = Interrupt::listen()?;
    let started = Instant::now();
    let mut outputs = BTreeMap::new();
    let observed = if args.serve {
        serve::serve(usual, args, &Arc::new(calls(args)?), &interrupt)?
    } else {
        observe(args, &text, &interrupt, &mut outputs)?
    };
    let Observed { suite, observations } = &observed;
    let report = args.judge().report(suite, observations);
    let (done, all) = (report.situations.len() + report.tables.len(), suite.situations.len());
    let mut document = Judgement::new(args, report, done == all);
    let mut recorded = None;
    if recording_file.is_some() {
        let text = recording(suite, &document.report, &program_words(&args.command).join(" "))? + "\n";
        let (recording, mut live) = (recordings::read(&text)?, Live::new(!args.quiet));
        document.closest = closest::closest(&recording, &document.report, suite, &interrupt, &mut live)
            .map_err(|error| Fatal::because(Exit::Usage, "a preset cannot be started", error))?;
        recorded = Some(text);
    }
    let has_request = document.attempts > 0 || !document.complete;
    if !args.quiet && has_request {
        let took = (args.strategy.is_none()).then(|| started.elapsed());
        text::print(&document, args, &outputs, took, files.iter().flatten().any(Output::is_stdout))?;
    }
    if let Some(json) = json {
        json.write(&[serde_json::to_vec(&document)?, b"\n".to_vec()].concat())?;
    }
    if let Some(file) = junit_file {
        junit::write(&cases(args, &document), file)?;
    }
    if let (Some(file), Some(text)) = (recording_file, recorded) {
        file.write(text.as_bytes())?;
    }
    if !has_request {
        return Err(text::no_request(args, &document.report, &outputs));
    }
    let skipped = args.strict && document.skipped * 2 > document.report.situations.len();
    let skipped = skipped.then(|| {
        format!(
            "{} of {} situations are skipped (--strict)",
            document.skipped,
            document.report.situations.len()
        )
    });
    let failed: Vec<String> =
        args.fail_if.iter().filter_map(|condition| failure(condition, &document)).chain(skipped).collect();
    for line in &failed {
        to_stderr(&format!("failed: {line}\n"));
    }
    if let Some(exit) = interrupt.exit().filter(|_| !args.serve) {
        to_stderr(&format!("interrupted: {done} of {all} situations are complete\n"));
        return Ok(exit.into());
    }
    let is_failed = !failed.is_empty()
        || document.report.situations.iter().any(|situation| fails(args, situation.verdict));
    Ok(if is_failed { Exit::Failed.into() } else { ExitCode::SUCCESS })
}

/// Whether a situation with this verdict makes the command fail.
fn fails(args: &JudgeArgs, verdict: Verdict) -> bool {
    verdict == Verdict::Failed || args.strict && verdict == Verdict::Warned
}

/// Prepares the files of `--json`, `--junit` and `--recording`.
fn outputs(args: &JudgeArgs) -> anyhow::Result<[Option<Output>; 3]> {
    let JudgeArgs { json, junit, recording, .. } = args;
    distinct([json, junit, recording].into_iter().flatten().map(PathBuf::as_path))?;
    let output =
        |path: &Option<PathBuf>, flag| path.as_deref().map(|path| Output::prepare(path, flag)).transpose();
    Ok([output(json, "--json")?, output(junit, "--junit")?, output(recording, "--recording")?])
}

fn suite_text(args: &JudgeArgs) -> anyhow::Result<SuiteText> {
    let Some(path) = &args.suite else { return Ok(SuiteText::built_in(args.retry_after)) };
    let unusable = |error: anyhow::Error| {
        Fatal::because(Exit::Usage, format!("`{}` (--suite) cannot be used", path.display()), error)
    };
    let text = text_of(path, SMALL).map_err(|error| unusable(error.into()))?;
    let text = SuiteText::new(text, args.retry_after);
    text.parse().map_err(|error| unusable(error.into()))?;
    Ok(text)
}

/// Parses the suite and keeps the situations that the flags select.
fn selected(args: &JudgeArgs, text: &SuiteText) -> anyhow::Result<Suite> {
    let mut suite = text.parse()?;
    if !args.only.is_empty() {
        suite.keep_only(&args.only).map_err(|why| Fatal::error(Exit::Usage, format!("--only: {why}")))?;
    }
    if let Some(preset) = &args.preset {
        suite.judge_answers_of(preset);
    }
    if args.only.is_empty() {
        suite.keep_usual(args.patient);
    }
    let is_counted = |situation: &Situation| situation.is_made_for(unexpected_attempts::RULE.name);
    if args.expect_attempts.is_some() && !suite.situations.iter().any(is_counted) {
        let words = "--expect-attempts needs a situation without an end; add `forever` to --only";
        return Err(Fatal::error(Exit::Usage, words));
    }
    Ok(suite)
}

fn refuse_unknown_situations(args: &JudgeArgs, suite: &Suite) -> anyhow::Result<()> {
    for situation in args.allow.iter().filter_map(|allowed| allowed.situation.as_deref()) {
        if suite.find(situation).is_none() {
            let near = did_you_mean(situation, suite.names());
            let words = format!(
                "--allow: there is no situation `{situation}`{near}; `loadgen judge --list` lists them"
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(())
}

/// Runs the client in all situations. The output of a command's last run in each situation is added to `outputs`.
fn observe(
    args: &JudgeArgs,
    text: &SuiteText,
    interrupt: &Interrupt,
    outputs: &mut BTreeMap<String, String>,
) -> anyhow::Result<Observed> {
    let (judge, select) = (args.judge(), |text: &SuiteText| selected(args, text));
    let (judge, selected) = (&judge, &select);
    if let Some(strategy) = &args.strategy {
        let operation = args.op.unwrap_or(OperationType::Read);
        let mut runner = Simulated { strategy, operation, seed: args.seed, idle: args.idle_timeout };
        let session = Session { judge, selected, is_patient: true, has_keys: false, runner: &mut runner };
        return session.observe(text);
    }
    let (calls, live) = (Arc::new(calls(args)?), Live::new(!args.quiet));
    let mut client = Client { args, calls, interrupt, live, outputs: BTreeMap::new() };
    let is_patient = args.patient;
    let session = Session { judge, selected, is_patient, has_keys: true, runner: &mut client };
    let observed = session.observe(text)?;
    *outputs = client.outputs;
    Ok(observed)
}

fn calls(args: &JudgeArgs) -> anyhow::Result<Calls> {
    let mut answers = match &args.preset {
        Some(preset) => Answers::of_preset(preset)?,
        None => Answers::default(),
    };
    let mut bodies = Vec::new();
    for body in &args.body {
        let text = text_of(&body.file, SMALL).map_err(|error| {
            let words = format!("`{}` (--body) cannot be read as text", body.file.display());
            Fatal::because(Exit::Usage, words, error)
        })?;
        match &body.of {
            BodyOf::Call(call) => bodies.push((call.clone(), text)),
            BodyOf::Success => answers.success.1 = text,
            BodyOf::Status(status) => drop(answers.statuses.insert(*status, of_file(text))),
            BodyOf::Class(class) => drop(answers.classes.insert(*class, of_file(text))),
        }
    }
    for header in &args.headers {
        let value = header.value.to_str().map_err(|_| {
            let words = format!("the value of `{}` (--header) must be ASCII text", header.name);
            Fatal::error(Exit::Usage, words)
        })?;
        answers.success.0.insert(header.name.as_str().to_owned(), value.to_owned());
    }
    Ok(Calls {
        call: args.call.clone(),
        identities: args.serve.then(|| args.identity.clone()),
        answers,
        bodies,
        keys: args.key.clone(),
    })
}

type FigureOf = fn(&Judgement) -> f64;

/// Figures that `--fail-if` accepts, by their keys in the JSON document.
const FIGURES: [(&str, FigureOf); 7] = [
    ("failed", |document| document.failed as f64),
    ("warned", |document| document.warned as f64),
    ("allowed", |document| document.allowed as f64),
    ("passed", |document| document.passed as f64),
    ("skipped", |document| document.skipped as f64),
    ("early_retries", |document| document.early_retries as f64),
    ("attempts", |document| document.attempts as f64),
];

fn refuse_unknown_figures(conditions: &[Condition]) -> anyhow::Result<()> {
    let names = FIGURES.map(|(name, _)| name);
    for condition in conditions {
        if condition.strategy.is_some() || !names.contains(&condition.path.as_str()) {
            let near = did_you_mean(&condition.path, names);
            let words = format!(
                "--fail-if '{}': `loadgen judge` has no figure `{}`{near}; its figures are {}",
                condition.text,
                condition.path,
                names.join(", ")
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(())
}

/// Returns the condition with its figure if it holds.
fn failure(condition: &Condition, document: &Judgement) -> Option<String> {
    let (_, figure) = FIGURES.iter().find(|(name, _)| *name == condition.path)?;
    let figure = figure(document);
    condition.operator.holds(figure, condition.value).then(|| format!("`{}`: {figure}", condition.text))
}

/// Returns the test cases for CI systems. Conditions of `--fail-if` follow the situations.
fn cases(args: &JudgeArgs, document: &Judgement) -> Vec<Case> {
    let command = || {
        if args.serve { "loadgen judge --serve".to_owned() } else { program_words(&args.command).join(" ") }
    };
    let group = args.strategy.as_ref().map_or_else(command, ToString::to_string);
    let group = vocabulary::printable(&vocabulary::excerpt(&group)).into_owned();
    let case = |name, outcome| Case { group: group.clone(), name, outcome };
    let situations = document.report.situations.iter().map(|situation| {
        let message = vocabulary::printable(&text::findings(situation).join("; ")).into_owned();
        let outcome = match situation.verdict {
            verdict if fails(args, verdict) => Outcome::Failed(message),
            Verdict::Skipped => Outcome::Skipped(vocabulary::printable(&situation.note).into_owned()),
            _ => Outcome::Passed,
        };
        case(format!("{}: {}", situation.name, situation.title), outcome)
    });
    let conditions = args.fail_if.iter().map(|condition| {
        let outcome = failure(condition, document).map_or(Outcome::Passed, Outcome::Failed);
        case(format!("fails if {}", condition.text), outcome)
    });
    situations.chain(conditions).collect()
}
