//! A server inside another program, with its own threads and port.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use mockserver_core::{Config, ServerLog};
use tokio::net::TcpListener;
use tokio::sync::watch;
use vocabulary::{TimeScale, WallTime};
use wire::{RunId, ServerStats};

use crate::admin::access::Access;
use crate::alarm;
use crate::app::App;
use crate::connection::accept::{Limits, serve};
use crate::connection::{Bounds, listen};
use crate::shared::Shared;

/// A running server. Dropping it stops the server at once.
pub struct Embedded {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Puts layers around a router. It is boxed, so that the server is compiled once and not again for each caller.
pub(crate) type Layered<'a> = Box<dyn FnOnce(Router) -> Router + 'a>;

impl Embedded {
    /// Starts a server on a free port of the loopback interface.
    ///
    /// # Errors
    /// Fails if the configuration is invalid, or the system provides no port or thread.
    pub fn start(config: Config, scale: TimeScale) -> anyhow::Result<Self> {
        Self::start_with(config, scale, Bounds::default(), Box::new(|app| app))
    }

    /// Variant of [`start`](Self::start) with a limit on concurrent requests per HTTP/2 connection.
    ///
    /// # Errors
    /// Fails if the configuration is invalid, or the system provides no port or thread.
    pub fn start_with_http2_max_streams(
        config: Config,
        scale: TimeScale,
        http2_max_streams: u32,
    ) -> anyhow::Result<Self> {
        let bounds = Bounds { http2_max_streams, ..Bounds::default() };
        Self::start_with(config, scale, bounds, Box::new(|app| app))
    }

    /// Variant of [`start`](Self::start) that puts the caller's layers around the router of all requests.
    ///
    /// # Errors
    /// Fails if the configuration is invalid, or the system provides no port or thread.
    pub fn start_layered(config: Config, scale: TimeScale, layered: Layered<'_>) -> anyhow::Result<Self> {
        Self::start_with(config, scale, Bounds::default(), layered)
    }

    fn start_with(
        config: Config,
        scale: TimeScale,
        bounds: Bounds,
        layered: Layered<'_>,
    ) -> anyhow::Result<Self> {
        config.validate()?;
        let runtime = crate::runtime::runtime().context("the runtime could not be started")?;
        let listener = listen::listen(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(config, scale, bounds.http2_max_streams));
        alarm::start(&runtime, shared.clone()).context("the timer of the answers could not be started")?;
        let (stop, stopped) = watch::channel(false);
        let limits = Limits { connections: 100_000, bounds, grace: Duration::ZERO };
        let app = App::new(&shared, Access::default()).layered(layered);
        let serving = move || {
            runtime.block_on(async {
                // The conversion fails only outside of a runtime, and this code runs in one.
                if let Ok(listener) = TcpListener::from_std(listener) {
                    serve(listener, app, limits, stopped).await;
                }
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new()
            .name("mockserver".to_owned())
            .spawn(serving)
            .context("the embedded server's thread could not be started")?;
        Ok(Self { address, shared, stop, thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the wall-clock time at which the server started. In answers to runs of loadgen, the date is this time plus the experiment
    /// time since the start.
    pub fn anchor(&self) -> WallTime {
        self.shared.clock.anchor
    }

    /// Whether a client began a TLS handshake. The server closes such connections.
    pub fn tls_seen(&self) -> bool {
        self.shared.tls_seen.load(Ordering::Relaxed)
    }

    pub fn stats(&self, run: Option<RunId>) -> ServerStats {
        self.shared.stats(run)
    }

    /// Records all requests and answers from now on, for replay in virtual time. Must be called before the first request.
    pub fn record_log(&self) {
        self.shared.lock().server.record_log();
    }

    pub fn take_log(&self) -> Option<ServerLog> {
        self.shared.take_log()
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.shared.close();
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // The result of the server's thread is ignored, because after a panic of the server there is nothing left to stop.
            drop(thread.join());
        }
    }
}
