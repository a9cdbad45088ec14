//! Yardstick for a server on axum: it rejects every request with a constant response, on one thread. `mockserver`
//! additionally pays for admission, counting, its headers and its bounds; it saves axum's handlers.
//!
//!     bare_axum_server 127.0.0.1:8523

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::serve::ListenerExt;

/// The same allocator as `mockserver`.
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
            // If this fails, responses are only sent a little later.
            drop(stream.set_nodelay(true));
        });
        axum::serve(listener, Router::new().fallback(reject)).await
    })
}
