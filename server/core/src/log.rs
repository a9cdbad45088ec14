//! Log of a server's inputs and answers, in order. It contains all that a replay of the run in virtual time needs.

use vocabulary::{Instant, WallTime};
use wire::ServerStats;

use crate::{Answer, Config, Input};

/// Log of a server; see [`Server::record_log`](crate::Server::record_log).
///
/// The instants at which the server is polled are not recorded, because every event happens at the instant for which it is scheduled.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerLog {
    pub config: Config,
    pub anchor: WallTime,
    pub events: Vec<ServerEvent>,
    pub until: Instant,
    /// Request counts at the end of the log, counted since the server was started or reset.
    pub stats: ServerStats,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ServerEvent {
    Input(Instant, Input),
    /// Answer that the shell (the HTTP server or the simulator) has fetched from the server core for sending. The shell fetches an answer
    /// when it is due, or later. If the client has disconnected by then, the log does not contain the answer.
    Answer(Answer),
}

impl ServerLog {
    /// Records an input. The function is marked as cold, because most servers keep no log.
    #[cold]
    pub(crate) fn on_input(&mut self, at: Instant, input: &Input) {
        self.events.push(ServerEvent::Input(at, input.clone()));
    }

    #[cold]
    pub(crate) fn on_answer(&mut self, answer: &Answer) {
        self.events.push(ServerEvent::Answer(answer.clone()));
    }
}
