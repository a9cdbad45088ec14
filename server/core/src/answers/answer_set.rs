//! All answers of a server, read and checked for the stages of its stack.

use std::borrow::Cow;

use vocabulary::did_you_mean;

use super::config::{AnswersConfig, ResponseConfig};
use super::response::{Every, Rendered, Response, ResponseError};
use super::teller::Teller;
use super::told::{Outcome, Telling, Told};
use crate::quoted::quoted;

/// Rejections by any stage that has no table of its own, and by none.
const ANY: &str = "*";

/// The length of a stage's name at most.
const LONGEST_NAME: usize = 64;

/// What every kind of answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerSet {
    stages: Vec<Box<str>>,
    accepted: Response,
    conflict: Response,
    /// By the stage that rejected.
    rejected: Vec<Response>,
    /// Where no stage did.
    turned_away: Response,
}

/// Answers that no server can give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// An answer to rejections by a stage that there is not.
    #[error(
        "`reject.{name}`: no stage is called `{name}`{suggestion}; the stages are {stages}, and `{ANY}` stands for all others"
    )]
    Stage {
        /// As it came.
        name: String,
        /// Empty, or a question.
        suggestion: String,
        /// Those that there are.
        stages: String,
    },
    /// A stage that no field could name.
    #[error(
        "no stage can be called `{0}`: names begin with a small letter, and go on with small letters, digits, `-` and `_`, \
         at most {LONGEST_NAME} in all"
    )]
    Name(String),
    /// An answer that cannot be given.
    #[error("`{place}`: {why}")]
    Response {
        /// Its table.
        place: String,
        /// What is wrong with it.
        why: Box<ResponseError>,
    },
}

impl AnswerSet {
    /// Reads the answers of a server whose stack has these stages, in this order.
    ///
    /// # Errors
    /// Names the place and what is wrong.
    pub fn read<'a>(
        config: &AnswersConfig,
        stages: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, AnswersError> {
        let stages: Vec<Box<str>> = stages.into_iter().map(Box::from).collect();
        if let Some(name) = stages.iter().find(|name| !can_be_named(name)) {
            return Err(AnswersError::Name(name.clone().into_string()));
        }
        let stranger =
            config.reject.keys().find(|name| *name != ANY && !stages.iter().any(|stage| **stage == ***name));
        if let Some(name) = stranger {
            return Err(AnswersError::Stage {
                name: name.clone(),
                suggestion: did_you_mean(name, stages.iter().map(|stage| &**stage)),
                stages: quoted(stages.iter().map(|stage| &**stage)),
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
            // Also where every stage has its own: what is wrong is told.
            turned_away: read(any.0, any.1, 0)?,
            stages,
        })
    }

    /// The whole answer.
    pub fn render(&self, told: &Told<'_>, teller: &Teller) -> Rendered<'_> {
        self.response(told.outcome).render(&self.telling(told, teller))
    }

    /// The status of an answer, if it is not the one that the server gives anyway.
    pub fn status(&self, told: &Told<'_>) -> Option<u16> {
        self.response(told.outcome).status
    }

    /// Whether such an answer tells where the limit of this stage stands: nobody need find out of others.
    pub fn tells_of(&self, outcome: Outcome, stage: usize) -> bool {
        self.response(outcome).tells_of(stage)
    }

    /// The value of one header; its name is in lower case.
    pub fn header(&self, name: &str, told: &Told<'_>, teller: &Teller) -> Option<Cow<'_, str>> {
        self.response(told.outcome).header(name, &self.telling(told, teller))
    }

    /// True if a rejection may have this header, whose name is in lower case.
    pub(crate) fn may_reject_with(&self, header: &str) -> bool {
        self.rejected.iter().chain([&self.turned_away]).any(|response| response.has_header(header))
    }

    /// The body of an answer, if it is not the one that the server writes anyway.
    pub fn body(&self, told: &Told<'_>, teller: &Teller) -> Option<Cow<'_, str>> {
        self.response(told.outcome).body(&self.telling(told, teller))
    }

    fn telling<'a>(&'a self, told: &'a Told<'a>, teller: &'a Teller) -> Telling<'a> {
        Telling { told, teller, stages: &self.stages }
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

/// Whether fields, headers and bodies can name a stage so.
fn can_be_named(name: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(rest)
}
