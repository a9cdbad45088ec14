//! What the policies know of an answer, for templates to tell.

use crate::standing::Standing;

/// What templates may tell of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFacts {
    /// The stage of the stack that turned the request away, from 0.
    pub stage: Option<usize>,
    /// Where each stage stood for the request when it was decided about; `None` for those that have no limit.
    pub standings: Vec<Option<Standing>>,
    /// The seed that keys the draws of the request.
    pub seed: u64,
    /// The op.
    pub op: u64,
    /// Which attempt of the op.
    pub attempt: u32,
}
