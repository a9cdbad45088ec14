//! HTTP/2 with prior knowledge on the port of HTTP/1.1: the same answers, and its own limits, faults and ends.

use std::error::Error as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mockserver::Embedded;
use mockserver::core::Config;
use vocabulary::{Distribution, TimeScale};

type Client = SendRequest<Full<Bytes>>;

fn config() -> Config {
    Config {
        max_busy: 1,
        network_delay: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        service_time: Distribution::ZERO,
        ..Config::default()
    }
}

fn start(change: impl FnOnce(&mut Config)) -> Embedded {
    let mut config = config();
    change(&mut config);
    Embedded::start(config, TimeScale::default()).unwrap()
}

/// Runs a client with a time limit, so that a hang fails the test.
fn run<T>(client: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(30), client).await.expect("in time") })
}

/// Returns a client and the task of its connection, which returns the connection's end.
async fn connect(server: &Embedded) -> (Client, tokio::task::JoinHandle<hyper::Result<()>>) {
    let stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let (client, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    (client, tokio::spawn(connection))
}

fn request(server: &Embedded, method: Method, path: &str) -> Request<Full<Bytes>> {
    let uri = format!("http://{}{path}", server.address());
    Request::builder().method(method).uri(uri).body(Full::default()).unwrap()
}

async fn get(client: &mut Client, server: &Embedded, path: &str) -> hyper::Result<Response<Bytes>> {
    client.ready().await?;
    let response = client.send_request(request(server, Method::GET, path)).await?;
    let (parts, body) = response.into_parts();
    Ok(Response::from_parts(parts, body.collect().await?.to_bytes()))
}

fn code(error: &hyper::Error) -> Option<h2::Reason> {
    error.source()?.downcast_ref::<h2::Error>()?.reason()
}

async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_000_000 {
        if is_so() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("not so in the end: {what}");
}

#[test]
fn work_and_the_admin_endpoints_answer_as_over_http_1() {
    let server = Embedded::start_with_http2_max_streams(config(), TimeScale::default(), 7).unwrap();
    run(async {
        let (mut client, _) = connect(&server).await;
        let answer = get(&mut client, &server, "/a?b").await.unwrap();
        assert_eq!((answer.status(), &answer.body()[..]), (StatusCode::OK, &b"served\n"[..]));
        assert_eq!(answer.headers()["content-length"], "7");
        let mut head = request(&server, Method::HEAD, "/");
        head.headers_mut().insert("x-tailback-run", "00000000000000aa".parse().unwrap());
        let head = client.send_request(head).await.unwrap();
        assert_eq!(
            (&head.headers()["x-tailback-verdict"], &head.headers()["content-length"]),
            (&"accepted".parse().unwrap(), &"7".parse().unwrap())
        );
        assert!(head.into_body().collect().await.unwrap().to_bytes().is_empty());
        let config = get(&mut client, &server, "/_mock/config").await.unwrap();
        let config: serde_json::Value = serde_json::from_slice(config.body()).unwrap();
        assert_eq!(config["http2_max_streams"], 7);
        assert_eq!(server.stats(None).counts.accepted, 2);
    });
}

#[test]
fn requests_share_a_connection_up_to_the_stream_limit() {
    let config = Config { max_busy: 100, service_time: Distribution::millis(3_600_000), ..config() };
    let server = Embedded::start_with_http2_max_streams(config, TimeScale::default(), 5).unwrap();
    run(async {
        let (mut client, _) = connect(&server).await;
        // The server's settings have arrived with the first answer.
        get(&mut client, &server, "/_mock/stats").await.unwrap();
        let mut held: Vec<_> = (0..8)
            .map(|_| {
                let mut client = client.clone();
                let request = request(&server, Method::GET, "/");
                tokio::spawn(async move { client.send_request(request).await })
            })
            .collect();
        eventually("all that there is room for are served", || server.stats(None).busy == 5).await;
        assert_eq!(server.stats(None).counts.received, 5);
        // A request that is cancelled frees its slot for the next.
        held.remove(0).abort();
        eventually("another has come", || server.stats(None).counts.received == 6).await;
        eventually("nobody else has gone", || server.stats(None).busy == 5).await;
        drop(client);
        for request in held {
            request.abort();
        }
        eventually("all are gone with their connection", || server.stats(None).busy == 0).await;
    });
}

#[test]
fn faults_strike_the_stream_that_they_are_meant_for() {
    for (fault, code_seen, in_head) in [
        ("reset:100%", h2::Reason::INTERNAL_ERROR, true),
        ("close:100%", h2::Reason::CANCEL, true),
        ("garbage:100%", h2::Reason::PROTOCOL_ERROR, true),
        ("truncate:100%", h2::Reason::INTERNAL_ERROR, false),
        ("truncate:100%:after", h2::Reason::INTERNAL_ERROR, false),
    ] {
        let server = start(|config| config.fault = fault.parse().unwrap());
        run(async {
            let (mut client, connection) = connect(&server).await;
            let answer = client.send_request(request(&server, Method::GET, "/")).await;
            let error = match answer {
                Ok(response) => {
                    assert!(!in_head, "{fault}: {response:?}");
                    let mut body = response.into_body();
                    let frame = body.frame().await.unwrap().unwrap();
                    assert_eq!(&frame.into_data().unwrap()[..], b"ser", "{fault}");
                    body.frame().await.unwrap().unwrap_err()
                }
                Err(error) => {
                    assert!(in_head, "{fault}: {error:?}");
                    error
                }
            };
            assert_eq!(code(&error), Some(code_seen), "{fault}: {error:?}");
            if fault == "close:100%" {
                // GOAWAY: the connection ends without an error, and accepts no further requests.
                connection.await.unwrap().unwrap();
                client.ready().await.unwrap_err();
            } else {
                get(&mut client, &server, "/_mock/stats").await.expect("others are answered");
            }
        });
    }
}

#[test]
fn a_truncated_step_ends_its_stream_with_an_error() {
    let server =
        start(|config| config.policy = "script:steps=truncate|truncate:after body:ab".parse().unwrap());
    run(async {
        let (mut client, _connection) = connect(&server).await;
        let error = client.send_request(request(&server, Method::GET, "/")).await.unwrap_err();
        assert_eq!(code(&error), Some(h2::Reason::INTERNAL_ERROR), "an answer without a body is reset");
        let response = client.send_request(request(&server, Method::GET, "/")).await.unwrap();
        let mut body = response.into_body();
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(&frame.into_data().unwrap()[..], b"a");
        let error = body.frame().await.unwrap().unwrap_err();
        assert_eq!(code(&error), Some(h2::Reason::INTERNAL_ERROR));
    });
}

#[test]
fn connect_is_refused_on_its_stream() {
    let server = start(|_| {});
    run(async {
        let (mut client, _connection) = connect(&server).await;
        let connect = Request::builder().method(Method::CONNECT).uri("example.org:443");
        let response = client.send_request(connect.body(Full::default()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 501);
        let text = response.into_body().collect().await.unwrap().to_bytes();
        assert!(text.starts_with(b"mockserver is not a proxy"), "{text:?}");
        get(&mut client, &server, "/").await.expect("the connection continues");
    });
    assert_eq!(server.stats(None).counts.received, 1);
}

#[test]
fn a_closed_connection_still_answers_requests_in_flight() {
    let server = start(|config| config.service_time = Distribution::millis(3_600_000));
    run(async {
        let (mut client, connection) = connect(&server).await;
        client.ready().await.unwrap();
        let first = tokio::spawn(client.send_request(request(&server, Method::GET, "/")));
        eventually("the first is under way", || server.stats(None).busy == 1).await;
        patch(&server, r#"{"fault": "close:100%"}"#).await;
        let closed = client.send_request(request(&server, Method::GET, "/")).await.unwrap_err();
        assert_eq!(code(&closed), Some(h2::Reason::CANCEL));
        // A new policy rejects waiting requests.
        patch(&server, r#"{"fault": null, "policy": "gcra"}"#).await;
        assert_eq!(first.await.unwrap().unwrap().status(), 503);
        connection.await.unwrap().unwrap();
    });
}

async fn patch(server: &Embedded, change: &'static str) {
    let (mut client, _) = connect(server).await;
    let change = request(server, Method::PATCH, "/_mock/config").map(|_| Full::from(change));
    assert_eq!(client.send_request(change).await.unwrap().status(), 200);
}

#[test]
fn a_stopping_server_sends_goaway() {
    let server = start(|_| {});
    run(async {
        let (mut client, connection) = connect(&server).await;
        get(&mut client, &server, "/").await.unwrap();
        drop(server);
        // An abrupt end would be an error.
        connection.await.unwrap().unwrap();
    });
}

#[test]
fn heads_are_bounded() {
    let server = start(|_| {});
    run(async {
        let (mut client, _) = connect(&server).await;
        let mut many = request(&server, Method::GET, "/");
        for number in 0..101 {
            many.headers_mut().append("x", number.into());
        }
        assert_eq!(client.send_request(many).await.unwrap().status(), 431);
        let mut long = request(&server, Method::GET, "/");
        long.headers_mut().insert("x", "y".repeat(65 << 10).parse().unwrap());
        assert!(client.send_request(long).await.map_or(true, |answer| answer.status() == 431));
        assert_eq!(server.stats(None).counts.received, 0);
    });
}

#[test]
fn bodies_of_any_length_are_read_whether_the_request_is_served_or_rejected() {
    let server = start(|config| config.reject_first = 1);
    run(async {
        let (mut client, _) = connect(&server).await;
        for status in [503, 200, 503] {
            let long = request(&server, Method::POST, "/").map(|_| Full::new(vec![b'x'; 9 << 20].into()));
            assert_eq!(client.send_request(long).await.unwrap().status(), status);
        }
        assert_eq!(server.stats(None).counts.received, 3);
    });
}

#[test]
fn what_begins_like_the_preface_and_is_none_is_http_1() {
    let server = start(|_| {});
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    for part in ["P", "O", "ST / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"] {
        stream.write_all(part.as_bytes()).unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}
