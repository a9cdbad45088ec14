//! One request: whose it is to answer, work's or the admin endpoints'.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::{Request, Response};
use http_body_util::Either;
use hyper::body::{Body as _, Incoming};
use tower::ServiceExt;

use crate::access::Access;
use crate::carrier::Carrier;
use crate::faulty::WorkBody;
use crate::plain::Handed;
use crate::request_body;
use crate::shared::Shared;
use crate::stopping::Stopping;
use crate::unanswered::Unanswered;
use crate::{admin, work};

/// The body of any answer.
pub(crate) type Body = Either<WorkBody, axum::body::Body>;

/// What every connection serves.
pub(crate) struct Served {
    pub(crate) shared: Arc<Shared>,
    pub(crate) stopping: Stopping,
    router: Router,
    access: Access,
}

impl Served {
    /// Work goes to `shared`, and so do the admin endpoints of whoever has access to them.
    pub(crate) fn new(shared: Arc<Shared>, access: Access) -> Self {
        Self { router: admin::router(shared.clone()), shared, stopping: Stopping::default(), access }
    }
}

/// Whether a path is none of the server's own endpoints.
pub(crate) fn is_work(path: &str) -> bool {
    !(path.starts_with("/_mock/") || path == "/_mock" || path == "/metrics")
}

/// Answers a request, about which something may have been decided before.
pub(crate) async fn serve(
    served: &Served,
    request: Request<Incoming>,
    peer: IpAddr,
    carrier: Carrier<'_>,
    handed: Option<Handed>,
) -> Result<Response<Body>, Unanswered> {
    if is_work(request.uri().path()) {
        let response = work::serve(&served.shared, request, peer, carrier, handed).await?;
        return Ok(response.map(Either::Left));
    }
    if let Err(refusal) = served.access.check(peer, request.version(), request.uri(), request.headers()) {
        return Ok(admin::forbidden(&refusal).map(Either::Right));
    }
    if request.uri().path() == admin::BARRIER {
        return at_barrier(served, request, carrier).await;
    }
    let request = request.map(axum::body::Body::new);
    answered(served, request).await
}

/// Answers who may wait at a barrier. It may go away, and so may the server: a connection is watched only once all of a request is read,
/// whatever is in it.
async fn at_barrier(
    served: &Served,
    request: Request<Incoming>,
    carrier: Carrier<'_>,
) -> Result<Response<Body>, Unanswered> {
    let (parts, body) = request.into_parts();
    if !body.is_end_stream()
        && let Err((code, words)) = request_body::read(body, false).await
    {
        return Ok(admin::unreadable(code, words).map(Either::Right));
    }
    let request = Request::from_parts(parts, axum::body::Body::empty());
    tokio::select! {
        biased;
        answered = answered(served, request) => answered,
        () = carrier.gone() => Err(Unanswered::Gone),
        () = served.stopping.told() => Ok(admin::stopping().map(Either::Right)),
    }
}

async fn answered(served: &Served, request: Request<axum::body::Body>) -> Result<Response<Body>, Unanswered> {
    match served.router.clone().oneshot(request).await {
        Ok(response) => Ok(response.map(Either::Right)),
        Err(never) => match never {},
    }
}
