//! The library `tailback-http` against the real server, as a user's program.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use reqwest::Client;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use tailback_http::{Builder, Throttle, ThrottleMiddleware, Waited};
use tokio::task::LocalSet;
use tokio::time::Instant;

use crate::support::{MockServer, loadgen};

fn builder(strategy: &str) -> Builder {
    Throttle::builder(strategy.parse().unwrap()).unlimited()
}

fn client() -> Client {
    // Fails if another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::new()
}

fn run<R>(test: impl Future<Output = R>) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, test)
}

/// Requests that one program sent through a throttle.
#[derive(Default)]
struct Sent {
    attempts: Cell<u64>,
    /// Requests that were sent after an answer with `Retry-After`, and before the latest instant so advised.
    early: Cell<u64>,
    held_until: Cell<Option<Instant>>,
    statuses: RefCell<Vec<u16>>,
}

impl Sent {
    fn on_sent(&self) {
        self.attempts.set(self.attempts.get() + 1);
        let is_early = self.held_until.get().is_some_and(|until| Instant::now() < until);
        self.early.set(self.early.get() + u64::from(is_early));
    }

    fn on_response(&self, response: &reqwest::Response) {
        if let Some(seconds) = response.headers().get("retry-after") {
            let wait = Duration::from_secs(seconds.to_str().unwrap().parse().unwrap());
            self.held_until.set(self.held_until.get().max(Some(Instant::now() + wait)));
        }
    }
}

/// Sends `count` requests at once through one throttle.
async fn send_all(throttle: &Throttle, url: &str, count: u32) -> Rc<Sent> {
    let (client, sent) = (client(), Rc::new(Sent::default()));
    let calls = (0..count).map(|_| {
        let (throttle, client, sent, url) = (throttle.clone(), client.clone(), sent.clone(), url.to_owned());
        tokio::task::spawn_local(async move {
            let response = throttle.run(|_| {
                sent.on_sent();
                let (request, sent) = (client.get(&url).send(), sent.clone());
                async move {
                    let response = request.await;
                    response.inspect(|response| sent.on_response(response))
                }
            });
            let status = response.await.unwrap().status().as_u16();
            sent.statuses.borrow_mut().push(status);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    sent
}

/// Returns the number of requests that the server has received.
fn received(server: &MockServer) -> u64 {
    let stats = server.stats();
    ["accepted", "rejected", "failed"].map(|verdict| stats[verdict].as_u64().unwrap_or(0)).iter().sum()
}

#[test]
fn twenty_calls_at_once_send_nothing_while_the_server_asks_them_to_wait() {
    for strategy in ["hold+fixed-window:window=8", "tailback"] {
        let server = MockServer::start(&[
            "--policy",
            "fixed-window:limit=7,window=1s",
            "--advice",
            "seconds",
            "--service-time",
            "5ms",
        ]);
        let throttle = builder(strategy).build().unwrap();
        let sent = run(send_all(&throttle, &server.url(), 20));
        assert_eq!((sent.early.get(), throttle.calls(), throttle.in_flight()), (0, 0, 0), "{strategy}");
        assert_eq!(*sent.statuses.borrow(), [200; 20], "{strategy}");
        assert_eq!(received(&server), sent.attempts.get(), "{strategy}: {}", server.stats());
        assert!(sent.attempts.get() > 20, "{strategy}: the server rejected nothing");
    }
}

#[test]
fn the_middleware_retries_by_method_and_reports_what_a_call_cost() {
    let server = MockServer::start(&["--max-busy", "2", "--service-time", "20ms", "--reject-time", "1ms"]);
    let gate = ThrottleMiddleware::with_settings(builder("aimd:initial=8")).unwrap();
    let client: ClientWithMiddleware = ClientBuilder::new(client()).with(gate).build();
    let (attempts, waited) = run(async {
        let calls = (0..30).map(|_| {
            let (client, url) = (client.clone(), server.url());
            tokio::task::spawn_local(async move { client.get(url).send().await.unwrap() })
        });
        let (mut attempts, mut waited) = (0, Duration::ZERO);
        for call in calls.collect::<Vec<_>>() {
            let response = call.await.unwrap();
            assert_eq!(response.status(), 200);
            let cost: Waited = *response.extensions().get().unwrap();
            attempts += u64::from(cost.attempts);
            waited = waited.max(cost.time);
        }
        (attempts, waited)
    });
    assert_eq!(received(&server), attempts, "{}", server.stats());
    assert!(attempts > 30 && waited >= Duration::from_millis(150), "{attempts} attempts, {waited:?}");
}

#[test]
fn failures_of_a_post_are_retried_only_with_a_key_or_if_allowed() {
    let server = MockServer::start(&["--fault", "500:100%", "--service-time", "1ms"]);
    let gate = |strategy: &str| ThrottleMiddleware::with_settings(builder(strategy)).unwrap();
    let of = |gate: ThrottleMiddleware| ClientBuilder::new(client()).with(gate).build();
    let cautious = of(gate("constant:delay=1ms,max-attempts=3"));
    let bold = of(gate("constant:delay=1ms,max-attempts=3").retry_unsafe());
    run(async {
        let attempts = async |request: reqwest_middleware::RequestBuilder| {
            let response = request.send().await.unwrap();
            assert!(response.status().is_server_error(), "{}", response.status());
            response.extensions().get::<Waited>().unwrap().attempts
        };
        let url = server.url();
        assert_eq!(attempts(cautious.get(&url)).await, 3);
        assert_eq!(attempts(cautious.post(&url).body("once")).await, 1);
        assert_eq!(attempts(cautious.post(&url).header("Idempotency-Key", "7").body("again")).await, 3);
        assert_eq!(attempts(bold.post(&url).body("again")).await, 3);
        assert_eq!(attempts(cautious.put(&url).body(vec![7; 1 << 20])).await, 3);
    });
}

const JUDGED: &str = "TAILBACK_JUDGED_URL";

/// Not a test but the client of the next one, which sends one request through a throttle.
#[test]
#[ignore = "a client that another test starts"]
fn judged_client() {
    let url = std::env::var(JUDGED).unwrap();
    let strategy = "hold:max=10m+full-jitter:max-attempts=6,advice-limit=10m,advice-beyond=give-up";
    let response = run(async {
        let throttle = Throttle::new(strategy.parse().unwrap()).unwrap();
        throttle.run_idempotent(|_| client().get(&url).send()).await
    });
    assert!(response.unwrap().status().is_success());
}

#[test]
fn judge_finds_nothing_wrong_with_a_call_through_a_throttle() {
    let this = std::env::current_exe().unwrap();
    let script = format!("{JUDGED}=$1 exec '{}' --exact production::judged_client --ignored", this.display());
    let left = loadgen(&["judge", "--", "sh", "-c", &script, "sh", "{url}"]).exits(0);
    assert!(left.stdout.contains("0 failed, 0 warnings"), "{}", left.stdout);
}
