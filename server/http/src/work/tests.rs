//! CORS over a real socket: every answer to work allows web pages of any origin, and no admin endpoint does.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mockserver_core::{AnswersConfig, Config};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use vocabulary::{Distribution, TimeScale};

use crate::admin::access::Access;
use crate::app::App;
use crate::connection::Bounds;
use crate::connection::accept::{Limits, serve};
use crate::shared::Shared;

const ALLOWED: &str = "access-control-allow-origin: *\r\n";
const EXPOSED: &str = "access-control-expose-headers: *\r\n";

const PREFLIGHT: &str = "origin: http://page.test\r\naccess-control-request-method: PUT\r\n\
    access-control-request-headers: authorization,x-a\r\n";

/// Starts a server with `--cors` in the current runtime.
async fn start(config: Config) -> (SocketAddr, Arc<Shared>, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut shared = Shared::new(config, TimeScale::default(), 1);
    shared.cors = true;
    let shared = Arc::new(shared);
    let limits = Limits { connections: 9, bounds: Bounds::default(), grace: Duration::ZERO };
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(serve(listener, App::new(&shared, Access::default()), limits, stopped));
    (address, shared, stop)
}

/// Returns the answer in lower case.
async fn answer(address: SocketAddr, request: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // An injected fault may reset the connection after the answer.
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).to_lowercase()
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

fn quick() -> Config {
    Config {
        network_delay: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        service_time: Distribution::ZERO,
        ..Config::default()
    }
}

fn with_policy(policy: &str) -> Config {
    Config { policy: policy.parse().unwrap(), ..quick() }
}

#[test]
fn every_answer_to_work_allows_any_origin() {
    let templates = AnswersConfig::default().advising("seconds+ietf");
    let script = "script:steps=418 access-control-allow-origin:https%3A//own.test|200";
    for (config, first, second) in [
        (with_policy("fixed-window:limit=1,window=1h"), "200", "503"),
        (Config { answers: templates, ..with_policy("fixed-window:limit=1,window=1h") }, "200", "503"),
        (with_policy(script), "418", "200"),
        (Config { fault: "500:100%".parse().unwrap(), ..quick() }, "500", "500"),
        (Config { fault: "truncate:100%".parse().unwrap(), ..quick() }, "200", "200"),
        (Config { fault: "slow-body(1ms):100%".parse().unwrap(), ..quick() }, "200", "200"),
    ] {
        run(async {
            let (address, _shared, _stop) = start(config).await;
            for status in [first, second] {
                let text = answer(address, "GET /", "origin: http://page.test\r\n").await;
                assert!(text.starts_with(&format!("http/1.1 {status} ")), "{text}");
                assert!(text.contains(ALLOWED) && text.contains(EXPOSED), "{text}");
                assert_eq!(text.matches("access-control-allow-origin").count(), 1, "{text}");
            }
        });
    }
}

#[test]
fn a_preflight_is_answered_without_a_policy() {
    run(async {
        let (address, shared, _stop) = start(with_policy("fixed-window:limit=1,window=1h")).await;
        for _ in 0..2 {
            let text = answer(address, "OPTIONS /a", PREFLIGHT).await;
            assert!(text.starts_with("http/1.1 204 ") && text.contains(ALLOWED), "{text}");
            assert!(text.contains("access-control-allow-methods: put\r\n"), "{text}");
            assert!(text.contains("access-control-allow-headers: authorization,x-a\r\n"), "{text}");
        }
        let stats = shared.stats(None);
        assert_eq!((stats.preflights, stats.counts.received), (Some(2), 0));
        // Without `Access-Control-Request-Method` or without `Origin`, OPTIONS is work.
        for (headers, status) in
            [("origin: http://page.test\r\n", "200"), ("access-control-request-method: PUT\r\n", "503")]
        {
            let text = answer(address, "OPTIONS /a", headers).await;
            assert!(text.starts_with(&format!("http/1.1 {status} ")), "{text}");
        }
        assert_eq!(shared.stats(None).counts.received, 2);
        shared.reset();
        assert_eq!(shared.stats(None).preflights, Some(0));
    });
}

#[test]
fn admin_endpoints_stay_closed_to_other_origins() {
    run(async {
        let (address, shared, _stop) = start(quick()).await;
        for path in ["/_mock/config", "/_mock/typo", "/_mock", "/metrics"] {
            for (request, headers) in
                [("GET", ""), ("GET", "origin: http://page.test\r\n"), ("OPTIONS", PREFLIGHT)]
            {
                let text = answer(address, &format!("{request} {path}"), headers).await;
                assert!(!text.contains("access-control") && !text.starts_with("http/1.1 204 "), "{text}");
            }
        }
        assert_eq!(shared.stats(None).preflights, Some(0));
    });
}

#[test]
fn without_the_flag_no_answer_has_cors_headers() {
    let embedded = crate::Embedded::start(quick(), TimeScale::default()).unwrap();
    run(async {
        let text = answer(embedded.address(), "OPTIONS /", PREFLIGHT).await;
        assert!(text.starts_with("http/1.1 200 ") && !text.contains("access-control"), "{text}");
    });
    assert_eq!(embedded.stats(None).preflights, None);
    assert_eq!(embedded.stats(None).counts.received, 1);
}
