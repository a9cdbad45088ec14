//! Tests of answers, from the tables of a preset to the rendered response, and their shared helpers.

mod documentation;
mod properties;
mod refusals;
mod tables;
mod times;
mod vendors;

use std::time::Duration;

use vocabulary::{Instant, WallTime};

use super::*;
use crate::LimitStatus;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn config(toml: &str) -> AnswersConfig {
    toml::from_str(toml).unwrap_or_else(|error| panic!("{error}"))
}

fn set(toml: &str, stages: &[&str]) -> AnswerSet {
    AnswerSet::read(&config(toml), stages.iter().copied()).unwrap_or_else(|error| panic!("{error}"))
}

/// The clock shows 2026-01-01, 00:00:00 UTC at the server's start.
fn teller() -> HeaderWriter {
    HeaderWriter::experiment(WallTime::VIRTUAL_START)
}

#[expect(clippy::unnecessary_wraps, reason = "what is told of a stage that has a limit")]
fn limit_status(limit: u64, remaining: u64, reset: Duration) -> Option<LimitStatus> {
    Some(LimitStatus { limit, remaining, reset, window: Some(Duration::from_mins(1)) })
}

fn context(outcome: Outcome, limit_statuses: &[Option<LimitStatus>]) -> ResponseContext<'_> {
    let now = Instant::from_millis(500);
    ResponseContext { outcome, now, decided_at: now, limit_statuses, seed: 1, op: 0, attempt: 1 }
}

fn rejected(stage: usize, wait: Duration) -> Outcome {
    Outcome::Rejected { stage: Some(stage), wait: Some(wait) }
}

/// Returns status, headers as `name: value`, and body.
fn said(set: &AnswerSet, context: &ResponseContext<'_>) -> (Option<u16>, Vec<String>, String) {
    let rendered = set.render(context, &teller());
    for (name, value) in &rendered.headers {
        assert_eq!(set.header(name, context, &teller()).as_ref(), Some(value));
    }
    assert_eq!((set.status(context), set.body(context, &teller())), (rendered.status, rendered.body.clone()));
    let headers = rendered.headers.iter().map(|(name, value)| format!("{name}: {value}"));
    (rendered.status, headers.collect(), rendered.body.unwrap_or_default().into_owned())
}

const GITHUB: &str = r#"
    [reject.primary]
    status = 403
    headers = { "x-ratelimit-remaining" = "0" }
    body = '{"message":"API rate limit exceeded for user ID 1.","status":"403"}'
    [reject.secondary]
    status = 403
    advice = "seconds:share=0.7"
    body = '{"message":"You have exceeded a secondary rate limit."}'
    [every.headers]
    "x-ratelimit-limit" = "{primary.limit}"
    "x-ratelimit-remaining" = "{primary.remaining}"
    "x-ratelimit-used" = "{primary.used}"
    "x-ratelimit-reset" = "{primary.reset_epoch}"
    "x-ratelimit-resource" = "core"
"#;
