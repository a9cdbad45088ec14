//! Layer in front of a situation's server. It selects the judged requests, records them, and answers all others.

use std::future::poll_fn;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, TRANSFER_ENCODING, UPGRADE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use mockserver::Embedded;
use mockserver::core::{Config, Script};
use serde_json::Value;
use shell::exit::{Exit, Fatal};
use vocabulary::{Distribution, TimeScale, WallTime};

use crate::advice::Advice;
use crate::answers::Answers;
use crate::call::CallPattern;
use crate::observation::{Attempt, IdempotencyKey, OtherCall, Reply, SentBody};
use crate::records::{OpIdentity, Recorded, Records};
use crate::simulated::expected;
use crate::situation::Situation;

/// Maximum size of a request's body in bytes.
const MAX_BODY: usize = 16 << 20;

/// Time for which each judged request is held before its answer. Requests that a client sends together therefore overlap, and are
/// recognised as parallel. Delays are counted from the answer, so the time does not change them.
const HOLD: Duration = Duration::from_millis(20);

/// Maximum length of a recorded text from the client, such as a target or a key.
const MAX_TEXT: usize = 500;

const KEY_HEADERS: [&str; 4] =
    ["idempotency-key", "x-idempotency-key", "repeatability-request-id", "paypal-request-id"];

const CONDITIONS: [&str; 2] = ["if-match", "if-none-match"];

/// Headers with credentials. A request with another credential is another request.
const CREDENTIALS: [&str; 6] =
    ["authorization", "cookie", "x-api-key", "api-key", "x-auth-token", "x-goog-api-key"];

/// Headers with ids that clients keep over the attempts of an op. Counters of attempts and ids of single requests do not belong here.
const ID_HEADERS: [&str; 3] = ["amz-sdk-invocation-id", "idempotency-key", wire::OP];

#[derive(Debug)]
pub(super) struct Calls {
    /// Call to judge, whatever its query. `None` is any call; without `identities`, the first one with its query.
    pub(super) call: Option<CallPattern>,
    /// Headers that sort requests into ops, besides [`ID_HEADERS`]. `None` judges only the first call that matches.
    pub(super) identities: Option<Vec<String>>,
    pub(super) answers: Answers,
    pub(super) bodies: Vec<(CallPattern, String)>,
    /// Further names of idempotency keys, as headers or as fields of a JSON body.
    pub(super) keys: Vec<String>,
}

/// The layer and its records. Clones share the records.
#[derive(Clone, Debug)]
pub(super) struct Door {
    calls: Arc<Calls>,
    script: Arc<Script>,
    started: Instant,
    first_call: Arc<OnceLock<(String, String)>>,
    records: Arc<Mutex<Records>>,
}

impl Door {
    pub(super) fn new(
        calls: &Arc<Calls>,
        situation: &Situation,
        waits_for_advice: bool,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            calls: calls.clone(),
            script: Arc::new(situation.script(&calls.answers)?),
            started: Instant::now(),
            first_call: Arc::default(),
            records: Arc::new(Mutex::new(Records::new(waits_for_advice))),
        })
    }

    /// Starts the server of the situation, behind this layer. `extended` may add routes that are not behind it.
    pub(super) fn start(&self, extended: impl FnOnce(Router) -> Router) -> anyhow::Result<Embedded> {
        let policy = format!("script:steps={}", self.script)
            .parse()
            .map_err(|error| anyhow::anyhow!("the script of a situation is invalid: {error}"))?;
        let config = Config { policy, network_delay: Distribution::ZERO, ..Config::default() };
        let around = |router: Router| extended(router.layer(from_fn_with_state(self.clone(), answer)));
        Embedded::start_layered(config, TimeScale::default(), Box::new(around)).map_err(|error| {
            Fatal::because(Exit::Unreachable, "the server of a situation cannot be started", error)
        })
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn records(&self) -> MutexGuard<'_, Records> {
        lock(&self.records)
    }

    fn is_judged(&self, method: &str, path: &str, target: &str) -> bool {
        let Calls { call, identities, .. } = &*self.calls;
        if call.as_ref().is_some_and(|call| !call.matches(method, path)) {
            return false;
        }
        let target = if call.is_some() { path } else { target };
        identities.is_some() || {
            let first = self.first_call.get_or_init(|| (method.to_owned(), target.to_owned()));
            first.0 == method && first.1 == target
        }
    }

    fn identity(&self, target: &str, attempt: &Attempt, headers: &HeaderMap) -> OpIdentity {
        let Some(identities) = &self.calls.identities else {
            return OpIdentity { text: String::new(), is_stable: true };
        };
        let mut names = identities.iter().map(String::as_str).chain(ID_HEADERS);
        let id = names.find_map(|name| Some(format!("{name}={}", headers.get(name)?.to_str().ok()?)));
        let is_stable = id.is_some();
        let text = id.unwrap_or_else(|| format!("{} {target} {}", attempt.method, attempt.body_digest));
        OpIdentity { text: shortened(&text), is_stable }
    }

    fn on_other(&self, call: &OtherCall) {
        let now = self.elapsed();
        self.records().on_other(now, call);
    }

    fn success(&self, method: &str, path: &str) -> Response {
        let (headers, usual) = &self.calls.answers.success;
        let body = self.calls.bodies.iter().find(|(call, _)| call.matches(method, path));
        let mut response = Response::new(Body::from(body.map_or(usual, |(_, body)| body).clone()));
        for (name, value) in headers {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

async fn answer(State(door): State<Door>, request: Request, next: Next) -> Response {
    let at = door.elapsed();
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let full_target = parts.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    // The values of a query may be secrets, so no record has them.
    let target = match parts.uri.authority() {
        Some(authority) if parts.method == Method::CONNECT => shortened(authority.as_str()),
        _ => shortened(&experiments::servers::target::url(&full_target)),
    };
    let protocol = other_protocol(&parts.headers);
    let call = OtherCall { method: parts.method.to_string(), target, requests: 1, protocol };
    // `loadgen` itself looks for a mockserver here. It must treat the server like any other one.
    if path == "/_mock" || path.starts_with("/_mock/") {
        return StatusCode::NOT_FOUND.into_response();
    }
    if parts.method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    if parts.method == Method::CONNECT {
        door.records().on_other(at, &call);
        return next.run(Request::from_parts(parts, body)).await;
    }
    if let Some(protocol) = protocol {
        door.on_other(&call);
        return (StatusCode::NOT_IMPLEMENTED, format!("{protocol} is not judged\n")).into_response();
    }
    if !door.is_judged(&call.method, &path, &full_target) {
        // The body is read before the answer, because some clients treat an early answer as a broken connection.
        drop(received(&door, body, None).await);
        door.on_other(&call);
        return door.success(&call.method, &path);
    }
    let attempt = Attempt {
        method: call.method.clone(),
        target: call.target.clone(),
        at,
        is_conditional: CONDITIONS.iter().any(|name| parts.headers.contains_key(*name)),
        credential_digest: digest(
            &CREDENTIALS.map(|name| parts.headers.get(name).map(HeaderValue::as_bytes)),
        ),
        body: SentBody {
            promised: number_in(&parts.headers, CONTENT_LENGTH),
            is_chunked: parts.headers.contains_key(TRANSFER_ENCODING),
            ..SentBody::default()
        },
        ..Attempt::default()
    };
    let arriving = door.records().on_judged_arrival(attempt);
    let mut arrival = Arrival {
        door: &door,
        arriving,
        target: &full_target,
        headers: parts.headers.clone(),
        is_over: false,
    };
    let (body, is_whole) = received(&door, body, Some(arriving)).await;
    if body.len() > MAX_BODY {
        arrival.is_over = true;
        door.records().on_body_end(arriving);
        door.on_other(&call);
        return (StatusCode::PAYLOAD_TOO_LARGE, "the request body is longer than 16 MiB\n").into_response();
    }
    if !is_whole {
        drop(arrival);
        return (StatusCode::BAD_REQUEST, "the request body is incomplete\n").into_response();
    }
    let Some(recorded) = arrival.ended(&body, None) else { return StatusCode::BAD_REQUEST.into_response() };
    drop(arrival);
    let number = u32::try_from(recorded.attempt + 1).unwrap_or(u32::MAX);
    // The server's own endpoints and conditional writes must not change the scripted answer.
    parts.uri = Uri::from_static("/");
    parts.headers.remove("if-match");
    let foreign: Vec<_> =
        parts.headers.keys().filter(|name| name.as_str().starts_with("x-tailback-")).cloned().collect();
    for name in foreign {
        parts.headers.remove(name);
    }
    parts.headers.insert(wire::OP, HeaderValue::from(recorded.op));
    parts.headers.insert(wire::ATTEMPT, number.into());
    let mut open = OpenAttempt { door: &door, recorded, reply: Reply::Open };
    tokio::time::sleep(HOLD).await;
    // The script does not depend on the body, and the server accepts only short ones.
    parts.headers.remove("content-length");
    parts.headers.remove("transfer-encoding");
    let response = next.run(Request::from_parts(parts, Body::empty())).await;
    open.reply = reply(&door.script, number, response.headers());
    response
}

/// Reads a body up to a little more than [`MAX_BODY`], and returns whether it is whole. Each piece restarts the idle timeout of all calls
/// together.
async fn received(door: &Door, mut body: Body, arriving: Option<u64>) -> (Bytes, bool) {
    let mut all = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(frame) = frame else { return (all.into(), false) };
        if let Ok(piece) = frame.into_data() {
            all.extend_from_slice(&piece);
        }
        door.records().on_piece(door.elapsed(), arriving, all.len());
        if all.len() > MAX_BODY {
            break;
        }
    }
    (all.into(), true)
}

/// Request of the judged call whose body has not yet arrived. If the client disconnects before its end, the server drops the request, and
/// with it this value, which then records an attempt with an incomplete body.
struct Arrival<'a> {
    door: &'a Door,
    arriving: u64,
    target: &'a str,
    headers: HeaderMap,
    is_over: bool,
}

impl Arrival<'_> {
    /// Records the attempt. An incomplete body has no answer, and so an end.
    fn ended(&mut self, body: &Bytes, end: Option<Duration>) -> Option<Recorded> {
        self.is_over = true;
        let Self { door, headers, .. } = self;
        let mut attempt = door.records().on_body_end(self.arriving)?;
        if end.is_none() {
            attempt.body = SentBody { bytes: body.len() as u64, promised: None, ..attempt.body };
        }
        attempt.body.promised = attempt.body.promised.filter(|promised| *promised > attempt.body.bytes);
        attempt.body.is_chunked &= attempt.body.bytes > 0;
        attempt.body_digest = body_digest(headers, body);
        attempt.keys = keys(headers, body, &door.calls.keys);
        let identity = door.identity(self.target, &attempt, headers);
        let recorded = door.records().on_attempt(&identity, attempt, body);
        if let Some(end) = end {
            door.records().on_answer(recorded, end, Reply::Open);
        }
        Some(recorded)
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.ended(&Bytes::new(), Some(self.door.elapsed()));
        }
    }
}

/// Attempt that records its reply when it is dropped. If the client disconnects, the server drops the request, and with it this value,
/// before an answer.
struct OpenAttempt<'a> {
    door: &'a Door,
    recorded: Recorded,
    reply: Reply,
}

impl Drop for OpenAttempt<'_> {
    fn drop(&mut self) {
        let ended = self.door.elapsed();
        self.door.records().on_answer(self.recorded, ended, self.reply);
    }
}

/// Returns the reply that was sent. Its advice is parsed from the headers that were sent, because dates depend on the time.
fn reply(script: &Script, number: u32, headers: &HeaderMap) -> Reply {
    let now = WallTime::from_unix(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    let mut reply = expected(script, number, now);
    if let Reply::Status { advice, .. } = &mut reply {
        *advice = Advice::parse(|name| headers.get(name)?.to_str().ok(), now);
    }
    reply
}

/// Returns the protocol of a request that is not judged, because its op is not one request. Offers of HTTP/2 and TLS are ignored, as most
/// servers do.
fn other_protocol(headers: &HeaderMap) -> Option<&'static str> {
    let begins = |name: HeaderName, word: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.to_ascii_lowercase().starts_with(word)
    };
    let is_offer = || ["h2c", "http/", "tls/"].iter().any(|word| begins(UPGRADE, word));
    match () {
        () if begins(CONTENT_TYPE, "application/grpc") => Some("gRPC"),
        () if begins(UPGRADE, "websocket") => Some("a websocket"),
        () if headers.contains_key(UPGRADE) && !is_offer() => Some("an upgrade to another protocol"),
        () => None,
    }
}

fn number_in(headers: &HeaderMap, name: HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

fn digest(value: &(impl Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

/// Returns the digest of a body. In a multipart body, each attempt may have another boundary, so boundaries are left out.
fn body_digest(headers: &HeaderMap, body: &Bytes) -> u64 {
    let is_multipart =
        headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/"));
    let boundary = body.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    if !is_multipart || boundary.len() <= b"--".len() || !boundary.starts_with(b"--") {
        return digest(&**body);
    }
    let lines = body.split(|byte| *byte == b'\n');
    let without: Vec<&[u8]> = lines.map(|line| line.strip_prefix(boundary).unwrap_or(line)).collect();
    digest(&without)
}

fn keys(headers: &HeaderMap, body: &Bytes, names: &[String]) -> Vec<IdempotencyKey> {
    let mut keys: Vec<IdempotencyKey> = Vec::new();
    let text = |value: &HeaderValue| shortened(&String::from_utf8_lossy(value.as_bytes()));
    for name in KEY_HEADERS.into_iter().chain(names.iter().map(String::as_str)) {
        let name = name.to_ascii_lowercase();
        if let Some(value) = headers.get(&name).filter(|value| !value.is_empty())
            && !keys.iter().any(|key| key.name == name)
        {
            keys.push(IdempotencyKey { name, value: text(value) });
        }
    }
    let json = if names.is_empty() { Value::Null } else { serde_json::from_slice(body).unwrap_or_default() };
    for name in names {
        let value = name.split('.').try_fold(&json, |json, key| json.get(key));
        if let Some(value) = value.filter(|value| !value.is_null() && value.as_str() != Some("")) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            keys.push(IdempotencyKey { name: name.clone(), value: shortened(&value) });
        }
    }
    keys.sort_by(|one, other| one.name.cmp(&other.name));
    keys
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
