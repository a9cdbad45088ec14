//! Requests of a run against a server that is not a mockserver: only those that the user asked for (`--mock`).

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::foreign::{over_tls, own_authority};
use super::foreign_server::{ForeignServer, reply};
use crate::support::{MockServer, count, loadgen, measure, skipped};

const SMALL: [&str; 4] = ["--ops", "7", "--in-flight", "3"];

/// Server that records the method and path of every request, on all addresses of this machine.
struct Recorder {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn start(http2: bool) -> Self {
        let listener = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let recorded = requests.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(record(stream, http2, recorded.clone()));
                }
            });
        });
        Self { address, requests }
    }

    /// Returns all requests so far, and forgets them.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

async fn record(stream: tokio::net::TcpStream, http2: bool, recorded: Arc<Mutex<Vec<String>>>) {
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        recorded.lock().unwrap().push(format!("{} {}", request.method(), request.uri().path()));
        async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"done")))) }
    });
    let stream = TokioIo::new(stream);
    // The client may close the connection at any time.
    if http2 {
        let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        drop(builder.serve_connection(stream, service).await);
    } else {
        let builder = hyper::server::conn::http1::Builder::new();
        drop(builder.serve_connection(stream, service).await);
    }
}

#[test]
fn with_mock_no_a_server_receives_exactly_the_ops() {
    let ops = vec!["GET /x"; 7];
    for transport in [&["--transport", "hyper"][..], &["--transport", "reqwest"], &["--http2"]] {
        let server = Recorder::start(transport[0] == "--http2");
        let url = format!("http://127.0.0.1:{}/x", server.address.port());
        for load in [&["--in-flight", "3"][..], &["--rate", "500/s", "--threads", "2"]] {
            let result =
                measure(&[&["--target", &url, "--mock", "no", "--ops", "7"][..], load, transport].concat());
            assert_eq!(count(&result, "/ops/succeeded"), 7);
            assert_eq!(server.take(), ops, "{transport:?} {load:?}");
        }
        let target = [&["--target", &url, "--mock", "no", "--repeats", "1"][..], &SMALL, transport].concat();
        measure(&[&["compare", "--strategies", "none,full-jitter"][..], &target].concat());
        assert_eq!(server.take(), [&ops[..], &ops].concat(), "compare {transport:?}");
        let sweep = ["sweep", "--vary", "ops=3,4", "--target", &url, "--mock", "no", "--in-flight", "3"];
        measure(&[&sweep[..], &["--repeats", "1"], transport].concat());
        assert_eq!(server.take(), ops, "sweep {transport:?}");
        let config = [&target[..], &["--print-config"]].concat();
        loadgen(&config).exits(0);
        assert_eq!(server.take().len(), 0, "--print-config sends nothing");
    }
}

#[test]
fn only_a_likely_mockserver_is_asked() {
    let Some(own) = super::metrics::own_address() else {
        skipped("this machine has no address but loopback");
        return;
    };
    let server = Recorder::start(false);
    let port = server.address.port();
    let (near, far) = (format!("http://127.0.0.1:{port}/"), format!("http://{own}:{port}/"));
    let unasked = "not asked whether it is a mockserver (--mock yes)";
    for (url, more, questions) in [
        (&near, &[][..], 1),
        (&near, &["--mock", "no"], 0),
        (&far, &[], 0),
        (&far, &["--mock", "auto"], 0),
        (&far, &["--admin-token", "s3cret"], 1),
        (&far, &["--mock", "no", "--admin-token", "s3cret"], 0),
    ] {
        let left = loadgen(&[&["--target", url, "--no-tui"][..], &SMALL, more].concat()).exits(0);
        let first = left.stderr.lines().next().unwrap();
        assert_eq!(first.contains(unasked), questions == 0, "{more:?}: {first}");
        let asked = server.take().into_iter().filter(|request| request != "GET /").count();
        assert_eq!(asked, questions, "{url} {more:?}");
    }
    for command in [&["compare", "-s", "none,full-jitter"][..], &["sweep", "--vary", "ops=2"]] {
        let left = loadgen(
            &[command, &["--target", &far, "--in-flight", "1", "--repeats", "1", "--no-tui"]].concat(),
        );
        left.exits(0).says(&[unasked]);
    }
}

#[test]
fn with_mock_yes_any_other_server_is_refused() {
    let server = Recorder::start(false);
    let url = format!("http://127.0.0.1:{}/", server.address.port());
    let left = loadgen(&[&["--target", &url, "--mock", "yes"][..], &SMALL].concat()).exits(2);
    left.says(&[&url, "is not a mockserver", "`--mock yes`"]);
    loadgen(&["--mock", "no", "--ops", "1"]).exits(2).says(&["`--mock`", "`--target`"]);
    loadgen(&["--mock", "no", "--simulate"]).exits(2).says(&["--mock", "--simulate"]);
}

#[test]
fn a_mockserver_elsewhere_is_recognised_on_request() {
    let Some(own) = super::metrics::own_address() else {
        skipped("this machine has no address but loopback");
        return;
    };
    let server = MockServer::listen("0.0.0.0:0", &["--admin-remote", "s3cret", "--time-scale", "0.1"]);
    let url = format!("http://{own}:{}/", server.address.port());
    let args = [&["--target", &url, "--time-scale", "0.1", "--quiet", "--json", "-"][..], &SMALL].concat();
    let script = "TAILBACK_ADMIN_TOKEN=s3cret exec \"$0\" \"$@\"";
    let left = crate::support::shell(script, &args).exits(0).json();
    assert!(left["server"].is_null() && left["strategy"] == "none", "{left}");
    let token = [&args[..], &["--admin-token", "s3cret"]].concat();
    let asked = loadgen(&token).exits(0).json();
    assert_eq!((count(&asked, "/server/received"), &asked["strategy"]), (7, &"aimd".into()));
}

#[test]
fn a_mix_up_of_http_and_https_is_named_without_a_request() {
    let (own, key) = own_authority(2999);
    let tls = over_tls(&own, &key);
    let url = format!("http://localhost:{}/", tls.address.port());
    let left = loadgen(&[&["--target", &url, "--mock", "no"][..], &SMALL].concat());
    let all = format!("{}{}", left.stdout, left.stderr);
    assert!(all.contains("speaks TLS") && all.contains("--explain"), "{all}");
    let left = loadgen(&[&["--target", &url, "--mock", "no", "--explain"][..], &SMALL].concat());
    let words = left.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("speaks TLS; attempts failed"), "{words}");

    let plain = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let url = format!("https://localhost:{}/", plain.address.port());
    let left = loadgen(&[&["--target", &url, "--mock", "no"][..], &SMALL].concat()).exits(69);
    left.says(&[&url, "plain HTTP", "`http://`"]);
    assert_eq!((plain.work().len(), plain.questions().len()), (0, 0));

    let teapot = ForeignServer::start(|_, connection| reply(connection, "418 I'm a teapot", ""));
    let left = loadgen(&[&["--target", &teapot.url(), "--mock", "no"][..], &SMALL].concat());
    assert!(!left.stdout.contains("TLS"), "another failure is no sign of TLS: {}", left.stdout);
}

/// Servers such as nginx and those in Go answer in plain HTTP that they expect TLS.
#[test]
fn a_400_for_plain_http_is_a_sign_of_tls() {
    let server = ForeignServer::start(|_, connection| reply(connection, "400 Bad Request", ""));
    let left = loadgen(&[&["--target", &server.url(), "--mock", "no"][..], &SMALL].concat());
    assert!(left.stdout.contains("! write `https://` if `http://"), "{}", left.stdout);
}
