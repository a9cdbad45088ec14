//! Tests of all presets: valid strategies, sources and golden vectors.

use std::collections::BTreeSet;
use std::time::Duration;

use vocabulary::{WallTime, duration_text};

use super::*;
use crate::testing::{Always, ended, rejected, view};
use crate::{
    AttemptEnd, Candidate, Facts, FailedOp, Failure, Instant, LaunchDecision, Method, Missing, Outcome,
    ResponseParser, Retry, RetryState, Status, StrategySpec,
};

fn error(text: &str) -> String {
    text.parse::<StrategySpec>().unwrap_err().to_string()
}

#[test]
fn every_preset_parses_and_has_a_summary_sources_and_a_date() {
    let mut wrong: Vec<String> = Vec::new();
    for preset in presets() {
        let text = format!("preset:{}", preset.name);
        let mut texts = vec![text.clone()];
        for (key, parameter) in &preset.parameters {
            texts.extend(parameter.choices.keys().map(|word| format!("{text},{key}={word}")));
        }
        texts.extend(preset.rules.iter().map(|rule| rule.text.clone()));
        for text in texts {
            if let Err(error) = text.parse::<StrategySpec>() {
                wrong.push(format!("{text}: {error}"));
            }
        }
        assert!(!preset.sources.is_empty() && !preset.summary.is_empty(), "{text}");
        assert!(preset.summary.len() <= 120 && !preset.summary.ends_with('.'), "{text}: {}", preset.summary);
        let is_date = preset.date.len() == 10 && preset.date.split('-').count() == 3;
        assert!(is_date, "{text}: {}", preset.date);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_is_a_preset_of_the_same_name() {
    let mut files = BTreeSet::new();
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/presets")).unwrap() {
        let path = file.unwrap().path();
        let preset: Preset = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        assert_eq!(path.file_name().unwrap(), format!("{}.toml", preset.name).as_str());
        files.insert(preset.name);
    }
    assert_eq!(files, presets().iter().map(|preset| preset.name.clone()).collect());
}

#[test]
fn names_are_unique() {
    let names: Vec<&str> = preset_names().collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

#[test]
fn parameters_after_a_name_override_the_preset() {
    let described = |text: &str| {
        let spec: StrategySpec = text.parse().unwrap();
        let parts = spec.describe();
        let all = parts.into_iter().flat_map(|(part, parameters)| {
            parameters.into_iter().map(move |it| format!("{part}:{}={}", it.key, it.value))
        });
        all.collect::<Vec<_>>()
    };
    let shown = described("preset:aws-2025,max-attempts=5,cap=3s+aimd:beta=0.5");
    for wanted in [":max-attempts=5", "aimd:beta=0.5"] {
        assert!(shown.contains(&wanted.to_owned()), "{wanted}: {shown:?}");
    }
    assert!(shown.iter().any(|line| line.ends_with(":cap=3s")), "{shown:?}");
    let spec: StrategySpec = "preset:aws-2025,max-attempts=5+aimd".parse().unwrap();
    assert_eq!(spec.to_string(), "preset:aws-2025,max-attempts=5+aimd", "the text is kept");
}

#[test]
fn mistakes_around_presets_are_answered() {
    assert!(error("preset:aws-2052").contains("unknown preset `aws-2052` (did you mean `aws-2025`?)"));
    assert!(error("preset").contains("`preset` does not name a preset"));
    assert!(error("preset:max-attempts=5").contains("does not name a preset"));
    assert!(error("preset:aws-2025,cpa=5s").contains("no parameter `cpa` (did you mean `cap`?)"));
    assert!(error("preset:aws-2025,cap").contains("`cap` of `preset:aws-2025` has no value"));
    assert!(error("preset:aws-2025,max-attempts=0").contains("`max-attempts=0` is not accepted"));
    assert!(error("preset:aws-2025,max-attempts=2,max-attempts=3").contains("twice"));
    assert!(error("preset:aws-2025+full-jitter").contains("two retry policies"));
}

/// Presets of common clients, which must have knobs.
const WITH_KNOBS: &[&str] = &[
    "openai",
    "openai-node-7",
    "anthropic",
    "anthropic-node",
    "stripe-python",
    "stripe-node",
    "stripe-go",
    "octokit-throttling",
    "shopify",
    "got-16",
    "axios-retry",
    "go-retryablehttp",
    "google-api-core",
    "urllib3-usual",
    "urllib3",
    "requests",
    "aws-2026-botocore",
    "aws-legacy",
    "envoy",
    "grpc",
    "polly",
    "resilience4j",
];

/// Maximum number of combinations of the knobs of a preset, because each of them is simulated.
const MAX_COMBINATIONS: usize = 24;

fn values_of(knob: &Knob) -> Vec<String> {
    let key = knob.parameter.as_deref().unwrap_or_default();
    knob.values.iter().map(|value| format!("{key}={value}")).collect()
}

/// Returns all combinations of the preset's knobs. The values follow the name of a preset and its options.
fn combinations(preset: &Preset) -> Vec<String> {
    let own = format!("preset:{}", preset.name);
    let mut texts: Vec<String> = preset.knobs.iter().flat_map(|knob| knob.texts.iter().cloned()).collect();
    texts.insert(0, own);
    for values in preset.knobs.iter().map(values_of).filter(|values| !values.is_empty()) {
        let with = |text: &String, value: &String| match text.split_once('+') {
            Some((preset, parts)) => format!("{preset},{value}+{parts}"),
            None => format!("{text},{value}"),
        };
        texts = texts.iter().flat_map(|text| values.iter().map(move |value| with(text, value))).collect();
    }
    texts
}

#[test]
fn every_knob_has_a_source_and_values_or_texts() {
    for preset in presets() {
        for knob in &preset.knobs {
            let (values, texts) = (knob.values.len(), knob.texts.len());
            let is_complete = match knob.parameter {
                Some(_) => values >= 2 && texts == 0,
                None => values == 0 && texts >= 1,
            };
            assert!(is_complete && knob.source.contains('/'), "{}: {knob:?}", preset.name);
        }
    }
    let has_knobs = |name: &&&str| !preset(name).unwrap().knobs.is_empty();
    let without: Vec<_> = WITH_KNOBS.iter().filter(|name| !has_knobs(name)).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn combinations_of_knobs_are_few_and_all_parse() {
    let mut wrong: Vec<String> = Vec::new();
    for preset in presets() {
        let texts = combinations(preset);
        assert!(texts.len() <= MAX_COMBINATIONS, "{}: {}", preset.name, texts.len());
        let parse = |text: String| text.parse::<StrategySpec>().err().map(|error| format!("{text}: {error}"));
        wrong.extend(texts.into_iter().filter_map(parse));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_value_of_every_knob_is_the_default_of_the_preset() {
    let described = |text: &str| text.parse::<StrategySpec>().unwrap().describe();
    let mut wrong: Vec<String> = Vec::new();
    for preset in presets() {
        let text = format!("preset:{}", preset.name);
        let own = described(&text);
        for knob in preset.knobs.iter().filter(|knob| knob.parameter.is_some()) {
            let values = values_of(knob);
            let same = values.iter().filter(|value| described(&format!("{text},{value}")) == own).count();
            if same != 1 {
                wrong.push(format!("{text}: {same} defaults in {values:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn outcome(text: &str, reading: &ResponseParser) -> Outcome {
    let missing =
        |why, failure| Outcome { facts: Facts::missing(why), ..Outcome::plain(Status::Failed(failure)) };
    let (first, headers) = text.split_once(' ').unwrap_or((text, ""));
    let code: u16 = match first {
        "refused" => return missing(Missing::Refused, Failure::Transport),
        "closed" => return missing(Missing::Closed, Failure::Transport),
        "timeout" => return missing(Missing::Timeout, Failure::Timeout),
        code => code.parse().unwrap_or_else(|_| panic!("`{text}` begins with no status")),
    };
    let headers: Vec<(&str, &str)> = headers
        .split(';')
        .filter(|header| !header.trim().is_empty())
        .map(|header| header.split_once(':').expect("a header has a value"))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    let said = reading.parse(code, &headers[..], &[], WallTime::VIRTUAL_START);
    let status = match code {
        200..300 => Status::Succeeded,
        429 | 503 | 529 => Status::Rejected,
        500.. => Status::Failed(Failure::Server),
        _ => Status::Failed(Failure::Fatal),
    };
    Outcome { facts: said.facts, outer_advice: said.outer_advice, ..Outcome::advised(status, said.advice) }
}

/// Expected delay before a retry, or the expected end of the op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GoldenDelay {
    /// The delay before the retry is between two durations, both included.
    Within(Duration, Duration),
    /// The op is given up instead of retried.
    Stop,
}

impl GoldenDelay {
    /// Parses a duration, a range of durations or `stop`.
    ///
    /// # Errors
    /// If a word is not a duration. The error names that word.
    fn read(text: &str) -> Result<Self, String> {
        let duration = |text: &str| {
            duration_text::parse(text.trim())
                .map_err(|_| format!("`{text}` is not a duration, such as `50ms`"))
        };
        match text.trim() {
            "stop" => Ok(Self::Stop),
            text => match text.split_once("..") {
                Some((low, high)) => Ok(Self::Within(duration(low)?, duration(high)?)),
                None => duration(text).map(|delay| Self::Within(delay, delay)),
            },
        }
    }
}

/// Compares the delays of a golden vector with those of the preset, word by word.
fn check(preset: &Preset, golden: &Golden) -> Result<(), String> {
    let with = if golden.with.is_empty() { String::new() } else { format!(",{}", golden.with) };
    let text = format!("preset:{}{with}", preset.name);
    let spec: StrategySpec = text.parse().map_err(|error| format!("{text}: {error}"))?;
    let spec = spec.with_method(golden.method.as_deref().map_or(Method::Get, Method::named));
    let mut strategy = spec.build(1, None).map_err(|error| error.to_string())?;
    let reading = spec.reading();
    let draw = golden.draw.unwrap_or(0.5).min(1.0 - f64::EPSILON);
    let (mut state, mut now) = (RetryState::default(), Instant::ORIGIN);
    for (index, wanted) in golden.delays.iter().enumerate() {
        let attempt = u32::try_from(index + 1).expect("few");
        let mut view = view(0, index as u64);
        view.candidate = Candidate { op: 7, attempt, ..view.candidate };
        let LaunchDecision::Send(permits, _) = strategy.admit(now, &view, &mut state) else {
            return Err(format!("attempt {attempt} is held"));
        };
        let answer = golden.answers.get(index).or(golden.answers.last()).expect("one at least");
        let outcome = outcome(answer, reading);
        let outcome = Outcome { classification: strategy.classify(&outcome), ..outcome };
        let ended = AttemptEnd { attempt, op: 7, ..ended(index as u64, 1) };
        strategy.on_ended(now, &ended, &outcome, &permits, &mut state);
        let failed = FailedOp { op: 7, outcome, ..rejected(attempt) };
        let retry = strategy.on_failure_drawing(now, &failed, attempt, &mut state, |_, _, _| Always(draw));
        let near = Duration::from_micros(5);
        match (retry, GoldenDelay::read(wanted)?) {
            (Retry::GiveUp, GoldenDelay::Stop) => return Ok(()),
            (Retry::After(delay), GoldenDelay::Within(low, high))
                if delay + near >= low && delay <= high + near =>
            {
                now = now + delay;
            }
            (retry, _) => return Err(format!("{text}: wait {attempt} is {retry:?}, not {wanted}")),
        }
    }
    Ok(())
}

#[test]
fn every_preset_reproduces_its_golden_vectors() {
    let mut wrong = Vec::new();
    for preset in presets() {
        for golden in &preset.golden {
            if let Err(why) = check(preset, golden) {
                wrong.push(format!("{} ({}): {why}", preset.name, golden.about));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_golden_vector_that_is_wrong_is_found_out() {
    let preset = preset("go-retryablehttp").unwrap();
    let golden = |delays: &[&str]| Golden {
        about: String::new(),
        with: String::new(),
        method: None,
        draw: None,
        answers: vec!["500".to_owned()],
        delays: delays.iter().map(|delay| (*delay).to_owned()).collect(),
    };
    assert_eq!(check(preset, &golden(&["1s", "2s", "4s", "8s", "stop"])), Ok(()));
    for delays in [&["2s"][..], &["1s", "stop"], &["stop"], &["1s", "2s", "4s", "8s", "16s"], &["1001ms"]] {
        assert!(check(preset, &golden(delays)).is_err(), "{delays:?}");
    }
}
