//! One run in virtual time.

use loadgen_core::{AttemptKey, Cause, Completion, Input, Launched, OperationKind, Output, Run, ServerSeen};
use mockserver_core::{Answer, Config, Request, RequestId, Server, Step, Verdict};
use tailback::{Advice, Outcome, Status};
use vocabulary::Instant;
use vocabulary::wire::ServerStats;

/// Events between two calls of whoever steers: often enough for a screen, too seldom to be felt.
const EVENTS_BETWEEN_LOOKS: u32 = 1 << 16;

/// A client and a server on one clock that nobody waits for.
#[derive(Debug)]
pub struct Simulation {
    seed: u64,
    kind: OperationKind,
    run: Run,
    server: Server,
    /// What has not come to an end, by the client's slot, which is the server's request id, too.
    under_way: Vec<Option<UnderWay>>,
    now: Instant,
    /// When the server has something to do next.
    server_at: Option<Instant>,
    /// What the client said last, as long as nothing has happened to it since.
    client: ClientWaits,
}

/// What a client waits for.
#[derive(Clone, Copy, Debug)]
enum ClientWaits {
    /// It is to be asked.
    Unknown,
    /// This instant, or an input.
    Until(Instant),
    /// An input.
    Input,
}

/// An attempt between sending and its end.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    launched: Launched,
    step: Step,
}

/// What whoever looks at a simulation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steer {
    /// Go on.
    On,
    /// Send nothing more, withdraw what is in flight, and end.
    Stop,
}

/// A run that is over.
#[derive(Debug)]
pub struct Finished {
    /// The client, with everything it measured.
    pub run: Run,
    /// What the server counted.
    pub server: ServerStats,
}

impl Simulation {
    /// A simulation of this client (whose draws are keyed by `seed`) and a server of this configuration. The
    /// configuration should have passed [`Config::validate`].
    pub fn new(client: Run, kind: OperationKind, seed: u64, server: Config) -> Self {
        Self {
            seed,
            kind,
            run: client,
            server: Server::new(server),
            under_way: Vec::new(),
            now: Instant::ORIGIN,
            server_at: None,
            client: ClientWaits::Unknown,
        }
    }

    /// Runs to the end. `steer` is called now and then with the client and the time that it has reached.
    pub fn run(mut self, mut steer: impl FnMut(&Run, Instant) -> Steer) -> Finished {
        let mut until_look = EVENTS_BETWEEN_LOOKS;
        loop {
            until_look -= 1;
            if until_look == 0 {
                until_look = EVENTS_BETWEEN_LOOKS;
                if steer(&self.run, self.now) == Steer::Stop {
                    self.tell(Input::Abort);
                }
            }
            if self.server_at.is_some_and(|at| at <= self.now) {
                self.hear_server();
            }
            // A client that nothing has happened to would say the same again.
            let client_at = match self.client {
                ClientWaits::Until(at) if at > self.now => Some(at),
                ClientWaits::Input => None,
                _ => match self.run.poll_output(self.now) {
                    Output::Send(launched) => {
                        self.send(launched);
                        continue;
                    }
                    Output::Cancel(key) => {
                        self.cancel(key);
                        continue;
                    }
                    Output::WaitUntil(at) => {
                        self.client = ClientWaits::Until(at);
                        Some(at)
                    }
                    Output::Idle => {
                        self.client = ClientWaits::Input;
                        None
                    }
                    Output::Done => break,
                },
            };
            let next = match (self.server_at, client_at) {
                (Some(server), Some(client)) => server.min(client),
                (Some(at), None) | (None, Some(at)) => at,
                // A client that waits for an answer that never comes times out; so this is the end.
                (None, None) => break,
            };
            // The client may want to be asked again at once.
            self.now = next.max(self.now);
        }
        let server = self.server.stats(self.now, None);
        Finished { run: self.run, server }
    }

    /// Something happens to the client.
    fn tell(&mut self, input: Input) {
        self.client = ClientWaits::Unknown;
        self.run.handle_input(self.now, input);
    }

    fn send(&mut self, launched: Launched) {
        let step = match self.kind {
            OperationKind::Request => Step::Work,
            OperationKind::ReadModifyWrite => Step::Read,
        };
        let slot = launched.attempt.slot as usize;
        if self.under_way.len() <= slot {
            self.under_way.resize(slot + 1, None);
        }
        self.under_way[slot] = Some(UnderWay { launched, step });
        self.ask(&launched, step);
        if launched.least_free > 0 {
            self.hear_whether_started(launched.attempt);
        }
        // At once, so that an answer that takes no time comes before the client's next event.
        self.hear_server();
    }

    /// The server looked and started in one step, or started nothing: that answer is the first to come.
    fn hear_whether_started(&mut self, attempt: AttemptKey) {
        let answer = match self.server.poll(self.now) {
            mockserver_core::Output::Answer(answer) => Some(answer),
            mockserver_core::Output::WaitUntil(_) | mockserver_core::Output::Idle => None,
        };
        if !answer.is_some_and(|answer| answer.verdict == Verdict::Deferred) {
            self.tell(Input::Started(attempt));
        }
        if let Some(answer) = answer {
            self.answer(&answer);
        }
    }

    fn ask(&mut self, launched: &Launched, step: Step) {
        let request = Request {
            id: RequestId(launched.attempt.slot),
            run: None,
            seed: self.seed,
            op: launched.op,
            attempt: launched.ordinal,
            step,
        };
        // A conditional write is the second half of an attempt that has started.
        let input = match launched.least_free {
            least if least > 0 && !matches!(step, Step::Write { .. }) => {
                mockserver_core::Input::ArriveIfFree { request, least }
            }
            _ => mockserver_core::Input::Arrive(request),
        };
        self.server.handle(self.now, input);
    }

    fn cancel(&mut self, key: AttemptKey) {
        let slot = key.slot as usize;
        if self.under_way[slot].is_some_and(|held| held.launched.attempt == key) {
            self.under_way[slot] = None;
            self.server.handle(self.now, mockserver_core::Input::Cancel(RequestId(key.slot)));
            self.hear_server();
        }
    }

    /// Takes every answer that is due, and notes when the next will be.
    fn hear_server(&mut self) {
        loop {
            match self.server.poll(self.now) {
                mockserver_core::Output::Answer(answer) => self.answer(&answer),
                mockserver_core::Output::WaitUntil(at) => {
                    self.server_at = Some(at);
                    return;
                }
                mockserver_core::Output::Idle => {
                    self.server_at = None;
                    return;
                }
            }
        }
    }

    fn answer(&mut self, answer: &Answer) {
        let slot = answer.id.0 as usize;
        let Some(held) = &mut self.under_way[slot] else { return };
        let launched = held.launched;
        if held.step == Step::Read && answer.verdict == Verdict::Accepted {
            held.step = Step::Write { if_match: answer.version };
            let step = held.step;
            // Whoever hears the answers hears this one's, too.
            self.ask(&launched, step);
            return;
        }
        self.under_way[slot] = None;
        let (status, code) = match answer.verdict {
            Verdict::Accepted => (Status::Succeeded, Some(200)),
            Verdict::Rejected => (Status::Rejected, Some(self.server.config().reject_status)),
            Verdict::Conflict => (Status::Rejected, Some(412)),
            // There was no answer to an attempt: there was none.
            Verdict::Deferred => (Status::Deferred, None),
        };
        let advice = match (status, self.server.config().retry_after) {
            (Status::Rejected, Some(after)) => Advice::After(after),
            _ => Advice::None,
        };
        let completion = Completion {
            attempt: launched.attempt,
            sent_at: launched.due,
            outcome: Outcome { status, advice },
            // Who was not started learns nothing of the server.
            server: (status != Status::Deferred).then_some(ServerSeen {
                busy: answer.busy,
                cap: answer.cap,
                took: None,
            }),
            cause: code.map(Cause::Status),
            by_gateway: false,
        };
        self.tell(Input::Ended(completion));
    }
}
