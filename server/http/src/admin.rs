//! The server's admin endpoints: counts, capacity, configuration and reset under `/_mock/`, and `/metrics`.

pub(crate) mod access;
pub(crate) mod answer_times;
pub(crate) mod metrics;
pub(crate) mod token;

use std::sync::Arc;

use axum::body::Bytes;
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
use vocabulary::excerpt;

use crate::admin::access::Access;
use crate::connection::channel::Client;
use crate::presets;
use crate::shared::Shared;
use crate::work::response;

/// Maximum size of a configuration change, in bytes. It is enough for several body templates of maximum size.
const MAX_PATCH: usize = 1 << 20;

pub(crate) const ENDPOINTS: &str = "GET /_mock/stats[?run=ID], GET /_mock/capacity, GET /_mock/config, \
     PATCH /_mock/config, POST /_mock/reset, GET /_mock/presets[/NAME], GET /metrics";

/// Returns the router of the admin endpoints. Its access rules apply to every path that reaches the router, even if the path does not
/// exist.
pub(crate) fn router(shared: Arc<Shared>, access: Access) -> Router {
    Router::new()
        .route("/_mock/stats", get(stats))
        .route("/_mock/capacity", get(capacity))
        .route("/_mock/config", get(config).patch(configure))
        .route("/_mock/reset", post(reset))
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
        "/_mock/reset" => "POST",
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
