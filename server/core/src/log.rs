//! What a server was told and what it answered, in order: enough to play it again in virtual time.

use vocabulary::wire::ServerStats;
use vocabulary::{Instant, WallTime};

use crate::config::Config;
use crate::events::{Answer, Input};

/// The log of a server; see [`Server::record_log`](crate::Server::record_log).
///
/// When the shell polled is not in it: everything happens at the instant for which it is scheduled.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerLog {
    /// The configuration at its beginning.
    pub config: Config,
    /// The calendar when it started.
    pub anchor: WallTime,
    /// What happened, as the shell saw it.
    pub events: Vec<ServerEvent>,
    /// Until when it goes.
    pub until: Instant,
    /// What was counted by then, since the server was started or reset.
    pub stats: ServerStats,
}

/// Something that passed between a server and its shell.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerEvent {
    /// The shell told the server of this, for this instant.
    Input(Instant, Input),
    /// The shell took this answer, to send it: at the instant at which it was due, or later. One whose client went before that
    /// is never taken.
    Answer(Answer),
}

impl ServerLog {
    /// Out of the way of servers that keep none.
    #[cold]
    pub(crate) fn on_input(&mut self, at: Instant, input: &Input) {
        self.events.push(ServerEvent::Input(at, input.clone()));
    }

    /// The same of an answer that is taken.
    #[cold]
    pub(crate) fn on_answer(&mut self, answer: &Answer) {
        self.events.push(ServerEvent::Answer(answer.clone()));
    }

    /// What the shell told the server, and for which instant.
    pub fn inputs(&self) -> impl Iterator<Item = (Instant, &Input)> {
        self.events.iter().filter_map(|event| match event {
            ServerEvent::Input(at, input) => Some((*at, input)),
            ServerEvent::Answer(_) => None,
        })
    }

    /// What the shell took to be sent.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.events.iter().filter_map(|event| match event {
            ServerEvent::Answer(answer) => Some(answer),
            ServerEvent::Input(..) => None,
        })
    }
}
