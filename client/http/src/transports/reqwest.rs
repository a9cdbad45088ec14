//! reqwest as a transport: its retries, redirects, proxies and name look-ups are off on purpose.

use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, HOST, HeaderName, HeaderValue, IF_MATCH, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use loadgen_core::{
    Cause, Classifier, ErrorKind, Latencies, Launched, OperationKind, ServerSeen, ServerVerdict,
};
use reqwest::{Body, Client, Request, Response, Url};
use tailback::{Advice, Failure, MOST_BODY, Outcome, Reading, Status};
use vocabulary::{TimeScale, grpc, wire};

use crate::advice::{Headers, hear};
use crate::asked::Asked;
use crate::connecting::Connecting;
use crate::http_client::{AGENT, client};
use crate::transport::{Answer, RunHeaders, Transport, TransportConfig, TransportError};
use crate::trouble;

/// The most of an answer's body that is read; a longer one counts as a transport failure.
const LONGEST_BODY: u64 = 64 << 20;

// Parsed once, not per attempt.
const OP: HeaderName = HeaderName::from_static(wire::OP);
const ATTEMPT: HeaderName = HeaderName::from_static(wire::ATTEMPT);
const CLIENT: HeaderName = HeaderName::from_static(wire::CLIENT);
const LEAST_FREE: HeaderName = HeaderName::from_static(wire::LEAST_FREE);
const DEFERRED: HeaderName = HeaderName::from_static(wire::DEFERRED);
const TOOK: HeaderName = HeaderName::from_static(wire::TOOK);
const BUSY: HeaderName = HeaderName::from_static(wire::BUSY);
const VERDICT: HeaderName = HeaderName::from_static(wire::VERDICT);
const CAP: HeaderName = HeaderName::from_static(wire::CAP);
const LIMITS: HeaderName = HeaderName::from_static(wire::LIMITS);
const MOCK: HeaderName = HeaderName::from_static(wire::MOCK);
const GRPC_STATUS: HeaderName = HeaderName::from_static(grpc::STATUS);

/// Sends attempts with reqwest.
#[derive(Clone, Debug)]
pub(crate) struct ReqwestTransport {
    client: Client,
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: bytes::Bytes,
    /// Headers of the read before a conditional write, if attempts are such pairs; their method and headers above are
    /// those of the write.
    read: Option<HeaderMap>,
    /// What differs by op, if anything does: kinds of requests instead of method, URL and headers above, and API keys.
    asked: Option<Arc<Asked>>,
    run: Option<RunHeaders>,
    classifier: Classifier,
    reading: Arc<Reading>,
    /// Servers that do not know the run advise in real time.
    scale: TimeScale,
    connecting: Connecting,
}

impl ReqwestTransport {
    /// The same transport for read-modify-writes.
    ///
    /// A read-modify-write is a GET and then at once a PUT with the GET's entity tag as `If-Match`, whatever method was
    /// given; the body goes with the PUT. The tag means nothing here: it is sent back as it came. A GET that is not
    /// answered with success ends the attempt, and one that is answered without a tag fails it for good.
    fn reading_first(mut self) -> Self {
        self.method = Method::PUT;
        self.headers.remove(IF_MATCH);
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
        if self.run.is_some() {
            let read = HeaderValue::from_static(wire::STEP_READ);
            headers.insert(HeaderName::from_static(wire::STEP), read);
        }
        self.read = Some(headers);
        self
    }

    /// The request of an attempt, or the write of a read-modify-write without its condition.
    fn request(&self, attempt: &Launched) -> Request {
        let kind = self.asked.as_ref().and_then(|asked| asked.kind_of(attempt.op));
        let (mut request, has_body) = match kind {
            None => (self.bare(attempt, self.method.clone(), &self.url, &self.headers), true),
            Some(kind) => (self.bare(attempt, kind.method.clone(), &kind.url, &kind.headers), kind.has_body),
        };
        if has_body && !self.body.is_empty() {
            *request.body_mut() = Some(Body::from(self.body.clone()));
        }
        request
    }

    fn bare(&self, attempt: &Launched, method: Method, url: &Url, common: &HeaderMap) -> Request {
        let mut request = Request::new(method, url.clone());
        let headers = request.headers_mut();
        // Room for what is added here and by the client: a map that grows is a map built twice.
        headers.reserve(common.len() + 8);
        for (name, value) in common {
            headers.append(name, value.clone());
        }
        if self.run.is_some() {
            headers.insert(OP, HeaderValue::from(attempt.op));
            headers.insert(ATTEMPT, HeaderValue::from(attempt.ordinal));
            headers.insert(CLIENT, HeaderValue::from(attempt.client));
        }
        if let Some(asked) = &self.asked {
            asked.authorize(attempt.op, headers);
        }
        request
    }

    /// The first request of an attempt says what must be free for it to start; only a mockserver understands that.
    fn look_first(&self, attempt: &Launched, request: &mut Request) {
        if self.run.is_some() && attempt.least_free > 0 {
            request.headers_mut().insert(LEAST_FREE, HeaderValue::from(attempt.least_free));
        }
    }

    /// Reads before a conditional write; what comes back is the object's tag and what else the answer told, or the
    /// attempt's end.
    async fn read_tag(
        &self,
        attempt: &Launched,
        headers: &HeaderMap,
    ) -> Result<(HeaderValue, Answer), Answer> {
        let mut request = self.bare(attempt, Method::GET, &self.url, headers);
        self.look_first(attempt, &mut request);
        let lost = |error| Answer::none(trouble::kind(&error, false));
        let response = self.client.execute(request).await.map_err(lost)?;
        let looked = attempt.least_free > 0;
        let tag = response.headers().get(ETAG).cloned();
        let answer = self.read_answer(response, looked).await?;
        if answer.outcome.status != Status::Succeeded {
            return Err(answer);
        }
        let no_tag = Answer {
            outcome: Outcome::plain(Status::Failed(Failure::Fatal)),
            cause: Some(Cause::Error(ErrorKind::NoTag)),
            ..answer
        };
        tag.map(|tag| (tag, answer)).ok_or(no_tag)
    }

    /// Reads an answer to its end, so that the connection can be used again; without an end it is none.
    async fn read_answer(&self, response: Response, looked: bool) -> Result<Answer, Answer> {
        let (status, lost) = (response.status(), Answer::none);
        let most_body = match self.reading.most_body() {
            _ if self.classifier.looks_at_bodies() => MOST_BODY,
            _ if status.is_success() => 0,
            most => most,
        };
        if most_body == 0 {
            let answer = self.understand(status, response.headers(), &[], looked);
            return drain(response, 0).await.map_err(lost).map(|_| answer);
        }
        let headers = response.headers().clone();
        let body = drain(response, most_body).await.map_err(lost)?;
        Ok(self.understand(status, &headers, &body, looked))
    }

    /// What an answer says. Only a request that looked first may be deferred.
    fn understand(&self, status: StatusCode, headers: &HeaderMap, body: &[u8], looked: bool) -> Answer {
        if self.run.is_some() && headers.contains_key(DEFERRED) {
            if !looked {
                // The attempt was counted when it was sent.
                return Answer::none(ErrorKind::Other);
            }
            let outcome = Outcome::plain(Status::Deferred);
            return Answer { outcome, server: None, told: None, cause: None, by_gateway: false };
        }
        let code = status.as_u16();
        let grpc = headers.get(&GRPC_STATUS).and_then(|value| value.to_str().ok());
        let status = self.classifier.whole_answer(code, grpc, &Headers(code, headers), body);
        let scaled = |advice| match advice {
            Advice::After(real) if self.run.is_none() => Advice::After(self.scale.to_experiment(real)),
            other => other,
        };
        let heard = hear(&self.reading, code, headers, body, self.run.map(|run| run.anchor));
        let advice = scaled(heard.advice);
        let told = match scaled(heard.told) {
            Advice::After(told) if status != Status::Succeeded => Some(told),
            _ => None,
        };
        let number = |name: &HeaderName| headers.get(name)?.to_str().ok()?.parse().ok();
        let took = || headers.get(&TOOK)?.to_str().ok()?.parse().ok().map(Duration::from_nanos);
        let verdict = || verdict(headers.get(&VERDICT)?);
        let limits = || headers.get(&LIMITS)?.to_str().ok()?.parse().ok();
        let seen = || {
            let (busy, cap) = (number(&BUSY)?, number(&CAP));
            let limits = limits().unwrap_or_default();
            Some(ServerSeen { busy, cap, took: took(), limits, verdict: verdict() })
        };
        let server = self.run.and_then(|_| seen());
        let by_gateway = self.run.is_some() && !headers.contains_key(&MOCK);
        let cause = Some(Cause::Status(code));
        let (facts, outer_advice) = (heard.facts, scaled(heard.outer_advice));
        let outcome = Outcome { facts, outer_advice, ..Outcome::advised(status, advice) };
        Answer { outcome, server, told, cause, by_gateway }
    }
}

impl Transport for ReqwestTransport {
    const NAME: &'static str = "reqwest";
    const SUMMARY: &'static str = "HTTP/1.1 with reqwest and a pool of connections";

    fn build(config: TransportConfig) -> Result<Self, TransportError> {
        let connecting = Connecting::new(config.most_connections);
        let client = client(&config.target, config.timeout, &connecting)?;
        let mut headers = config.request.headers;
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        if let Some(host) = config.target.host_header() {
            headers.entry(HOST).or_insert(HeaderValue::from_str(&host).map_err(TransportError::Host)?);
        }
        if let Some(run) = config.run {
            let id = HeaderValue::from_str(&format!("{:016x}", run.run)).map_err(TransportError::Host)?;
            headers.insert(HeaderName::from_static(wire::RUN), id);
            headers.insert(HeaderName::from_static(wire::SEED), HeaderValue::from(run.seed));
        }
        let url = config.target.requested().clone();
        let asked = Asked::new(&config.requests, config.seed, &url, &headers, config.run.is_some())?;
        let transport = Self {
            client,
            url,
            method: config.request.method,
            headers,
            body: config.request.body,
            read: None,
            asked: asked.map(Arc::new),
            run: config.run,
            classifier: config.classifier,
            reading: config.reading,
            scale: config.scale,
            connecting,
        };
        Ok(match config.kind {
            OperationKind::Request => transport,
            OperationKind::ReadModifyWrite => transport.reading_first(),
        })
    }

    /// Asks a mockserver for its counts, which it does not count as work; any other server would count the extra requests.
    async fn warm_up(&self, count: usize) {
        if self.run.is_none() {
            return;
        }
        let mut url = self.url.clone();
        url.set_path("/_mock/stats");
        // Answers may come back before all connects have begun and their connections be used again, so a
        // second round may be needed; more would be pointless.
        for _ in 0..4 {
            let missing = count.saturating_sub(usize::try_from(self.connections()).unwrap_or(usize::MAX));
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..missing {
                let request = self.client.get(url.clone()).headers(self.headers.clone());
                tasks.spawn(async move {
                    if let Ok(response) = request.timeout(Duration::from_secs(2)).send().await {
                        // Whether it can be used again is seen when it is.
                        let _ = drain(response, 0).await;
                    }
                });
            }
            tasks.join_all().await;
        }
    }

    async fn send(&self, attempt: Launched) -> Answer {
        let _request = self.connecting.begin_request();
        let mut request = self.request(&attempt);
        let mut read = None;
        if let Some(headers) = &self.read {
            match self.read_tag(&attempt, headers).await {
                Ok((tag, answer)) => {
                    request.headers_mut().insert(IF_MATCH, tag);
                    read = Some(answer);
                }
                Err(answer) => return answer,
            }
        } else {
            self.look_first(&attempt, &mut request);
        }
        let response = match self.client.execute(request).await {
            Ok(response) => response,
            Err(error) => return Answer::none(trouble::kind(&error, false)),
        };
        // A write after a read looked when it read.
        let has_looked = self.read.is_none() && attempt.least_free > 0;
        let mut answer = match self.read_answer(response, has_looked).await {
            Ok(answer) => answer,
            Err(answer) => return answer,
        };
        if let Some(read) = read {
            answer.by_gateway |= read.by_gateway;
            if let Some(seen) = &mut answer.server {
                let took_before = read.server.and_then(|seen| seen.took);
                seen.took = seen.took.zip(took_before).map(|(write, read)| read + write);
            }
        }
        answer
    }

    fn room(&self) -> usize {
        self.connecting.room()
    }

    async fn grown(&self) {
        self.connecting.grown().await;
    }

    fn on_lost(&self) {
        self.connecting.on_lost();
    }

    fn connections(&self) -> u64 {
        self.connecting.count()
    }

    fn connect_times(&self) -> Latencies {
        self.connecting.opened()
    }
}

/// What the server says that it made of the attempt.
fn verdict(value: &HeaderValue) -> Option<ServerVerdict> {
    let verdicts = [ServerVerdict::Accepted, ServerVerdict::Rejected, ServerVerdict::Failed];
    let said = wire::VERDICTS.iter().position(|word| value == word)?;
    verdicts.get(said).copied()
}

/// Reads an answer's body to its end; what is kept of it is its beginning.
async fn drain(mut response: Response, most_kept: usize) -> Result<Vec<u8>, ErrorKind> {
    let mut left = LONGEST_BODY;
    let mut kept = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = most_kept.saturating_sub(kept.len()).min(chunk.len());
                kept.extend_from_slice(&chunk[..room]);
                match left.checked_sub(chunk.len() as u64) {
                    Some(rest) => left = rest,
                    None => return Err(ErrorKind::LongBody),
                }
            }
            Ok(None) => return Ok(kept),
            Err(error) => return Err(trouble::kind(&error, true)),
        }
    }
}
