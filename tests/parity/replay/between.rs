//! Comparison of the client's log and the server's log of one run: the server received what the client sent, and the client received the
//! server's responses.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use loadgen_core::{
    AttemptKey, AttemptResult, Completion, Input as ClientInput, Output, Run, RunLog, SentAttempt, ServerSeen,
};
use loadgen_sim::{RequestDetails, ResponseForm, StepClassifiers};
use mockserver_core::{Input, Request, RequestFields, RequestId, Server, ServerEvent, ServerLog, Step};
use tailback::Status;
use vocabulary::Instant;

use super::Difference;

/// Compares the client's log and the server's log of one run. Every attempt must have reached the server with the settings and details that
/// it would have in a simulation. The simulation uses GETs, or the run's kinds of requests. The client's parser must interpret the response
/// as in the simulation. Only for withdrawn attempts may one log have less information than the other log.
///
/// # Errors
/// Returns the first attempt for which the two logs differ.
pub(crate) fn replay_between(client: &RunLog, server: &ServerLog, run: &Run) -> Result<(), Difference> {
    let wants = Server::new(server.config.clone()).wants();
    let seed = reached_first(server).map_or(0, |request| request.seed);
    let mut details = RequestDetails::new(run.requests().clone(), seed, "GET", wants);
    let mut reached = reached(server, run);
    for (index, sent) in sent(client).into_iter().enumerate() {
        let (op, ordinal) = (sent.launched.op, sent.launched.ordinal);
        let reached = reached.get_mut(&(op, ordinal)).and_then(VecDeque::pop_front);
        if sent.withdrawn && reached.as_ref().is_none_or(|reached| reached.response != sent.response) {
            continue;
        }
        let is_read = reached.as_ref().is_some_and(|reached| reached.is_read);
        let step = if is_read { Step::Read } else { Step::Work };
        let details_sent = details.as_mut().map(|details| details.of(&sent.launched, step));
        let expected =
            Exchange { min_free: sent.launched.min_free, is_read, details_sent, response: sent.response };
        Difference::unless_equal("attempt sent", index, reached, Some(expected))?;
    }
    let unsent = reached.into_iter().find(|(_, exchanges)| !exchanges.is_empty());
    Difference::unless_equal("attempt nobody sent", 0, unsent, None)
}

#[derive(Clone, Debug, PartialEq)]
struct Exchange {
    min_free: u32,
    /// True if the attempt started with a read that precedes a write.
    is_read: bool,
    /// Details of the attempt's request, such as headers and path; `None` if the server does not need them.
    details_sent: Option<Arc<RequestFields>>,
    response: Option<AttemptResult>,
}

fn reached_first(log: &ServerLog) -> Option<&Request> {
    log.events.iter().find_map(|event| match event {
        ServerEvent::Input(_, Input::Arrive { request, .. }) => Some(request),
        _ => None,
    })
}

fn response(completion: &Completion) -> Option<AttemptResult> {
    (completion.result.outcome.status != Status::Cancelled).then_some(completion.result)
}

struct Sent {
    launched: SentAttempt,
    response: Option<AttemptResult>,
    withdrawn: bool,
}

fn sent(log: &RunLog) -> Vec<Sent> {
    let name = |key: AttemptKey| (key.serial, key.slot);
    let mut ends: BTreeMap<_, VecDeque<&Completion>> = BTreeMap::new();
    for (_, input) in &log.inputs {
        if let ClientInput::AttemptEnd(completion) = input {
            ends.entry(name(completion.attempt)).or_default().push_back(completion);
        }
    }
    let withdrawn: BTreeSet<_> = log
        .outputs
        .iter()
        .filter_map(|output| if let Output::Cancel(key) = output { Some(name(*key)) } else { None })
        .collect();
    let mut all = Vec::new();
    for output in &log.outputs {
        let Output::Send(launched) = output else { continue };
        let key = name(launched.attempt);
        // Keys of attempts are reused, but a key is reused only after its attempt has ended. So attempts with the same key end in the order
        // in which they were sent.
        let end = ends.get_mut(&key).and_then(VecDeque::pop_front);
        let withdrawn = withdrawn.contains(&key);
        all.push(Sent { launched: *launched, response: end.and_then(response), withdrawn });
    }
    all
}

/// Returns the attempts that reached the server, by op and by the attempt's ordinal within the op. Each entry is a queue, because a
/// deferred attempt is sent again with the same ordinal.
fn reached(log: &ServerLog, run: &Run) -> BTreeMap<(u64, u32), VecDeque<Exchange>> {
    let mut all: BTreeMap<_, VecDeque<Exchange>> = BTreeMap::new();
    let reading = run.reading();
    let answers = log.config.answer_set().ok().flatten();
    let understanding = StepClassifiers::new(run.rejected_when(), &log.config);
    let speech = ResponseForm {
        config: &log.config,
        answers: answers.as_ref(),
        anchor: log.anchor,
        understanding: &understanding,
        reading: &reading,
    };
    let mut under_way: BTreeMap<RequestId, (Instant, Request)> = BTreeMap::new();
    // Durations of reads whose conditional write has not been answered yet.
    let mut reads: BTreeMap<(u64, u32), Duration> = BTreeMap::new();
    for event in &log.events {
        let (at, request, min_free, details_sent) = match event {
            ServerEvent::Input(at, Input::Arrive { request, least, details }) => {
                (*at, *request, *least, details.clone())
            }
            ServerEvent::Input(..) => continue,
            ServerEvent::Answer(answer) => {
                let Some((since, request)) = under_way.remove(&answer.id) else { continue };
                let attempt = (request.op, request.attempt);
                let took = answer.at.since(since) + reads.remove(&attempt).unwrap_or_default();
                if request.step == Step::Read && answer.advertises_service() {
                    reads.insert(attempt, took);
                } else if let Some(exchange) = all.get_mut(&attempt).and_then(VecDeque::back_mut) {
                    let result = speech.read(answer, request.step);
                    let server = result.server.map(|seen| ServerSeen { took: Some(took), ..seen });
                    exchange.response = Some(AttemptResult { server, ..result });
                }
                continue;
            }
        };
        under_way.insert(request.id, (at, request));
        let attempt = (request.op, request.attempt);
        // If an attempt consists of a read and a write, it sends two requests. The write is the second half of the attempt, so it gets no
        // entry of its own in the list of attempts.
        if !(matches!(request.step, Step::Write { .. }) && reads.contains_key(&attempt)) {
            let is_read = request.step == Step::Read;
            all.entry(attempt).or_default().push_back(Exchange {
                min_free,
                is_read,
                details_sent,
                response: None,
            });
        }
    }
    all
}
