//! All answers of a server, parsed and checked against the stages of the server's policy stack.

use std::borrow::Cow;

use vocabulary::did_you_mean;

use super::RenderContext;
use super::response::{Every, Response};
use crate::policy::is_name;
use crate::{
    AnswersConfig, HeaderWriter, Outcome, Rendered, ResponseConfig, ResponseContext, ResponseError, quoted,
};

/// Key of the fallback answer table for rejections. It applies to rejections by stages without a table of their own, and to rejections that
/// no stage made.
const ANY: &str = "*";

const MAX_NAME: usize = 64;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerSet {
    stages: Vec<Box<str>>,
    accepted: Response,
    conflict: Response,
    /// Answers to requests that are rejected by a stage: one answer for each stage of the stack, in the order of the stages.
    rejected: Vec<Response>,
    /// Answer to requests that are rejected, but not by a stage, for example during an outage.
    turned_away: Response,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    #[error(
        "`reject.{name}`: no policy has the name `{name}`{suggestion}; the names are {stages}, and `{ANY}` \
         for all others"
    )]
    Stage { name: String, suggestion: String, stages: String },
    #[error(
        "`{0}` is not a valid name for a policy; use at most {MAX_NAME} lower-case letters, digits, `-` and \
         `_`, and begin with a letter"
    )]
    Name(String),
    #[error("`{place}`: {why}")]
    Response { place: String, why: Box<ResponseError> },
}

impl AnswerSet {
    /// Parses the configured answers of a server. `stages` are the names of the stages of its policy stack, in order.
    ///
    /// # Errors
    /// Returns an error that names the invalid answer table or stage name, and the problem.
    pub fn read<'a>(
        config: &AnswersConfig,
        stages: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, AnswersError> {
        let stages: Vec<Box<str>> = stages.into_iter().map(Box::from).collect();
        if let Some(name) = stages.iter().find(|name| !is_name(name, MAX_NAME)) {
            return Err(AnswersError::Name(name.clone().into_string()));
        }
        let stranger =
            config.reject.keys().find(|name| *name != ANY && !stages.iter().any(|stage| **stage == ***name));
        if let Some(name) = stranger {
            return Err(AnswersError::Stage {
                name: name.clone(),
                suggestion: did_you_mean(name, stages.iter().map(|stage| &**stage)),
                stages: quoted(&stages),
            });
        }
        let at = |place: &str| {
            let place = place.to_owned();
            move |why| AnswersError::Response { place, why: Box::new(why) }
        };
        let every = Every::read(&config.every, &stages).map_err(at("every"))?;
        let read = |place: &str, response: &ResponseConfig, speaker: usize| {
            Response::read(response, &every, &stages, speaker).map_err(at(place))
        };
        let any = match config.reject.get(ANY) {
            Some(response) => ("reject.*", response),
            None => ("every", &ResponseConfig::default()),
        };
        let mut rejected = Vec::with_capacity(stages.len());
        for (index, stage) in stages.iter().enumerate() {
            rejected.push(match config.reject.get(&**stage) {
                Some(response) => read(&format!("reject.{stage}"), response, index)?,
                None => read(any.0, any.1, index)?,
            });
        }
        Ok(Self {
            accepted: read("accepted", &config.accepted, 0)?,
            conflict: read("conflict", &config.conflict, 0)?,
            rejected,
            // The table `reject.*` is parsed even if every stage has its own table, so that errors in `reject.*` are always reported.
            turned_away: read(any.0, any.1, 0)?,
            stages,
        })
    }

    pub fn render(&self, context: &ResponseContext<'_>, teller: &HeaderWriter) -> Rendered<'_> {
        self.response(context.outcome).render(&self.rendering(context, teller))
    }

    pub fn status(&self, context: &ResponseContext<'_>) -> Option<u16> {
        self.response(context.outcome).status
    }

    /// Returns true if the answer to a request with the given outcome contains the limit of `stage`. If it does not, the caller need not
    /// compute the status of this limit.
    pub fn tells_of(&self, outcome: Outcome, stage: usize) -> bool {
        self.response(outcome).tells_of(stage)
    }

    /// Returns the value of one header of the answer. `name` must be in lower case.
    pub fn header(
        &self,
        name: &str,
        context: &ResponseContext<'_>,
        teller: &HeaderWriter,
    ) -> Option<Cow<'_, str>> {
        self.response(context.outcome).header(name, &self.rendering(context, teller))
    }

    pub(crate) fn may_reject_with(&self, header: &str) -> bool {
        self.rejected.iter().chain([&self.turned_away]).any(|response| response.has_header(header))
    }

    pub fn body(&self, context: &ResponseContext<'_>, teller: &HeaderWriter) -> Option<Cow<'_, str>> {
        self.response(context.outcome).body(&self.rendering(context, teller))
    }

    fn rendering<'a>(
        &'a self,
        context: &'a ResponseContext<'a>,
        teller: &'a HeaderWriter,
    ) -> RenderContext<'a> {
        RenderContext { context, teller, stages: &self.stages }
    }

    fn response(&self, outcome: Outcome) -> &Response {
        match outcome {
            Outcome::Accepted => &self.accepted,
            Outcome::Conflict => &self.conflict,
            Outcome::Rejected { stage, .. } => {
                stage.and_then(|stage| self.rejected.get(stage)).unwrap_or(&self.turned_away)
            }
        }
    }
}
