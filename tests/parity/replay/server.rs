//! Replay of the server's part of a run: the server's logged inputs pass through the server core in virtual time.

use std::collections::BTreeMap;

use mockserver_core::{Answer, Input, Output, RequestId, Server, ServerEvent, ServerLog};
use vocabulary::Instant;

use super::Difference;

/// Replays the logged inputs of a server in virtual time, and checks that the replay gives the logged responses. Each response of the
/// replay must be for the same request as the logged response. Verdict, instant and counts must also be the same.
///
/// # Errors
/// Returns the first response that differs from the log.
pub(crate) fn replay_server(log: &ServerLog) -> Result<(), Difference> {
    let mut replay = Replay {
        server: Server::starting(log.config.clone(), log.anchor),
        answers: Vec::new(),
        latest: BTreeMap::new(),
    };
    let mut logged = Vec::new();
    for event in &log.events {
        match event {
            ServerEvent::Input(at, input) => {
                replay.advance(*at);
                replay.on_input(*at, input);
            }
            ServerEvent::Answer(answer) => logged.push(answer.clone()),
        }
    }
    replay.advance(log.until);
    let answers: Vec<Answer> = replay.answers.iter().flatten().cloned().collect();
    Difference::first("answer", &logged, &answers)?;
    let stats = replay.server.stats(log.until, None);
    Difference::first("counts", std::slice::from_ref(&log.stats), std::slice::from_ref(&stats))
}

struct Replay {
    server: Server,
    /// Responses in the order in which they were due. An entry is `None` if the client left before the driver of the real server had taken
    /// the response.
    answers: Vec<Option<Answer>>,
    /// Index in `answers` of the latest response to each request id.
    latest: BTreeMap<RequestId, usize>,
}

impl Replay {
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
            Input::Arrive { request, .. } => {
                self.latest.remove(&request.id);
            }
            // The request was cancelled when its response was already due. But the driver of the real server had not taken the response
            // yet, so it is removed here.
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
