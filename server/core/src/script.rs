//! Script: the server's replies to each request of each op, fixed in advance.
//!
//! Request n of an op gets reply n of the op's script; after the end of the script, its last reply repeats. Op i uses script i; ops after
//! the last script use the last script. A reply takes no time.

mod file;
mod notation;
mod reply;

use std::num::NonZeroU16;
use std::ops::Range;

pub use file::{ScriptFileError, StepError, WrittenStep};
pub use reply::{Reply, ReplyError, ScriptedAnswer, StepFault};

/// Maximum number of replies in a script. It is limited because an [`Answer`](crate::Answer) stores the index of its reply in two bytes.
pub const MAX_REPLIES: usize = 50_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Replies of all ops in one list, one op after another.
    replies: Vec<Reply>,
    /// For each op, the range of its replies in `replies`. Neither this list nor any range is empty.
    ops: Vec<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyId(NonZeroU16);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    #[error("the script of op {op} has no steps; give at least one, such as 503")]
    Empty {
        /// Number of the op whose script is empty, counted from 1.
        op: usize,
    },
    #[error("the script has {0} steps; at most {MAX_REPLIES} are accepted")]
    TooLong(usize),
}

impl Script {
    /// Creates a script from the replies to each op. All ops after the last given op get the replies of the last given op.
    ///
    /// # Errors
    /// Returns an error if there are no ops, if an op has no replies, or if there are too many replies in total.
    pub fn new(ops: impl IntoIterator<Item = Vec<Reply>>) -> Result<Self, ScriptError> {
        let (mut replies, mut ranges) = (Vec::new(), Vec::new());
        for (index, script) in ops.into_iter().enumerate() {
            if script.is_empty() {
                return Err(ScriptError::Empty { op: index + 1 });
            }
            let from = replies.len();
            replies.extend(script);
            ranges.push(from..replies.len());
        }
        if ranges.is_empty() {
            return Err(ScriptError::Empty { op: 1 });
        }
        if replies.len() > MAX_REPLIES {
            return Err(ScriptError::TooLong(replies.len()));
        }
        Ok(Self { replies, ops: ranges })
    }

    /// Returns the reply to one attempt of an op, and the id of this reply. Attempts are numbered from 1, and ops from 0.
    pub(crate) fn reply_to(&self, op: u64, attempt: u32) -> (ReplyId, &Reply) {
        let op = usize::try_from(op).unwrap_or(usize::MAX).min(self.ops.len() - 1);
        let Range { start, end } = self.ops[op].clone();
        let nth = attempt.saturating_sub(1) as usize;
        let index = start.saturating_add(nth).min(end - 1);
        let id = u16::try_from(index + 1).ok().and_then(NonZeroU16::new);
        (
            ReplyId(id.expect("there are fewer than 2^16 replies, and they are named from 1")),
            &self.replies[index],
        )
    }

    /// Returns the reply to one attempt of an op. Attempts are numbered from 1, and ops from 0.
    pub fn step(&self, op: u64, attempt: u32) -> &Reply {
        self.reply_to(op, attempt).1
    }

    pub fn reply(&self, id: ReplyId) -> Option<&Reply> {
        self.replies.get(usize::from(id.0.get()) - 1)
    }

    pub(crate) fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.replies.iter()
    }

    pub fn has_status(&self, status: u16) -> bool {
        self.replies.iter().any(|reply| reply.fault().is_none() && reply.answer.status == status)
    }

    /// Returns the script's numbers of steps and ops as text, because the whole script may be long.
    pub(crate) fn summary(&self) -> String {
        match (self.replies.len(), self.ops.len()) {
            (1, _) => "1 step".to_owned(),
            (steps, 1) => format!("{steps} steps"),
            (steps, ops) => format!("{steps} steps for {ops} ops"),
        }
    }
}

impl Default for Script {
    fn default() -> Self {
        let served = Reply::status(200).expect("it is a status");
        Self { replies: vec![served], ops: std::iter::once(0..1).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replied(script: &Script, op: u64, attempt: u32) -> String {
        script.reply_to(op, attempt).1.to_string()
    }

    #[test]
    fn the_last_step_of_an_op_repeats_and_so_does_the_last_op() {
        let script: Script = "503|429|200;close".parse().unwrap();
        for (op, attempt, reply) in [
            (0, 0, "503"),
            (0, 1, "503"),
            (0, 2, "429"),
            (0, 3, "200"),
            (0, u32::MAX, "200"),
            (1, 1, "close"),
            (1, 2, "close"),
            (u64::MAX, 7, "close"),
        ] {
            assert_eq!(replied(&script, op, attempt), reply, "op {op}, attempt {attempt}");
        }
        let (id, reply) = script.reply_to(0, 2);
        assert_eq!(script.reply(id), Some(reply));
        assert_eq!(Script::default().reply(id), None, "another script has no such reply");
    }

    #[test]
    fn a_script_without_a_step_is_refused_and_so_is_one_without_end() {
        let reply = || Reply::status(503).unwrap();
        assert_eq!(Script::new([]), Err(ScriptError::Empty { op: 1 }));
        assert_eq!(Script::new([vec![reply()], Vec::new()]), Err(ScriptError::Empty { op: 2 }));
        let long = vec![reply(); MAX_REPLIES + 1];
        assert_eq!(Script::new([long]), Err(ScriptError::TooLong(MAX_REPLIES + 1)));
    }

    #[test]
    fn its_summary_stays_short() {
        for (text, words) in [("200", "1 step"), ("503|200", "2 steps"), ("503|200;429", "3 steps for 2 ops")]
        {
            assert_eq!(text.parse::<Script>().unwrap().summary(), words);
        }
    }
}
