//! Observations as a recording of a client, and the presets that behave alike.

use mockserver_core::WrittenStep;
use serde::Serialize;
use tailback::{SpecError, StrategySpec};

use super::observation::{End, Observation, ObservedRun, Reply};
use super::suite::{Situation, Success};
use crate::check::check_strategy;
use crate::outcome::{CheckOutcome, Difference};
use crate::pair::Recording;

/// Recording in the format that [`read`](crate::read) parses. Situations in which a run did not end by itself are left out, because it would have gone on.
#[derive(Debug, Serialize)]
struct Written<'a> {
    library: &'a str,
    version: &'a str,
    language: &'a str,
    interception: &'a str,
    scenarios: Vec<WrittenScenario<'a>>,
}

#[derive(Debug, Serialize)]
struct WrittenScenario<'a> {
    id: &'a str,
    config: &'a str,
    method: &'a str,
    steps: Vec<WrittenStep>,
    n: usize,
    attempts: Vec<usize>,
    samples: Vec<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<WrittenOutcome>,
}

#[derive(Debug, Serialize)]
struct WrittenOutcome {
    r#type: &'static str,
    status: u16,
}

#[derive(Clone, Debug)]
pub struct Closeness {
    pub strategy: String,
    /// Number of situations in which the strategy behaves as recorded.
    pub same: usize,
    /// Situations in which the strategy behaves otherwise, each with the first difference.
    pub differs: Vec<(String, Difference)>,
}

/// Converts observations to the text of a recording. `command` names the client.
///
/// # Errors
/// Fails if the recording does not serialize to JSON, which does not happen.
pub fn recording(
    observed: &[(&Situation, &Observation)],
    success: &Success,
    command: &str,
) -> serde_json::Result<String> {
    let written = Written {
        library: command,
        version: "",
        // The precision of recordings of command-line programs is assumed, because the command runs in a process of its own.
        language: "command line",
        interception: "none: real time, by loadgen judge",
        scenarios: observed
            .iter()
            .filter_map(|(situation, observation)| scenario(situation, observation, success, command))
            .collect(),
    };
    serde_json::to_string_pretty(&written)
}

fn scenario<'a>(
    situation: &'a Situation,
    observation: &'a Observation,
    success: &Success,
    command: &'a str,
) -> Option<WrittenScenario<'a>> {
    let runs = &observation.runs;
    let is_complete =
        |run: &ObservedRun| matches!(run.end, End::Exited(_)) && !run.attempts.is_empty() && !run.overlaps();
    let first = runs.first()?.attempts.first()?;
    runs.iter().all(is_complete).then(|| WrittenScenario {
        id: &situation.name,
        config: command,
        method: &first.method,
        steps: situation.steps(success),
        n: runs.len(),
        attempts: runs.iter().map(|run| run.attempts.len()).collect(),
        samples: runs.iter().map(delays).collect(),
        outcome: outcome(runs),
    })
}

fn delays(run: &ObservedRun) -> Vec<f64> {
    run.retries().map(|retry| (retry.delay().as_secs_f64() * 1e6).round() / 1e6).collect()
}

/// Returns the outcome if all runs ended with the same complete answer. Without one, the server cannot know what the caller got.
fn outcome(runs: &[ObservedRun]) -> Option<WrittenOutcome> {
    let last = |run: &ObservedRun| match run.attempts.last()?.reply {
        Reply::Status { code, .. } => Some(code),
        Reply::Broken { .. } | Reply::Open => None,
    };
    let status = last(runs.first()?)?;
    runs.iter().all(|run| last(run) == Some(status)).then_some(WrittenOutcome { r#type: "answer", status })
}

/// Compares one strategy with a recording. A situation counts as different if `differs` returns a difference for its name, whatever the
/// attempts are. Returns `None` if the recording has no scenario, or if the strategy differs in more than `max_differences` scenarios.
///
/// # Errors
/// Fails if the strategy cannot be started.
pub fn closeness(
    recording: &Recording,
    strategy: &StrategySpec,
    max_differences: usize,
    differs: impl Fn(&str) -> Option<Difference>,
) -> Result<Option<Closeness>, SpecError> {
    let mut closeness = Closeness { strategy: strategy.to_string(), same: 0, differs: Vec::new() };
    for pair in &recording.pairs {
        let outcome = match differs(&pair.id) {
            Some(difference) => CheckOutcome::Differs(difference),
            None => check_strategy(pair, strategy)?,
        };
        match outcome {
            CheckOutcome::Reproduced => closeness.same += 1,
            CheckOutcome::Differs(_) if closeness.differs.len() >= max_differences => return Ok(None),
            CheckOutcome::Differs(difference) => closeness.differs.push((pair.id.clone(), difference)),
            CheckOutcome::NoPreset | CheckOutcome::Skipped(_) => {}
        }
    }
    Ok((closeness.same + closeness.differs.len() > 0).then_some(closeness))
}
