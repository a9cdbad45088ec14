//! The least that a server on axum can do: every request is rejected with a constant answer, on one thread. What `mockserver` costs
//! beyond it is admission, counting, its headers and its bounds; what it saves are axum's handlers.
//!
//!     bare_axum_server 127.0.0.1:8523

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::serve::ListenerExt;

/// As in `mockserver`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

async fn reject() -> (StatusCode, [(axum::http::HeaderName, &'static str); 1], &'static str) {
    (StatusCode::SERVICE_UNAVAILABLE, [(CACHE_CONTROL, "no-store")], "busy\n")
}

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8523".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?.tap_io(|stream| {
            // Failing that, answers go out a little later.
            drop(stream.set_nodelay(true));
        });
        axum::serve(listener, Router::new().fallback(reject)).await
    })
}
