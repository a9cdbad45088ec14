//! `loadgen judge`: tests the retries of a client in situations that a scripted server creates, and judges them by rules.
//!
//! An [`Observation`] is either from a real server, which an external program used, or from a strategy in virtual time. All rules are the
//! same for both.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod advice;
mod args;
mod call;
mod closest;
mod document;
mod door;
mod judged;
mod judgement;
mod observation;
mod recorded;
mod records;
mod report;
mod rule;
mod rules;
mod runs;
mod serve;
mod simulated;
mod suite;
mod text;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use door::{Calls, Selection};
use experiments::checks::Condition;
use runs::{Client, Observed};
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

use crate::judged::Verdict;
use crate::recorded::recording;
use crate::report::Allowed;
use crate::suite::Success;

pub use args::{COMMON_FLAGS, EXAMPLES, JudgeArgs};
pub use judgement::Judgement;
pub use observation::{Observation, OperationType};
pub use report::{Report, report};
pub use rule::Severity;
pub use rules::RULES;
pub use simulated::simulate;
pub use suite::Suite;

pub fn run(args: &JudgeArgs) -> anyhow::Result<ExitCode> {
    let suite = suite(args)?;
    if args.list {
        to_people(&text::listing(&suite), false)?;
        return Ok(ExitCode::SUCCESS);
    }
    let files = Files::prepare(args)?;
    refuse_unknown_figures(&args.fail_if)?;
    let allowed = allowed(args, &suite)?;
    let interrupt = Interrupt::listen()?;
    let started = Instant::now();
    let operation = args.op.map(OperationType::from);
    let observed = if args.serve {
        let (idle, hosts) = (args.idle_timeout, args.allow_host.clone());
        let rules = serve::Rules { operation, allowed: allowed.clone(), idle, hosts };
        serve::serve(&suite, &Arc::new(calls(args)?), rules, &interrupt)?
    } else {
        observe(args, &suite, &interrupt)?
    };
    let judged = report(&suite, &observed.observations, operation, &allowed, args.idle_timeout);
    let is_complete = judged.situations.len() == suite.situations.len();
    let mut document = document::document(args, &judged, is_complete);
    let recording = files.recording.as_ref().map(|_| recorded(args, &judged, &suite)).transpose()?;
    if let Some(text) = &recording {
        let mut live = Live::new(!args.quiet);
        document.closest =
            closest::closest(&recordings::read(text)?, &judged, &suite, &interrupt, &mut live)?;
    }
    let has_request = document.attempts > 0 || !is_complete;
    if !args.quiet && has_request {
        let took = (args.strategy.is_none()).then(|| started.elapsed());
        let outputs = suite.names().zip(observed.outputs.iter().map(String::as_str)).collect();
        text::print(&document, &outputs, took, files.claim_stdout())?;
    }
    files.write(&document, &cases(args, &document, &judged), recording.as_deref())?;
    if !has_request {
        return Err(text::no_request(args, &judged, &observed.outputs));
    }
    let failed = failed_conditions(&args.fail_if, &document);
    for line in &failed {
        to_stderr(&format!("failed: {line}\n"));
    }
    if let Some(exit) = interrupt.exit().filter(|_| !args.serve) {
        let (done, all) = (judged.situations.len(), suite.situations.len());
        to_stderr(&format!("interrupted: {done} of {all} situations are complete\n"));
        return Ok(exit.into());
    }
    Ok(exit(args, &judged, !failed.is_empty()))
}

/// Output files.
struct Files {
    json: Option<Output>,
    junit: Option<Output>,
    recording: Option<Output>,
}

impl Files {
    fn prepare(args: &JudgeArgs) -> anyhow::Result<Self> {
        distinct([&args.json, &args.junit, &args.recording].into_iter().flatten().map(PathBuf::as_path))?;
        let output = |path: &Option<PathBuf>, flag| {
            path.as_deref().map(|path| Output::prepare(path, flag)).transpose()
        };
        Ok(Self {
            json: output(&args.json, "--json")?,
            junit: output(&args.junit, "--junit")?,
            recording: output(&args.recording, "--recording")?,
        })
    }

    fn claim_stdout(&self) -> bool {
        [&self.json, &self.junit, &self.recording].into_iter().flatten().any(Output::is_stdout)
    }

    fn write(&self, document: &Judgement, cases: &[Case], recording: Option<&str>) -> anyhow::Result<()> {
        if let Some(json) = &self.json {
            json.write(&[serde_json::to_vec(document)?, b"\n".to_vec()].concat())?;
        }
        if let Some(junit) = &self.junit {
            junit::write(cases, junit)?;
        }
        if let (Some(output), Some(text)) = (&self.recording, recording) {
            output.write(text.as_bytes())?;
        }
        Ok(())
    }
}

fn recorded(args: &JudgeArgs, judged: &Report, suite: &Suite) -> anyhow::Result<String> {
    let observed =
        judged.situations.iter().filter_map(|judged| Some((suite.find(&judged.name)?, &judged.observation)));
    let observed: Vec<_> = observed.collect();
    let text = recording(&observed, &program_words(&args.command).join(" "))?;
    Ok(text + "\n")
}

fn exit(args: &JudgeArgs, judged: &Report, has_failed_condition: bool) -> ExitCode {
    let is_warned = args.strict && judged.count(Verdict::Warned) > 0;
    if judged.count(Verdict::Failed) > 0 || is_warned || has_failed_condition {
        Exit::Failed.into()
    } else {
        ExitCode::SUCCESS
    }
}

fn suite(args: &JudgeArgs) -> anyhow::Result<Suite> {
    let mut suite = match &args.suite {
        None => Suite::built_in(args.retry_after)?,
        Some(path) => {
            let unusable = |error: anyhow::Error| {
                Fatal::because(Exit::Usage, format!("`{}` (--suite) cannot be used", path.display()), error)
            };
            let text = text_of(path, SMALL).map_err(|error| unusable(error.into()))?;
            Suite::parse(&text, args.retry_after).map_err(|error| unusable(error.into()))?
        }
    };
    if !args.only.is_empty() {
        suite.keep_only(&args.only).map_err(|why| Fatal::error(Exit::Usage, format!("--only: {why}")))?;
    }
    Ok(suite)
}

fn allowed(args: &JudgeArgs, suite: &Suite) -> anyhow::Result<Vec<Allowed>> {
    let allowed: Vec<Allowed> = args.allow.iter().map(|finding| finding.0.clone()).collect();
    for situation in allowed.iter().filter_map(|allowed| allowed.situation.as_deref()) {
        if suite.find(situation).is_none() {
            let near = did_you_mean(situation, suite.names());
            let words = format!(
                "--allow: there is no situation `{situation}`{near}; `loadgen judge --list` lists them"
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(allowed)
}

fn observe(args: &JudgeArgs, suite: &Suite, interrupt: &Interrupt) -> anyhow::Result<Observed> {
    let Some(strategy) = &args.strategy else {
        let client = Client {
            command: &args.command,
            env: &args.env,
            calls: Arc::new(calls(args)?),
            idle: args.idle_timeout,
            jobs: args.jobs,
        };
        return client.observe(suite, interrupt, &mut Live::new(!args.quiet));
    };
    let operation = args.op.map_or(OperationType::Read, OperationType::from);
    let mut observations = Vec::with_capacity(suite.situations.len());
    for situation in &suite.situations {
        let observation = match interrupt.received() {
            0 => Some(simulate(situation, strategy, operation, args.seed, args.idle_timeout)?),
            _ => None,
        };
        observations.push(observation);
    }
    Ok(Observed { observations, outputs: vec![String::new(); suite.situations.len()] })
}

fn calls(args: &JudgeArgs) -> anyhow::Result<Calls> {
    let mut success = Success::default();
    for header in &args.headers {
        let value = header.value.to_str().map_err(|_| {
            let words = format!("the value of `{}` (--header) must be ASCII text", header.name);
            Fatal::error(Exit::Usage, words)
        })?;
        success.headers.insert(header.name.as_str().to_owned(), value.to_owned());
    }
    let mut bodies = Vec::new();
    for body in &args.body {
        let text = body_text(&body.file)?;
        match &body.call {
            Some(call) => bodies.push((call.clone(), text)),
            None => success.body = text,
        }
    }
    let call = args.call.clone();
    let selection = match (args.serve, call) {
        (true, call) => Selection::Ops {
            call,
            identities: args.identity.iter().map(|name| name.to_ascii_lowercase()).collect(),
        },
        (false, Some(call)) => Selection::Call(call),
        (false, None) => Selection::FirstCall,
    };
    Ok(Calls { selection, success, bodies, keys: args.key.clone() })
}

fn body_text(path: &Path) -> anyhow::Result<String> {
    text_of(path, SMALL).map_err(|error| {
        Fatal::because(Exit::Usage, format!("`{}` (--body) cannot be read as text", path.display()), error)
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
    let names = || FIGURES.iter().map(|(name, _)| *name);
    for condition in conditions {
        if condition.strategy.is_some() || !names().any(|name| name == condition.path) {
            let near = did_you_mean(&condition.path, names());
            let all: Vec<&str> = names().collect();
            let words = format!(
                "--fail-if '{}': `loadgen judge` has no figure `{}`{near}; its figures are {}",
                condition.text,
                condition.path,
                all.join(", ")
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(())
}

fn failed_conditions(conditions: &[Condition], document: &Judgement) -> Vec<String> {
    let holds = |condition: &&Condition| {
        figure(condition, document).is_some_and(|figure| condition.operator.holds(figure, condition.value))
    };
    let line = |condition: &Condition| {
        format!("`{}`: {}", condition.text, figure(condition, document).unwrap_or_default())
    };
    conditions.iter().filter(holds).map(line).collect()
}

fn figure(condition: &Condition, document: &Judgement) -> Option<f64> {
    FIGURES.iter().find(|(name, _)| *name == condition.path).map(|(_, figure)| figure(document))
}

/// Returns the test cases for CI systems. Conditions of `--fail-if` follow the situations.
fn cases(args: &JudgeArgs, document: &Judgement, judged: &Report) -> Vec<Case> {
    let command = || {
        if args.serve { "loadgen judge --serve".to_owned() } else { program_words(&args.command).join(" ") }
    };
    let group = args.strategy.as_ref().map_or_else(command, ToString::to_string);
    let group = vocabulary::printable(&vocabulary::excerpt(&group)).into_owned();
    let case = |name: &str, outcome| Case { group: group.clone(), name: name.to_owned(), outcome };
    let situations = judged.situations.iter().map(|situation| {
        let message = vocabulary::printable(&text::findings(situation).join("; ")).into_owned();
        let fails =
            situation.verdict == Verdict::Failed || args.strict && situation.verdict == Verdict::Warned;
        let outcome = match situation.verdict {
            _ if fails => Outcome::Failed(message),
            Verdict::Skipped => Outcome::Skipped(vocabulary::printable(&situation.note).into_owned()),
            _ => Outcome::Passed,
        };
        case(&format!("{}: {}", situation.name, situation.title), outcome)
    });
    let failed = failed_conditions(&args.fail_if, document);
    let conditions = args.fail_if.iter().map(|condition| {
        let message = failed.iter().find(|line| line.starts_with(&format!("`{}`", condition.text)));
        let outcome = message.map_or(Outcome::Passed, |message| Outcome::Failed(message.clone()));
        case(&format!("fails if {}", condition.text), outcome)
    });
    situations.chain(conditions).collect()
}
