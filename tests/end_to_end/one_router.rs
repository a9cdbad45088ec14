//! Every attempt of a run passes the server's single router: a layer around it has the same count as the ledger and the result.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use mockserver::Embedded;
use mockserver::core::Config;
use vocabulary::TimeScale;

use crate::support::{assert_conserved, count, loadgen};

fn counting(app: Router, counted: Arc<AtomicU64>) -> Router {
    app.layer(middleware::from_fn(move |request: Request, next: Next| {
        let path = request.uri().path();
        if !path.starts_with("/_mock") && path != "/metrics" {
            counted.fetch_add(1, Ordering::Relaxed);
        }
        next.run(request)
    }))
}

#[test]
fn ledger_result_and_router_layer_count_the_same_attempts() {
    for strategy in ["aimd", "exponential:jitter=0.5"] {
        for protocol in [&[][..], &["--http2"]] {
            let counted = Arc::new(AtomicU64::new(0));
            let scale = TimeScale::parse("0.1").expect("a scale");
            let around = counted.clone();
            // However slow a busy machine is, each op is rejected once, and no attempt times out on its way.
            let config = Config { reject_first: 1, ..Config::default() };
            let server = Embedded::start_layered(config, scale, Box::new(|app| counting(app, around)))
                .expect("a port and a thread");
            let target = format!("http://{}/", server.address());
            let run = ["--target", &target, "--time-scale", "0.1", "--strategy", strategy, "--ops", "100"];
            let more = ["--timeout", "1h", "--no-tui", "--json", "-"];
            let result = loadgen(&[&run, protocol, &more].concat()).exits(0).json();
            assert_conserved(&result);
            let attempts = count(&result, "/attempts/total");
            assert!(attempts >= 200, "each op is rejected once: {attempts}");
            let received = server.stats(None).counts.received;
            let passed = counted.load(Ordering::Relaxed);
            assert_eq!((received, passed), (attempts, attempts), "{strategy} {protocol:?}");
        }
    }
}
