//! Pair of a recorded scenario and one configuration of the library, checked for consistency.

use std::time::Duration;

use mockserver_core::{Script, ScriptFileError, WrittenStep};
use serde_json::Value;

use crate::ending::{Ending, RecordedEnding};
use crate::grain::Grain;
use crate::raw::{self, OneOrMany, RawFile, RawKind, RawOutcome, RawOutcomes, RawScenario, SeriesScripts};

/// Maximum number of ops of one pair. The maximum for a series is lower (`MAX_OF_SERIES`), because a series is simulated many times.
const MAX_OPS: usize = 100_000;
const MAX_OF_SERIES: usize = 10_000;

/// Maximum number of delays of one pair. Even a short file may exceed it, because a list that the file contains once may apply to all ops.
const MAX_DELAYS: usize = 1_000_000;

#[derive(Clone, Debug)]
pub struct Pair {
    pub id: String,
    pub config: String,
    /// HTTP method of the first request; `None` if not recorded.
    pub method: Option<String>,
    pub(crate) grain: Grain,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub struct Recording {
    pub library: String,
    pub version: String,
    pub pairs: Vec<Pair>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Ops(Ops),
    Series(Series),
    Skipped(String),
}

/// Recorded independent ops, each of which has its own client. Every list except `endings` has one entry per op, or is empty if the values
/// were not recorded. `endings` has one entry per kind of ending, with the number of ops that ended in this way.
#[derive(Clone, Debug)]
pub(crate) struct Ops {
    pub script: Script,
    pub attempts: Vec<u32>,
    /// Delays before the retries of each recorded op, in seconds.
    pub delays: Vec<Vec<f64>>,
    pub before_first: Vec<f64>,
    pub after_last: Vec<f64>,
    pub endings: Vec<(RecordedEnding, usize)>,
}

/// Consecutive ops of one client. The lists `attempts`, `waits` and `endings` have one entry per op. Each of them is empty if its values
/// were not recorded.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub script: Script,
    pub pause: Duration,
    pub ops: usize,
    pub attempts: Vec<u32>,
    pub waits: Vec<Waits>,
    pub endings: Vec<RecordedEnding>,
    /// All kinds of endings that occurred in the series. Empty if they were not recorded.
    pub kinds: Vec<RecordedEnding>,
    /// Cumulative number of retries after 100, 200, 300 and more ops. Empty if the numbers were not recorded.
    pub granted: Vec<u64>,
}

/// Waits in one op of a series, in seconds. A wait is `None` if it was not recorded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Waits {
    pub before_first: Option<f64>,
    pub delays: Vec<f64>,
    pub after_last: Option<f64>,
}

/// Error in the form of a file, with the path of the invalid field unless it concerns the whole file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordingError(String);

/// Error in a scenario: the name of the invalid field, and a message.
type Wrong = (&'static str, String);

/// Parses the text of a recording file. If a scenario cannot be replayed, it becomes a pair that contains the reason.
///
/// # Errors
/// Returns the first invalid field of the file.
pub fn read(text: &str) -> Result<Recording, RecordingError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let file: RawFile =
        serde_path_to_error::deserialize(&mut json).map_err(|error| RecordingError(with_path(&error)))?;
    let grain = Grain::new(&file.library, &file.language, &file.interception);
    let pairs = file.scenarios.into_iter().enumerate();
    let pairs = pairs.map(|(index, scenario)| Pair::read(index, &scenario, grain, &file.series)).collect();
    Ok(Recording { library: file.library, version: file.version, pairs })
}

fn with_path(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    match error.path().to_string().as_str() {
        "." => error.inner().to_string(),
        path => format!("`{path}`: {}", error.inner()),
    }
}

impl Pair {
    fn read(index: usize, scenario: &Value, grain: Grain, series: &SeriesScripts) -> Self {
        let raw: RawScenario = match serde_path_to_error::deserialize(scenario) {
            Ok(raw) => raw,
            Err(error) => {
                let text = |field: &str| scenario.get(field).and_then(Value::as_str).map(str::to_owned);
                let id = text("id").unwrap_or_else(|| format!("scenario {}", index + 1));
                let config = text("config").unwrap_or_default();
                return Self { id, config, method: None, grain, kind: Kind::Skipped(with_path(&error)) };
            }
        };
        let (id, config, method) = (raw.id.clone(), raw.config.clone(), raw.method.clone());
        let kind = match raw.kind {
            Some(RawKind::Series) => Series::new(raw, series).map(Kind::Series),
            None => Ops::new(raw).map(Kind::Ops),
        };
        let kind = kind.unwrap_or_else(|(field, why)| Kind::Skipped(format!("`{field}` {why}")));
        Self { id, config, method, grain, kind }
    }
}

impl Ops {
    pub(crate) fn most_delays(&self) -> usize {
        self.delays.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn new(raw: RawScenario) -> Result<Self, Wrong> {
        let n = raw.n.ok_or(("n", "is missing".to_owned()))?;
        if !(1..=MAX_OPS).contains(&n) {
            return Err(("n", format!("is {n}; it must be from 1 to {MAX_OPS}")));
        }
        // A recording without a server contains only delays. The script then rejects every request, because the delays are those of ops
        // whose requests all fail.
        let steps = raw.steps.unwrap_or_else(|| vec![WrittenStep::status(503)]);
        let script = Script::from_steps(vec![steps]).map_err(|error| match error {
            ScriptFileError::Step { step, why, .. } => {
                ("steps", format!("has an invalid step {step}: {why}"))
            }
            other => ("steps", format!("is not a valid script: {other}")),
        })?;
        let samples = raw.samples.ok_or(("samples", "is missing".to_owned()))?;
        let longest = samples.iter().map(Vec::len).max().unwrap_or(0);
        if longest.saturating_mul(n) > MAX_DELAYS {
            let why = format!(
                "has up to {longest} delays for each of {n} ops; at most {MAX_DELAYS} in all are compared"
            );
            return Err(("samples", why));
        }
        let delays = each("samples", OneOrMany::Each(samples), n)?;
        for delay in delays.iter().flatten() {
            is_wait("samples", *delay)?;
        }
        let attempts = raw.attempts.map_or(Ok(Vec::new()), |attempts| each("attempts", attempts, n))?;
        if attempts.contains(&0) {
            return Err((
                "attempts",
                "has an op without attempts, although the server must have received at least one".to_owned(),
            ));
        }
        for (attempts, delays) in attempts.iter().zip(&delays) {
            if usize::try_from(*attempts).ok() != Some(delays.len() + 1) {
                let why = format!("has {} delays of an op that made {attempts} attempts", delays.len());
                return Err(("samples", why));
            }
        }
        let mut endings = endings(raw.outcome, raw.outcomes, n)?;
        // If a recorded status never occurs in the script of server responses, the library itself created the status, because there was no
        // response. For example, Octokit reports status 500.
        for (ending, _) in &mut endings {
            if let RecordedEnding::Known(Ending::Answer(status)) = *ending
                && !script.has_status(status)
            {
                *ending = RecordedEnding::Failure;
            }
        }
        Ok(Self {
            script,
            attempts,
            delays,
            before_first: waits("sleep_before_first", raw.sleep_before_first, n)?,
            after_last: waits("sleep_after_last", raw.sleep_after_last, n)?,
            endings,
        })
    }
}

impl Series {
    fn new(raw: RawScenario, scripts: &SeriesScripts) -> Result<Self, Wrong> {
        let ops = raw.ops.ok_or(("ops", "is missing".to_owned()))?;
        if !(1..=MAX_OF_SERIES).contains(&ops) {
            return Err(("ops", format!("is {ops}; it must be from 1 to {MAX_OF_SERIES}")));
        }
        let unknown = "names a series whose script is not known; describe it in the file's `series`";
        let answers = raw::find(scripts, &raw.id).ok_or_else(|| ("id", unknown.to_owned()))?;
        let script = answers.script(ops).map_err(|why| ("series", why))?;
        let pause = answers.pause().map_err(|why| ("series", why))?;
        let attempts = raw.attempts_per_op.unwrap_or_default();
        if !attempts.is_empty() && attempts.len() != ops {
            return Err(("attempts_per_op", format!("has {} entries for {ops} ops", attempts.len())));
        }
        let waits = raw.waits_per_op.unwrap_or_default();
        if !waits.is_empty() && waits.len() != attempts.len() {
            return Err(("waits_per_op", format!("has {} entries for {} ops", waits.len(), attempts.len())));
        }
        let waits = attempts.iter().zip(waits).map(|(attempts, waits)| Waits::new(*attempts, waits));
        let waits = waits.collect::<Result<Vec<_>, _>>()?;
        let mut endings = Vec::new();
        for (name, count) in raw.outcomes_per_op.unwrap_or_default() {
            if count > ops - endings.len() {
                return Err(("outcomes_per_op", format!("has more than {ops} ops")));
            }
            endings.extend(std::iter::repeat_n(RecordedEnding::of_type(&name), count));
        }
        let granted = raw.retries_granted_after_each_100.unwrap_or_default();
        if granted.len() * 100 > ops {
            return Err(("retries_granted_after_each_100", format!("has more than {ops} ops")));
        }
        if attempts.is_empty() && granted.is_empty() {
            return Err(("attempts_per_op", "is missing".to_owned()));
        }
        let names = match raw.outcomes {
            Some(RawOutcomes::Named(names)) => names,
            _ => Vec::new(),
        };
        let kinds = names.iter().map(|name| RecordedEnding::of_type(name)).collect();
        Ok(Self { script, pause, ops, attempts, waits, endings, kinds, granted })
    }
}

impl Waits {
    /// Splits the list of recorded waits of an op by their position. The list may contain the waits before all attempts, and may also
    /// contain the wait after the last attempt. If it is shorter, it contains only the waits before the retries.
    fn new(attempts: u32, mut waits: Vec<f64>) -> Result<Self, Wrong> {
        for wait in &waits {
            is_wait("waits_per_op", *wait)?;
        }
        let attempts = attempts as usize;
        let after_last = if waits.len() == attempts + 1 { waits.pop() } else { None };
        let before_first = (waits.len() == attempts && attempts > 0).then(|| waits.remove(0));
        if waits.len() != attempts.saturating_sub(1) {
            let why = format!("has {} waits of an op that made {attempts} attempts", waits.len());
            return Err(("waits_per_op", why));
        }
        Ok(Self { before_first, delays: waits, after_last })
    }
}

fn each<T: Clone>(field: &'static str, values: OneOrMany<T>, n: usize) -> Result<Vec<T>, Wrong> {
    let values = match values {
        OneOrMany::One(value) => vec![value],
        OneOrMany::Each(values) => values,
    };
    match values.len() {
        1 => Ok(vec![values[0].clone(); n]),
        count if count == n => Ok(values),
        count => Err((field, format!("has {count} entries for {n} ops"))),
    }
}

fn waits(field: &'static str, values: Option<OneOrMany<f64>>, n: usize) -> Result<Vec<f64>, Wrong> {
    let waits = values.map_or(Ok(Vec::new()), |values| each(field, values, n))?;
    waits.iter().try_for_each(|wait| is_wait(field, *wait))?;
    Ok(waits)
}

fn is_wait(field: &'static str, wait: f64) -> Result<(), Wrong> {
    const LONGEST: f64 = 1e8;
    if (0.0..=LONGEST).contains(&wait) {
        return Ok(());
    }
    Err((field, format!("has a wait of {wait}; it must be from 0 to {LONGEST} seconds")))
}

fn endings(
    one: Option<RawOutcome>,
    all: Option<RawOutcomes>,
    n: usize,
) -> Result<Vec<(RecordedEnding, usize)>, Wrong> {
    match (one, all) {
        (_, Some(RawOutcomes::Counted(counts))) => {
            let ending = |(text, count): (String, usize)| match serde_json::from_str(&text) {
                Ok(outcome) => Ok((RecordedEnding::new(&outcome), count)),
                Err(error) => Err(("outcomes", format!("has `{text}`, which is not an outcome: {error}"))),
            };
            counts.into_iter().map(ending).collect()
        }
        (one, _) => Ok(one.iter().map(|outcome| (RecordedEnding::new(outcome), n)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(scenarios: &str) -> Result<Recording, String> {
        let text = format!(
            r#"{{"library": "some", "version": "1", "language": "python", "interception": "sleeps", "scenarios": [{scenarios}]}}"#
        );
        read(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_single_list_applies_to_all_ops() {
        let recorded = file(
            r#"{"id": "503", "config": "c", "method": "GET", "steps": [{"status": 503}], "n": 3, "attempts": 2,
                "samples": [[0.5]], "outcome": {"type": "Failed", "status": 503}, "extra": null}"#,
        );
        let Recording { library, version, pairs } = recorded.unwrap();
        assert_eq!((library.as_str(), version.as_str()), ("some", "1"));
        assert_eq!((pairs.len(), pairs[0].method.as_deref()), (1, Some("GET")));
        let Kind::Ops(ops) = &pairs[0].kind else { panic!("ops") };
        assert_eq!(
            (&ops.attempts[..], &ops.delays[..]),
            (&[2; 3][..], &[vec![0.5], vec![0.5], vec![0.5]][..])
        );
        assert_eq!(ops.endings, [(RecordedEnding::Known(Ending::Answer(503)), 3)]);
    }

    #[test]
    fn delays_without_a_server_belong_to_always_rejected_ops() {
        let recorded = file(
            r#"{"id": "delays", "config": "c", "n": 1, "samples": [[1, 2]], "outcome": {"type": "iterator"}}"#,
        );
        let Kind::Ops(ops) = &recorded.unwrap().pairs[0].kind else { panic!("ops") };
        assert_eq!((ops.script.to_string().as_str(), ops.attempts.len()), ("503", 0));
    }

    #[test]
    fn waits_of_a_series_may_have_one_more_at_either_end() {
        let waits = |attempts, waits: &[f64]| Waits::new(attempts, waits.to_vec());
        let none = |delays: &[f64]| Waits { before_first: None, delays: delays.to_vec(), after_last: None };
        assert_eq!(waits(3, &[1.0, 2.0]), Ok(none(&[1.0, 2.0])));
        assert_eq!(waits(2, &[0.0, 2.0]), Ok(Waits { before_first: Some(0.0), ..none(&[2.0]) }));
        let all = Waits { before_first: Some(0.0), after_last: Some(3.0), ..none(&[2.0]) };
        assert_eq!(waits(2, &[0.0, 2.0, 3.0]), Ok(all));
        assert!(waits(2, &[1.0, 2.0, 3.0, 4.0]).is_err() && waits(3, &[1.0]).is_err());
    }

    /// Returns the reason why the only scenario of a file is skipped.
    fn skipped(scenario: &str) -> String {
        let recorded = file(scenario).unwrap_or_else(|error| panic!("{scenario}: {error}"));
        match &recorded.pairs[..] {
            [Pair { kind: Kind::Skipped(why), .. }] => why.clone(),
            other => panic!("{scenario}: {other:?}"),
        }
    }

    #[test]
    fn an_inconsistent_scenario_is_skipped_with_the_reason() {
        for (fields, words) in [
            (r#""n": "x""#, "invalid type: string \"x\""),
            (r#""n": 2, "samples": [[1], [2], [3]]"#, "`samples` has 3 entries for 2 ops"),
            (r#""n": 0, "samples": []"#, "`n` is 0"),
            (r#""samples": [[1]]"#, "`n` is missing"),
            (r#""n": 1"#, "`samples` is missing"),
            (
                r#""n": 100000, "samples": [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]"#,
                "`samples` has up to 11 delays for each of 100000 ops; at most 1000000 in all are compared",
            ),
            (r#""n": 1, "samples": [[-1]]"#, "`samples` has a wait of -1"),
            (
                r#""n": 1, "attempts": 3, "samples": [[1]]"#,
                "`samples` has 1 delays of an op that made 3 attempts",
            ),
            (r#""n": 1, "attempts": 0, "samples": [[]]"#, "`attempts` has an op without attempts"),
            (r#""n": 2, "attempts": [1, 0], "samples": [[]]"#, "`attempts` has an op without attempts"),
            (
                r#""n": 1, "samples": [[1]], "steps": [{"status": 3}]"#,
                "`steps` has an invalid step 1: `status` is 3",
            ),
            (r#""n": 1, "samples": [[1]], "steps": []"#, "`steps` is not a valid script"),
            (
                r#""n": 1, "samples": [[1]], "outcomes": {"x": 1}"#,
                "`outcomes` has `x`, which is not an outcome",
            ),
            (
                r#""n": 1, "samples": [[1]], "sleep_before_first": [1, 2]"#,
                "`sleep_before_first` has 2 entries for 1 ops",
            ),
            (
                r#""kind": "series", "ops": 3"#,
                "`id` names a series whose script is not known; describe it in",
            ),
        ] {
            let why = skipped(&format!(r#"{{"id": "503", "config": "c", {fields}}}"#));
            assert!(why.contains(words), "{fields}: {why}");
        }
        for (fields, words) in [
            (r#""ops": 3"#, "`attempts_per_op` is missing"),
            (r#""ops": 20000"#, "`ops` is 20000; it must be from 1 to 10000"),
            (r#""ops": 3, "attempts_per_op": [1]"#, "`attempts_per_op` has 1 entries for 3 ops"),
            (r#""ops": 1, "attempts_per_op": [1], "waits_per_op": [[], []]"#, "`waits_per_op` has 2 entries"),
            (
                r#""ops": 1, "attempts_per_op": [3], "waits_per_op": [[1]]"#,
                "`waits_per_op` has 1 waits of an op",
            ),
            (
                r#""ops": 1, "attempts_per_op": [1], "outcomes_per_op": [["ok", 2]]"#,
                "`outcomes_per_op` has more than 1 ops",
            ),
        ] {
            let why =
                skipped(&format!(r#"{{"id": "series-503", "config": "c", "kind": "series", {fields}}}"#));
            assert!(why.contains(words), "{fields}: {why}");
        }
        for scenario in ["3", "{}", r#"{"id": 3, "config": "c"}"#] {
            assert_eq!(file(scenario).unwrap().pairs[0].id, "scenario 1", "{scenario}");
            assert!(!skipped(scenario).is_empty(), "{scenario}");
        }
        let error = read("[]").unwrap_err().to_string();
        assert!(error.starts_with("invalid length 0, expected an object"), "{error}");
    }

    #[test]
    fn a_file_may_define_series_and_redefine_known_ones() {
        let answers = |id: &str| {
            let text = format!(
                r#"{{"library": "some", "version": "1", "language": "python", "interception": "sleeps",
                    "series": {{"series-x": {{"pause_s": 0.5, "ops": [{{"count": 1, "steps": [{{"status": 503}}]}},
                                                                  {{"steps": [{{"status": 200}}]}}]}},
                               "series-503": {{"ops": [{{"steps": [{{"status": 429}}]}}]}}}},
                    "scenarios": [{{"id": "{id}", "config": "c", "kind": "series", "ops": 2, "attempts_per_op": [1, 1]}}]}}"#
            );
            match &read(&text).unwrap().pairs[0].kind {
                Kind::Series(series) => (series.script.to_string(), series.pause),
                other => panic!("{id}: {other:?}"),
            }
        };
        assert_eq!(answers("series-x"), ("503;200".to_owned(), Duration::from_millis(500)));
        assert_eq!(answers("series-503"), ("429;429".to_owned(), Duration::ZERO));
        assert_eq!(answers("series-429"), ("429;429".to_owned(), Duration::ZERO));
    }
}
