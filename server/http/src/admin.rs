//! The server's admin endpoints: counts, capacity, configuration and reset under `/_mock/`, and `/metrics`.

pub(crate) mod access;
pub(crate) mod answer_times;
pub(crate) mod barrier;
pub(crate) mod metrics;
pub(crate) mod token;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, RawQuery, Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router, middleware};
use mockserver_core::{AnswersConfig, Expanded, Patch, Policies, ServerPreset, expand, read_patch};
use serde::{Deserialize, Serialize};
use serde_json::{Value, to_value};
use vocabulary::wire::ServerStats;
use vocabulary::{excerpt, wire};

use crate::admin::access::Access;
use crate::admin::barrier::{BarrierError, Participant};
use crate::connection::abort::Abort;
use crate::connection::channel::Client;
use crate::presets;
use crate::shared::Shared;
use crate::work::{request_body, response};

/// Maximum size of a configuration change, in bytes. It is enough for several body templates of maximum size.
const MAX_PATCH: usize = 1 << 20;

pub(crate) const ENDPOINTS: &str = "GET /_mock/stats[?run=ID], GET /_mock/capacity, GET /_mock/config, \
     PATCH /_mock/config, POST /_mock/reset, GET /_mock/presets[/NAME], GET /metrics";

/// Path of the barrier, at which shards of a run wait for each other. Other admin endpoints never delay their answers.
const BARRIER: &str = "/_mock/barrier";

/// Real time from the release of a barrier to the common start of the shards. It is long enough to open connections.
const READY_IN: Duration = Duration::from_millis(100);

/// Default and maximum of the real time for which a request waits at a barrier.
const PATIENCE: Duration = Duration::from_mins(1);
const MAX_PATIENCE: Duration = Duration::from_hours(1);

/// Returns the router of the admin endpoints. Its access rules apply to every path that reaches the router, even if the path does not
/// exist.
pub(crate) fn router(shared: Arc<Shared>, access: Access) -> Router {
    Router::new()
        .route("/_mock/stats", get(stats))
        .route("/_mock/capacity", get(capacity))
        .route("/_mock/config", get(config).patch(configure))
        .route("/_mock/reset", post(reset))
        .route(BARRIER, post(barrier))
        .route("/_mock/presets", get(presets))
        .route("/_mock/presets/{name}", get(preset))
        .route("/metrics", get(metrics))
        .fallback(unknown)
        .method_not_allowed_fallback(other_method)
        .layer(DefaultBodyLimit::max(MAX_PATCH))
        .layer(middleware::from_fn_with_state(Arc::new(access), check_access))
        .layer(middleware::map_response(mark))
        .with_state(shared)
}

async fn check_access(
    State(access): State<Arc<Access>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    match access.check(client.address, request.version(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(wire::Refusal { error, host }) => {
            let error = excerpt(&error).into_owned();
            answer(StatusCode::FORBIDDEN, to_value(wire::Refusal { error, host }))
        }
    }
}

async fn stats(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Response {
    let run = query.as_deref().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("run="));
    match run.map(|run| u64::from_str_radix(run, 16)).transpose() {
        Ok(run) => answer(StatusCode::OK, to_value(shared.stats(run))),
        Err(_) => {
            refuse(StatusCode::BAD_REQUEST, "`run` must be the id of a run: up to 16 hexadecimal digits")
        }
    }
}

async fn capacity(State(shared): State<Arc<Shared>>) -> Response {
    answer(StatusCode::OK, to_value(wire::Capacity { free: shared.free() }))
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let text = HeaderValue::from_static(metrics::CONTENT_TYPE);
    ([(CONTENT_TYPE, text)], shared.metrics().text()).into_response()
}

async fn config(State(shared): State<Arc<Shared>>) -> Response {
    described(&shared)
}

async fn configure(State(shared): State<Arc<Shared>>, body: Result<Bytes, BytesRejection>) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(error) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            let words = format!(
                "the request body is too long; a change of the configuration may have at most {MAX_PATCH} bytes"
            );
            return refuse(error.status(), &words);
        }
        Err(error) => return refuse(error.status(), &format!("the request body cannot be read: {error}")),
    };
    let patch: Patch = match read_patch(&body) {
        Ok(patch) => patch,
        Err(error) => {
            let words =
                format!("the request body must be a JSON object such as {{\"max_busy\": 20}}: {error}");
            return refuse(StatusCode::BAD_REQUEST, &words);
        }
    };
    match shared.patch(&patch) {
        Ok(()) => described(&shared),
        Err(error) => refuse(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
    }
}

async fn reset(State(shared): State<Arc<Shared>>) -> Response {
    shared.reset();
    answer(StatusCode::OK, to_value(shared.stats(None)))
}

/// Answers a request at the barrier once all shards have arrived, the client disconnects, or the server stops. The body is read first,
/// whatever its content, because a disconnect can be detected only after the whole request was read.
async fn barrier(
    State(shared): State<Arc<Shared>>,
    Extension(client): Extension<Client>,
    RawQuery(query): RawQuery,
    body: Body,
) -> Response {
    if let Err((status, text)) = request_body::ignore(body).await {
        return refuse(status, text.trim_end());
    }
    tokio::select! {
        biased;
        response = at_barrier(&shared, query.as_deref().unwrap_or_default()) => response,
        () = client.channel.gone() => Abort::ClientGone.into_response(),
        () = shared.stopping.stopped() => refuse(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down"),
    }
}

async fn at_barrier(shared: &Shared, query: &str) -> Response {
    let (participant, patience) = match participant(query) {
        Ok(participant) => participant,
        Err(words) => return refuse(StatusCode::BAD_REQUEST, words),
    };
    let of = participant.of;
    let release = || {
        shared.reset();
        let ServerStats { instance, epoch, .. } = shared.stats(None);
        let run = format!("{:016x}", RandomState::new().hash_one(epoch));
        let start_in_ms = u64::try_from(READY_IN.as_millis()).unwrap_or(u64::MAX);
        wire::Released { run, of, start_in_ms, instance, epoch }
    };
    let mut place = match shared.barriers.join(participant, release) {
        Ok(place) => place,
        Err(error) => {
            let status = match error {
                BarrierError::Full => StatusCode::SERVICE_UNAVAILABLE,
                _ if error.is_conflict() => StatusCode::CONFLICT,
                _ => StatusCode::BAD_REQUEST,
            };
            return refuse(status, &error.to_string());
        }
    };
    match tokio::time::timeout(patience, place.released()).await {
        Ok(Some(released)) => answer(StatusCode::OK, to_value(released)),
        Ok(None) | Err(_) => match place.given_up() {
            Ok(released) => answer(StatusCode::OK, to_value(released)),
            Err(not_released) => answer(StatusCode::GATEWAY_TIMEOUT, to_value(not_released)),
        },
    }
}

fn participant(query: &str) -> Result<(Participant, Duration), &'static str> {
    let value = |key: &str| {
        query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(name, _)| *name == key))
            .map(|(_, value)| value)
    };
    let run =
        value("run").ok_or("`run` is missing; add a name for the run, for which its shards wait together")?;
    let of =
        value("of").and_then(|of| of.parse().ok()).ok_or("`of` must be the number of shards of the run")?;
    let index = value("index")
        .map(str::parse)
        .transpose()
        .map_err(|_| "`index` must be the number of this shard, counted from 0")?;
    let plan = value("plan").map(ToOwned::to_owned);
    let patience = match value("wait_ms") {
        None => PATIENCE,
        Some(ms) => {
            let patience = ms.parse().ok().map(Duration::from_millis);
            patience
                .filter(|patience| *patience <= MAX_PATIENCE)
                .ok_or("`wait_ms` must be a number of milliseconds, at most 3600000 (an hour)")?
        }
    };
    Ok((Participant { run: run.to_owned(), of, index, plan }, patience))
}

async fn presets() -> Response {
    answer(StatusCode::OK, to_value(presets::listed()))
}

/// Path parameter of the endpoint that describes one preset. The struct selects the parameter `name`, because the outer router's `{*path}`
/// is a second parameter.
#[derive(Debug, Deserialize)]
struct OfPreset {
    name: String,
}

async fn preset(Path(OfPreset { name }): Path<OfPreset>) -> Response {
    match expand(&name, None) {
        Ok(Expanded { preset, policy, answers }) => {
            answer(StatusCode::OK, to_value(ExpandedPreset { preset, policy, answers }))
        }
        Err(error) => refuse(StatusCode::NOT_FOUND, &error.to_string()),
    }
}

#[derive(Serialize)]
struct ExpandedPreset {
    #[serde(flatten)]
    preset: &'static ServerPreset,
    policy: Policies,
    answers: AnswersConfig,
}

async fn unknown(uri: Uri) -> Response {
    refuse(
        StatusCode::NOT_FOUND,
        &format!("`{}` is not an endpoint of this server; its endpoints are {ENDPOINTS}", uri.path()),
    )
}

/// Answers a request whose path exists but does not support the method (RFC 9110, section 15.5.6).
async fn other_method(method: Method, uri: Uri) -> Response {
    let allowed = match uri.path() {
        "/_mock/config" => "GET, HEAD, PATCH",
        "/_mock/reset" | BARRIER => "POST",
        _ => "GET, HEAD",
    };
    let words = format!("`{}` accepts the methods {allowed}, not {method}", uri.path());
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, &words);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

fn described(shared: &Shared) -> Response {
    let description = wire::ServerDescription {
        config: shared.config(),
        state: wire::ServerState {
            time_scale: Some(shared.clock.scale.factor()),
            instance: Some(shared.instance),
            changes: Some(shared.changes()),
            epoch: Some(shared.stats(None).epoch),
            http2_max_streams: Some(shared.http2_max_streams),
            anchor_unix_ms: u64::try_from(shared.clock.anchor.since_unix().as_millis()).ok(),
        },
    };
    answer(StatusCode::OK, to_value(description))
}

fn refuse(status: StatusCode, words: &str) -> Response {
    answer(status, to_value(wire::Refusal::new(excerpt(words))))
}

/// Returns a JSON response. Its keys are in alphabetical order, because a [`Value`] stores objects in ordered maps.
fn answer(status: StatusCode, content: serde_json::Result<Value>) -> Response {
    let Ok(content) = content else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], format!("{content}\n")).into_response()
}

async fn mark(mut response: Response) -> Response {
    response.headers_mut().insert(response::MOCK, response::MOCK_VERSION);
    response
}
