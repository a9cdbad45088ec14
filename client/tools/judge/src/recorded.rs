//! Observations as a recording of a client, and the presets that behave alike.

use mockserver_core::WrittenStep;
use recordings::{CheckOutcome, Difference, Effort, Recording, check_within};
use serde::Serialize;
use tailback::{SpecError, StrategySpec};

use crate::answers::Answers;
use crate::judgement::{ClosestPreset, PresetDifference};
use crate::observation::{End, Observation, ObservedRun, seconds};
use crate::report::Report;
use crate::situation::Situation;
use crate::suite::Suite;

/// Recording in the format that [`read`](recordings::read) parses. Situations in which a run did not end by itself are left out, because it
/// would have gone on.
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

/// Converts observations to the text of a recording. `command` names the client. The recording has the usual success answer, because the
/// user's own one may contain secrets.
///
/// # Errors
/// Fails if the recording does not serialize to JSON, which does not happen.
pub(crate) fn recording(suite: &Suite, report: &Report, command: &str) -> serde_json::Result<String> {
    let written = Written {
        library: command,
        version: "",
        // The precision of recordings of command-line programs is assumed, because the command runs in a process of its own.
        language: "command line",
        interception: "none: real time, by loadgen judge",
        scenarios: report
            .situations
            .iter()
            .filter_map(|judged| scenario(suite.find(&judged.name)?, &judged.observation, command))
            .collect(),
    };
    serde_json::to_string_pretty(&written)
}

fn scenario<'a>(
    situation: &'a Situation,
    observation: &'a Observation,
    command: &'a str,
) -> Option<WrittenScenario<'a>> {
    // Further runs with longer advice have another script.
    let runs: Vec<&ObservedRun> = observation.runs.iter().filter(|run| !run.has_longer_advice).collect();
    let is_complete =
        |run: &&ObservedRun| run.end == End::Exited && !run.attempts.is_empty() && !run.overlaps();
    let first = runs.first()?.attempts.first()?;
    runs.iter().all(is_complete).then(|| WrittenScenario {
        id: &situation.name,
        config: command,
        method: &first.method,
        steps: situation.steps(&Answers::default()),
        n: runs.len(),
        attempts: runs.iter().map(|run| run.attempts.len()).collect(),
        samples: runs.iter().map(|run| delays(run)).collect(),
        outcome: outcome(&runs),
    })
}

fn delays(run: &ObservedRun) -> Vec<f64> {
    run.retries().map(|retry| seconds(retry.delay())).collect()
}

/// Returns the outcome if all runs ended with the same complete answer. Without one, the server cannot know what the caller got.
fn outcome(runs: &[&ObservedRun]) -> Option<WrittenOutcome> {
    let last = |run: &ObservedRun| run.attempts.last()?.reply.code();
    let status = last(runs.first()?)?;
    runs.iter().all(|run| last(run) == Some(status)).then_some(WrittenOutcome { r#type: "answer", status })
}

/// Comparison of one strategy with a recording, situation by situation.
#[derive(Clone, Debug)]
pub(crate) struct Comparison<'a> {
    recording: &'a Recording,
    strategy: StrategySpec,
    /// Outcome of each situation; `None` as long as it is unknown.
    outcomes: Vec<Option<CheckOutcome>>,
}

impl<'a> Comparison<'a> {
    /// Begins a comparison. A situation counts as different if `differs` returns a difference for its name, whatever the attempts are.
    pub(crate) fn new(
        recording: &'a Recording,
        strategy: StrategySpec,
        differs: impl Fn(&str) -> Option<Difference>,
    ) -> Self {
        let known = recording.pairs.iter().map(|pair| differs(&pair.id).map(CheckOutcome::Differs));
        Self { recording, strategy, outcomes: known.collect() }
    }

    /// Returns the number of situations that are known to differ.
    pub(crate) fn min_differences(&self) -> usize {
        self.outcomes.iter().flatten().filter(|outcome| matches!(outcome, CheckOutcome::Differs(_))).count()
    }

    /// Returns the number of situations that differ or whose outcome is unknown.
    pub(crate) fn max_differences(&self) -> usize {
        self.min_differences() + self.outcomes.iter().filter(|outcome| outcome.is_none()).count()
    }

    /// Compares situations whose outcome is unknown. Ends as soon as more than `limit` situations differ; `limit` may fall meanwhile.
    /// Situations that need more effort stay unknown.
    ///
    /// # Errors
    /// Fails if the strategy cannot be started.
    pub(crate) fn compare(&mut self, effort: Effort, limit: impl Fn() -> usize) -> Result<(), SpecError> {
        for (index, pair) in self.recording.pairs.iter().enumerate() {
            if self.min_differences() > limit() {
                break;
            }
            if self.outcomes[index].is_none() {
                self.outcomes[index] = check_within(pair, &self.strategy, effort)?;
            }
        }
        Ok(())
    }

    /// Returns the result, or `None` if no situation could be compared. Situations with an unknown outcome are left out.
    pub(crate) fn closeness(&self) -> Option<ClosestPreset> {
        let (mut same, mut differs) = (0, Vec::new());
        for (pair, outcome) in self.recording.pairs.iter().zip(&self.outcomes) {
            match outcome {
                Some(CheckOutcome::Reproduced) => same += 1,
                Some(CheckOutcome::Differs(difference)) => differs
                    .push(PresetDifference { situation: pair.id.clone(), text: difference.to_string() }),
                Some(CheckOutcome::NoPreset | CheckOutcome::Skipped(_)) | None => {}
            }
        }
        let (presets, compared) = (vec![self.strategy.to_string()], same + differs.len());
        (compared > 0).then_some(ClosestPreset { presets, same, compared, differs })
    }
}
