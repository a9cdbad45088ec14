//! Bodies of all answers, because clients parse them: those of the user, of a preset of `mockserver`, or usual ones.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use mockserver_core::{AnswerSet, HeaderWriter, Outcome, ResponseContext, expand};
use serde_json::json;
use vocabulary::{Instant, WallTime};

/// Headers by name, and a body.
pub(crate) type WrittenAnswer = (BTreeMap<String, String>, String);

#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(super) success: WrittenAnswer,
    /// Answers of the user by status, and by its hundreds, such as 5 for `5xx`.
    pub(super) statuses: BTreeMap<u16, WrittenAnswer>,
    pub(super) classes: BTreeMap<u16, WrittenAnswer>,
    preset: Option<PresetAnswers>,
}

#[derive(Clone, Debug)]
struct PresetAnswers {
    answers: AnswerSet,
    stages: usize,
}

impl Default for Answers {
    fn default() -> Self {
        let success = written("application/json", "{}".to_owned());
        Self { success, statuses: BTreeMap::new(), classes: BTreeMap::new(), preset: None }
    }
}

fn written(content_type: &str, body: String) -> WrittenAnswer {
    (BTreeMap::from([(CONTENT_TYPE.to_string(), content_type.to_owned())]), body)
}

impl Answers {
    /// Returns the answers of a preset of `mockserver`. Rejections other than 429 and 5xx are the usual ones, because those of the preset are
    /// rejections for too many requests.
    ///
    /// # Errors
    /// Fails if there is no such preset.
    pub(super) fn of_preset(name: &str) -> anyhow::Result<Self> {
        let expanded = expand(name, None)?;
        let labels = expanded.policy.labels();
        let answers = AnswerSet::read(&expanded.answers, labels.iter().map(String::as_str))
            .context("the answers of the preset are invalid")?;
        let preset = PresetAnswers { answers, stages: labels.len() };
        let success = preset.answer(Outcome::Accepted).unwrap_or_else(|| Self::default().success);
        Ok(Self { success, preset: Some(preset), ..Self::default() })
    }

    /// Returns the headers and the body of an answer that advises `wait`; none for statuses without a body.
    pub(super) fn of(&self, status: u16, wait: Option<Duration>) -> Option<WrittenAnswer> {
        match status {
            204 | 205 | 300..=399 => None,
            200..=299 => Some(self.success.clone()),
            _ => {
                let own = self.statuses.get(&status).or_else(|| self.classes.get(&(status / 100)));
                let preset = || self.preset.as_ref()?.rejection(status, wait);
                Some(own.cloned().or_else(preset).unwrap_or_else(|| usual(status)))
            }
        }
    }
}

impl PresetAnswers {
    fn rejection(&self, status: u16, wait: Option<Duration>) -> Option<WrittenAnswer> {
        if status != 429 && status < 500 {
            return None;
        }
        let outcomes = || (0..self.stages).map(|stage| Outcome::Rejected { stage: Some(stage), wait });
        let has_status = |outcome: &Outcome| self.answers.status(&context(*outcome)) == Some(status);
        self.answer(outcomes().find(has_status).or_else(|| outcomes().next())?)
    }

    fn answer(&self, outcome: Outcome) -> Option<WrittenAnswer> {
        let (context, writer) = (context(outcome), HeaderWriter::experiment(WallTime::VIRTUAL_START));
        let body = self.answers.body(&context, &writer)?.into_owned();
        let content_type = self.answers.header(CONTENT_TYPE.as_str(), &context, &writer);
        Some(match content_type {
            Some(content_type) => written(&content_type, body),
            None => of_file(body),
        })
    }
}

fn context(outcome: Outcome) -> ResponseContext<'static> {
    let (now, decided_at) = (Instant::ORIGIN, Instant::ORIGIN);
    ResponseContext { outcome, now, decided_at, limit_statuses: &[], seed: 0, op: 0, attempt: 1 }
}

/// Returns an answer with the body of a file. Its type follows from its first character: JSON, XML or text.
pub(super) fn of_file(body: String) -> WrittenAnswer {
    let content_type = match body.trim_start().chars().next() {
        Some('{' | '[') => "application/json",
        Some('<') => "application/xml",
        _ => "text/plain; charset=utf-8",
    };
    written(content_type, body)
}

/// Returns a rejection as JSON with the fields that most vendors send.
fn usual(status: u16) -> WrittenAnswer {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let message = reason.unwrap_or("Overloaded");
    // The most frequent code of vendors; the others follow from their texts, too.
    let code = if status == 429 {
        "rate_limited".to_owned()
    } else {
        message.to_ascii_lowercase().replace(' ', "_")
    };
    let error = json!({"code": code, "message": message, "type": code});
    let body = json!({"code": code, "error": error, "message": message, "status": status});
    written("application/json", body.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejections_have_the_most_specific_body() {
        let answers = Answers {
            statuses: BTreeMap::from([(429, of_file("<busy/>".to_owned()))]),
            classes: BTreeMap::from([(4, of_file("busy".to_owned())), (5, of_file("[]".to_owned()))]),
            ..Answers::default()
        };
        let body =
            |status| answers.of(status, None).map(|(headers, body)| (headers["content-type"].clone(), body));
        let written = |kind: &str, body: &str| Some((kind.to_owned(), body.to_owned()));
        assert_eq!(body(429), written("application/xml", "<busy/>"));
        assert_eq!(body(404), written("text/plain; charset=utf-8", "busy"));
        assert_eq!(body(503), written("application/json", "[]"));
        assert_eq!(body(204), None);
        let (_, usual) = Answers::default().of(503, None).unwrap();
        assert_eq!(
            usual,
            r#"{"code":"service_unavailable","error":{"code":"service_unavailable","message":"Service Unavailable","type":"service_unavailable"},"message":"Service Unavailable","status":503}"#
        );
    }

    #[test]
    fn a_preset_has_its_own_bodies_but_not_for_final_statuses() {
        let answers = Answers::of_preset("openai").unwrap();
        assert!(answers.success.1.contains("chat.completion"));
        let of = |status| answers.of(status, Some(Duration::from_secs(3))).unwrap().1;
        assert!(
            of(429).contains("rate_limit_exceeded") && of(429).contains("try again in 3s"),
            "{}",
            of(429)
        );
        assert!(of(503).contains("rate_limit_exceeded") && !of(404).contains("rate_limit"));
        let busy = Answers::of_preset("anthropic").unwrap().of(529, None).unwrap().1;
        assert!(busy.contains("overloaded_error"), "{busy}");
        assert!(Answers::of_preset("opnai").is_err());
    }
}
