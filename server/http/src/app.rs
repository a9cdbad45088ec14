//! The one router that serves every request: the server's own endpoints, and work on every other path.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;

use crate::access::Access;
use crate::connection::Served;
use crate::shared::Shared;
use crate::{admin, work};

/// Returns what connections serve: the router, until the server stops. Each request must have a
/// [`Client`](crate::channel::Client) among its extensions.
pub(crate) fn served(shared: &Arc<Shared>, access: Access) -> Served {
    // A router of its own with its own fallback, so that a mistyped endpoint is not taken for work.
    let admin = admin::router(shared.clone(), access).into_service::<Body>();
    let app = Router::new()
        .route_service("/_mock", admin.clone())
        .route_service("/_mock/", admin.clone())
        .route_service("/_mock/{*path}", admin.clone())
        .route_service("/metrics", admin)
        .fallback_service(work::service(shared.clone()));
    Served { app, stopping: shared.stopping.clone() }
}
