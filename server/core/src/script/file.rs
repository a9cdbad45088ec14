//! Format of a script in a JSON file. The file has the same `steps` as the recordings of real clients.
//!
//! If the file contains a list of steps, they are the script of every op. If it contains a list of lists of steps, each inner list is the
//! script of one op. If it contains an object, the object is a recorded scenario, of which only `steps` is used.
//!
//! There are three kinds of steps. A step with a `status` may have `headers` and a `body`. A step with a `fault`, of which `close` is a short
//! form, ends with this fault. A step with a gRPC `code` may have a `push`, which is the wait that gRPC advises (push-back). Code and
//! push-back are sent in gRPC's headers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vocabulary::grpc;

use crate::{Reply, ReplyError, Script, ScriptError, StepFault};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptFileError {
    /// The text is not valid JSON, or the JSON has another structure. The source error names the line.
    #[error("the file is not a list of steps")]
    Json(#[source] serde_json::Error),
    #[error("the file must be a JSON list of steps, or a JSON object with the key `steps`")]
    Form,
    #[error("step {step} of op {op}: {why}")]
    Step {
        /// Number of the invalid step within the script of its op, counted from 1.
        step: usize,
        /// Number of the op whose script has the invalid step, counted from 1.
        op: usize,
        why: StepError,
    },
    #[error(transparent)]
    Script(#[from] ScriptError),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    #[error("it must have exactly one of `status`, `code`, `fault` and `close` (with the value `true`)")]
    Kind,
    #[error("`fault` is `{0}`; it must be {names}", names = StepFault::names())]
    Fault(String),
    #[error("`code` is `{0}`; it must be a gRPC code such as `OK` or `UNAVAILABLE`")]
    Code(String),
    #[error(transparent)]
    Reply(#[from] ReplyError),
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WrittenStep {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    body: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    close: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push: Option<String>,
}

#[derive(Deserialize)]
struct WithSteps {
    steps: Vec<WrittenStep>,
}

impl Script {
    pub fn from_json(text: &str) -> Result<Self, ScriptFileError> {
        let json = ScriptFileError::Json;
        let mut inner = text.trim_start();
        if inner.starts_with('{') {
            let scenario: WithSteps = serde_json::from_str(text).map_err(json)?;
            return Self::from_steps(vec![scenario.steps]);
        }
        inner = inner.strip_prefix('[').ok_or(ScriptFileError::Form)?.trim_start();
        if inner.starts_with('[') {
            Self::from_steps(serde_json::from_str(text).map_err(json)?)
        } else {
            Self::from_steps(vec![serde_json::from_str(text).map_err(json)?])
        }
    }

    pub fn from_steps(ops: Vec<Vec<WrittenStep>>) -> Result<Self, ScriptFileError> {
        let mut scripts = Vec::with_capacity(ops.len());
        for (op, steps) in ops.into_iter().enumerate() {
            let replies = steps.into_iter().enumerate().map(|(step, written)| {
                let located = |why| ScriptFileError::Step { step: step + 1, op: op + 1, why };
                written.into_reply().map_err(located)
            });
            scripts.push(replies.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Self::new(scripts)?)
    }
}

impl WrittenStep {
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Gives the step the headers and the body that `answer_of` returns for its status, if it has no body of its own and sends an answer,
    /// whole or truncated. A truncated answer has the status 200. Headers of the step are kept.
    #[must_use]
    pub fn with_answer(
        mut self,
        answer_of: impl FnOnce(u16) -> Option<(BTreeMap<String, String>, String)>,
    ) -> Self {
        let fault = self.fault.as_deref().and_then(StepFault::parse);
        let truncated = fault.is_some_and(StepFault::sends_answer).then_some(200);
        let status = self.status.or(truncated).filter(|_| self.body.is_empty());
        if let Some((headers, body)) = status.and_then(answer_of) {
            for (name, value) in headers {
                if !self.headers.keys().any(|own| own.eq_ignore_ascii_case(&name)) {
                    self.headers.insert(name, value);
                }
            }
            self.body = body;
        }
        self
    }

    /// Returns a header of the step. `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    fn into_reply(self) -> Result<Reply, StepError> {
        let Self { status, headers, body, close, fault, code, push } = self;
        match (status, code, fault, close) {
            (None, None, None, true) => Ok(Reply::faulty(StepFault::CLOSE, headers, body)?),
            (None, None, Some(fault), false) => {
                let fault = StepFault::parse(&fault).ok_or(StepError::Fault(fault))?;
                Ok(Reply::faulty(fault, headers, body)?)
            }
            (Some(status), None, None, false) => Ok(Reply::answer(status, headers, body)?),
            (None, Some(code), None, false) => {
                let number = grpc::named(&code).ok_or(StepError::Code(code))?;
                let status = (grpc::STATUS.to_owned(), number.to_string());
                let push = push.map(|push| (grpc::PUSHBACK.to_owned(), push));
                Ok(Reply::answer(200, headers.into_iter().chain([status]).chain(push), body)?)
            }
            _ => Err(StepError::Kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        Script::from_json(text).map(|script| script.to_string()).map_err(|error| {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            format!("{error}{}", source.unwrap_or_default())
        })
    }

    #[test]
    fn recorded_steps_are_read() {
        for (text, script) in [
            (r#"[{"status": 503}, {"close": true}, {"status": 200, "body": "{}"}]"#, "503|close|200 body:{}"),
            (
                r#"[{"status": 429, "headers": {"retry-after": "@date+3"}, "close": false}]"#,
                "429 retry-after:@date%2B3",
            ),
            (
                r#" [{"code": "UNAVAILABLE", "push": "-1"}, {"code": "OK"}]"#,
                "200 grpc-status:14 grpc-retry-pushback-ms:-1|200 grpc-status:0",
            ),
            (
                r#"[{"fault": "reset:after"}, {"fault": "close"}, {"fault": "truncate", "headers": {"x": "1"}, "body": "a"}]"#,
                "reset:after|close|truncate x:1 body:a",
            ),
            (r#"[[{"status": 503}], [{"status": 503}, {"status": 200}]]"#, "503;503|200"),
            (r#"{"id": "503", "steps": [{"status": 503}], "n": 3, "samples": [[1]]}"#, "503"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(script), "{text}");
        }
    }

    #[test]
    fn a_broken_file_is_refused_with_the_place() {
        for (text, words) in [
            ("", "the file must be a JSON list of steps, or a JSON object with the key `steps`"),
            ("503", "the file must be a JSON list of steps, or a JSON object with the key `steps`"),
            ("[]", "the script of op 1 has no steps; give at least one, such as 503"),
            (
                "[{\"status\": 503},\n  {\"stat\": 1}]",
                "the file is not a list of steps: unknown field `stat`",
            ),
            (
                "[{\"status\": 503}",
                "the file is not a list of steps: EOF while parsing a list at line 1 column 16",
            ),
            (
                "[{\"status\": 70000}]",
                "the file is not a list of steps: invalid value: integer `70000`, expected u16",
            ),
            ("{\"id\": 1}", "the file is not a list of steps: missing field `steps`"),
            (
                "[{\"status\": 503}, {}]",
                "step 2 of op 1: it must have exactly one of `status`, `code`, `fault` and `close` (with the value `true`)",
            ),
            (
                "[{\"status\": 503, \"close\": true}]",
                "step 1 of op 1: it must have exactly one of `status`, `code`, `fault` and `close` (with the value `true`)",
            ),
            (
                "[{\"fault\": \"close\", \"close\": true}]",
                "step 1 of op 1: it must have exactly one of `status`, `code`, `fault` and `close` (with the value `true`)",
            ),
            (
                "[{\"fault\": \"garbage\"}]",
                "step 1 of op 1: `fault` is `garbage`; it must be `close`, `reset`, `truncate` or `hang`, optionally",
            ),
            (
                "[{\"fault\": \"hang\", \"headers\": {\"x\": \"1\"}}]",
                "step 1 of op 1: `hang` sends no answer, so `x` cannot be sent; leave it out",
            ),
            (
                "[{\"close\": true, \"body\": \"a\"}]",
                "step 1 of op 1: `close` sends no answer, so `body` cannot be sent; leave it out",
            ),
            (
                "[[{\"status\": 503}], [{\"status\": 99}]]",
                "step 1 of op 2: `status` is 99; it must be from 200 to 599",
            ),
            (
                "[{\"code\": \"GONE\"}]",
                "step 1 of op 1: `code` is `GONE`; it must be a gRPC code such as `OK`",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(words), "{text:?}: {error}");
        }
    }
}
