//! The router of all requests: admin endpoints, and work on every other path. Connections pass their requests to this router.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::{Body as _, Incoming};
use tower::Service;

use crate::admin::access::Access;
use crate::connection::channel::{Abort, AbortError, Client};
use crate::connection::stopping::Stopping;
use crate::shared::Shared;
use crate::{admin, work};

#[derive(Clone)]
pub(crate) struct App {
    /// Router of all requests. Each request must have a [`Client`] in its extensions.
    router: Router,
    pub(crate) stopping: Arc<Stopping>,
    pub(crate) tls_seen: Arc<AtomicBool>,
}

impl App {
    pub(crate) fn new(shared: &Arc<Shared>, access: Access) -> Self {
        // The admin endpoints have a separate router with its own fallback, so that a mistyped endpoint is not handled as work.
        let admin = admin::router(shared.clone(), access).into_service::<Body>();
        let router = Router::new()
            .route_service("/_mock", admin.clone())
            .route_service("/_mock/", admin.clone())
            .route_service("/_mock/{*path}", admin.clone())
            .route_service("/metrics", admin)
            .fallback_service(work::service(shared.clone()));
        Self { router, stopping: shared.stopping.clone(), tls_seen: shared.tls_seen.clone() }
    }

    pub(crate) fn layered(self, layered: impl FnOnce(Router) -> Router) -> Self {
        Self { router: layered(self.router), ..self }
    }

    pub(crate) fn answer(
        &self,
        request: Request<Incoming>,
        client: Client,
    ) -> impl Future<Output = Result<Response<Body>, AbortError>> + Send + use<> {
        let channel = client.channel.clone();
        // Fast path: most requests have no body. Such requests get an empty body, which needs no allocation.
        let mut request =
            request.map(|body| if body.is_end_stream() { Body::empty() } else { Body::new(body) });
        request.extensions_mut().insert(client);
        let answered = self.router.clone().call(request);
        async move {
            let Ok(mut response) = answered.await;
            match response.extensions_mut().remove::<Abort>() {
                None => Ok(response),
                Some(abort) => Err(channel.abort(abort)),
            }
        }
    }
}
