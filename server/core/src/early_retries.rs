//! Detection of early retries: requests that arrive before the instant at which the server advised their client to retry.
//!
//! A client is identified by its `Authorization` header, or by its address if it sends no such header. The advised wait is taken from
//! `Retry-After` or from `retry-after-ms`. If an answer has both headers, the shorter wait counts. The wait begins when the answer reaches
//! the client. If a client received several pieces of advice, the latest advised instant counts.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Instant, TextField as _, WallTime};

use crate::policies::{KeyRule, Missing};
use crate::{Answer, AnswerSet, Config, FieldSelection, HeaderWriter, Key, Keys, Reply, RequestFields};

/// Names of the headers that advise a wait, each with the unit of the header's numbers.
const HEADERS: [(&str, Duration); 2] =
    [("retry-after", Duration::from_secs(1)), ("retry-after-ms", Duration::from_millis(1))];

const CLIENT: &str = "authorization";

/// Maximum number of clients whose advice is remembered. The least recently advised client is evicted.
const MAX_CLIENTS: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct EarlyRetries {
    key: KeyRule,
    /// Instant until which the server advised each client to wait. A request that arrives before this instant is an early retry.
    advised: Keys<Instant>,
    /// Cache of the latest request properties and their client, because many simulated requests share their properties.
    latest: Option<(Arc<RequestFields>, Key)>,
    answers: Option<AnswerSet>,
    teller: HeaderWriter,
}

impl Config {
    /// Returns whether answers to rejected requests may advise a wait, in `Retry-After` or `retry-after-ms`.
    pub fn sends_advice(&self) -> bool {
        self.may_advise(self.answer_set().ok().flatten().as_ref(), WallTime::VIRTUAL_START)
    }

    fn may_advise(&self, answers: Option<&AnswerSet>, anchor: WallTime) -> bool {
        let is_advice = |reply: &Reply| advice_of(reply, anchor, anchor).is_some();
        let scripted = self.policy.script().is_some_and(|script| script.replies().any(is_advice));
        scripted
            || match answers {
                Some(answers) => HEADERS.iter().any(|(name, _)| answers.may_reject_with(name)),
                None => self.retry_after.is_some(),
            }
    }
}

impl EarlyRetries {
    /// Creates the detection of early retries. Returns `None` if the configured answers never advise a wait. If `earlier` is given, its
    /// clients and the advice that they received are kept.
    pub(crate) fn new(config: &Config, anchor: WallTime, earlier: Option<Self>) -> Option<Self> {
        let answers = config.answer_set().ok().flatten();
        if !config.may_advise(answers.as_ref(), anchor) {
            return None;
        }
        let earlier = earlier.unwrap_or_else(|| {
            let mut key = KeyRule::default();
            key.read(&format!("header:{CLIENT}|address")).expect("a rule of the documented notation");
            Self {
                key,
                advised: Keys::new(MAX_CLIENTS),
                latest: None,
                answers: None,
                teller: HeaderWriter::experiment(anchor),
            }
        });
        Some(Self { answers, ..earlier })
    }

    pub(crate) fn want(wants: &mut FieldSelection) {
        wants.any = true;
        wants.headers.insert(CLIENT.to_owned());
    }

    /// Returns the client of a request with these details.
    pub(crate) fn client(&mut self, details: &Arc<RequestFields>) -> Key {
        match &self.latest {
            Some((known, client)) if Arc::ptr_eq(known, details) => *client,
            _ => self.latest.insert((details.clone(), self.key.of(details, Missing::Shared))).1,
        }
    }

    /// Returns whether a request of this client is early at `now`.
    pub(crate) fn is_early(&mut self, now: Instant, client: Key) -> bool {
        self.advised.get_mut(client).is_some_and(|until| now < *until)
    }

    pub(crate) fn on_answer(&mut self, client: Key, answer: &Answer, config: &Config, reached_at: Instant) {
        let Some(wait) = self.advice(answer, config, reached_at) else { return };
        let until = self.advised.state(client, || reached_at);
        *until = (*until).max(reached_at + wait);
    }

    /// Returns the wait that an answer advises, counted from the instant `reached_at` at which it reaches the client.
    fn advice(&self, answer: &Answer, config: &Config, reached_at: Instant) -> Option<Duration> {
        let (written, reached) = (self.teller.wall(answer.at), self.teller.wall(reached_at));
        match (answer.reply, answer.facts(), &self.answers) {
            (Some(reply), ..) => advice_of(config.policy.script()?.reply(reply)?, written, reached),
            (None, Some(facts), Some(answers)) => {
                let context = answer.response_context(facts);
                let header = |name: &str| answers.header(name, &context, &self.teller);
                earliest(header, reached)
            }
            (None, ..) => {
                config.retry_after?;
                Some(Duration::from_secs(self.teller.whole_seconds(answer.advice?)))
            }
        }
    }
}

fn advice_of(reply: &Reply, written: WallTime, reached: WallTime) -> Option<Duration> {
    if reply.fault().is_some() {
        return None;
    }
    let header = |name: &str| {
        reply.answer.headers(written).find_map(|(there, value)| (there == name).then_some(value))
    };
    earliest(header, reached)
}

/// Returns the shortest wait that any of the headers advises, counted from `now`. Headers whose values are neither a number nor a date are
/// ignored.
fn earliest<'a>(header: impl Fn(&str) -> Option<Cow<'a, str>>, now: WallTime) -> Option<Duration> {
    let wait = |(name, unit): (&str, Duration)| {
        let value = header(name)?;
        if let Ok(number) = value.trim().parse::<f64>() {
            return Duration::try_from_secs_f64(number * unit.as_secs_f64()).ok();
        }
        let moment = httpdate::parse_http_date(value.trim()).ok()?;
        let since_unix = moment.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(since_unix.saturating_sub(now.since_unix()))
    };
    HEADERS.into_iter().filter_map(wait).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Input, Output};
    use crate::request::{Request, RequestId, Step};
    use crate::server::Server;

    /// Drains the answers that are due, then sends a request of this user.
    fn send(server: &mut Server, at_ms: u64, number: u32, user: &str) {
        let at = Instant::from_millis(at_ms);
        while let Output::Answer(_) = server.poll(at) {}
        let request = Request {
            id: RequestId(number),
            run: None,
            seed: 1,
            op: number.into(),
            attempt: 1,
            step: Step::Work,
        };
        let headers = vec![("authorization".into(), user.into())];
        let details = Arc::new(RequestFields {
            method: "GET".into(),
            path: "/".into(),
            headers,
            ..RequestFields::default()
        });
        server.handle(at, Input::Arrive { request, least: 0, details: Some(details) });
    }

    fn early(server: &mut Server, at_ms: u64) -> u64 {
        server.stats(Instant::from_millis(at_ms), None).retried_too_early
    }

    fn server(policy: &str, advice: Option<&str>) -> Server {
        let plain = Config {
            policy: policy.parse().unwrap(),
            network_delay: "0s".parse().unwrap(),
            reject_time: "0s".parse().unwrap(),
            service_time: "0s".parse().unwrap(),
            ..Config::default()
        };
        Server::new(match advice {
            None => Config { retry_after: Some(Duration::from_secs(2)), ..plain },
            Some(advice) => {
                let answers = plain.answers.clone().advising(advice);
                Config { answers, ..plain }
            }
        })
    }

    #[test]
    fn an_early_request_counts_for_its_own_client_only() {
        let mut server = server("token-bucket:rate=1/2s,burst=1", None);
        send(&mut server, 0, 0, "a");
        send(&mut server, 0, 1, "a");
        assert_eq!(early(&mut server, 0), 0, "nothing had been advised when they came");
        send(&mut server, 1_999, 2, "b");
        assert_eq!(early(&mut server, 1_999), 0, "nothing was advised to another client");
        send(&mut server, 1_999, 3, "a");
        assert_eq!(early(&mut server, 1_999), 1);
        send(&mut server, 4_000, 4, "a");
        assert_eq!(early(&mut server, 4_000), 1, "the answer at 1.999 s advised 2.999 s");
    }

    #[test]
    fn the_advertised_wait_counts_and_not_the_exact_one() {
        for (advice, early_at_900_ms) in
            [("seconds", 1), ("ms", 0), ("seconds+ms", 0), ("seconds:round=down", 0), ("date", 1), ("go", 0)]
        {
            let mut server = server("token-bucket:rate=2/s,burst=1", Some(advice));
            send(&mut server, 0, 0, "a");
            send(&mut server, 0, 1, "a");
            send(&mut server, 900, 2, "a");
            assert_eq!(early(&mut server, 900), early_at_900_ms, "{advice}");
        }
    }

    #[test]
    fn scripts_advise_in_headers_of_their_own() {
        let mut server = server("script:steps=429 retry-after:3|200", None);
        assert!(server.wants().any);
        send(&mut server, 0, 0, "a");
        send(&mut server, 2_000, 1, "a");
        assert_eq!(early(&mut server, 2_000), 1);
    }

    #[test]
    fn a_server_that_never_advises_needs_nothing_of_requests() {
        assert!(!Server::new(Config::default()).wants().any);
        assert!(!server("token-bucket", Some("epoch")).wants().any);
        assert!(server("token-bucket", Some("seconds")).wants().headers.contains(CLIENT));
    }

    #[test]
    fn the_client_that_was_advised_least_recently_is_forgotten() {
        let mut server = server("token-bucket:rate=1/100s,burst=1", None);
        send(&mut server, 0, 0, "first");
        for number in 0..=MAX_CLIENTS {
            send(&mut server, 10, 1, &number.to_string());
        }
        send(&mut server, 20, 1, "0");
        assert_eq!(early(&mut server, 20), 0);
        send(&mut server, 20, 1, "1000");
        assert_eq!(early(&mut server, 20), 1);
    }
}
