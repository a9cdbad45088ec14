//! The server's side: what reached it, through the server core in virtual time.

use std::collections::BTreeMap;

use mockserver_core::{Answer, Input, Output, RequestId, Server, ServerLog};
use vocabulary::Instant;

use super::Difference;

/// Lets everything that reached the logged server reach one in virtual time, and checks that it answers the same: to the same
/// requests, with the same verdicts, at the same instants; and that it counts the same.
///
/// # Errors
/// Names the first answer that is another.
pub fn replay_server(log: &ServerLog) -> Result<(), Difference> {
    let mut replay = Replay {
        server: Server::starting(log.config.clone(), log.anchor),
        answers: Vec::new(),
        latest: BTreeMap::new(),
    };
    for (at, input) in log.inputs() {
        replay.advance(at);
        replay.on_input(at, input);
    }
    replay.advance(log.until);
    let answers: Vec<Answer> = replay.answers.iter().flatten().cloned().collect();
    let logged: Vec<Answer> = log.answers().cloned().collect();
    Difference::first("answer", &logged, &answers)?;
    let stats = replay.server.stats(log.until, None);
    Difference::first("counts", std::slice::from_ref(&log.stats), std::slice::from_ref(&stats))
}

struct Replay {
    server: Server,
    /// In the order in which they were due; nothing where the client went before a shell took it.
    answers: Vec<Option<Answer>>,
    /// The answer to the request that had this id last.
    latest: BTreeMap<RequestId, usize>,
}

impl Replay {
    /// Takes every answer that is due by `until`, at the instant at which it is.
    fn advance(&mut self, until: Instant) {
        let mut now = Instant::ORIGIN;
        loop {
            match self.server.poll(now) {
                Output::Answer(answer) => {
                    self.latest.insert(answer.id, self.answers.len());
                    self.answers.push(Some(answer));
                }
                Output::WaitUntil(at) if at <= until => now = at,
                Output::WaitUntil(_) | Output::Idle => return,
            }
        }
    }

    fn on_input(&mut self, at: Instant, input: &Input) {
        match input {
            Input::Arrive(request)
            | Input::ArriveIfFree { request, .. }
            | Input::ArriveWith { request, .. } => {
                self.latest.remove(&request.id);
            }
            // The real shell had not come to take the answer that was due.
            Input::Cancel(id) => {
                if let Some(index) = self.latest.remove(id) {
                    self.answers[index] = None;
                }
            }
            Input::Configure(_) | Input::Reset => {}
        }
        self.server.handle(at, input.clone());
    }
}
