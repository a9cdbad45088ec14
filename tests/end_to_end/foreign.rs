//! Runs against servers that are no mockservers: what is sent, what is retried, TLS.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::foreign_server::{Connection, ForeignServer, hang_up, reply};
use crate::support::{assert_conserved, count, loadgen, measure};

#[test]
fn what_was_typed_is_sent_and_nothing_of_our_own() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", "done"));
    let url = format!("http://{}/items?page=2", server.address);
    let request =
        ["-m", "PUT", "-H", "Authorization: Bearer x", "-H", "X-Twice: 1", "-H", "X-Twice: 2", "-d", "a=b"];
    let result = measure(&[&["--target", &url, "--ops", "5"][..], &request].concat());
    assert_eq!((count(&result, "/ops/succeeded"), count(&result, "/attempts/total")), (5, 5));
    assert!(result["server"].is_null() && result["optimal_makespan_s"].is_null());
    let work = server.work();
    assert_eq!(work.len(), 5);
    for request in work {
        assert_eq!(request.line, "PUT /items?page=2 HTTP/1.1");
        assert_eq!(request.header("host"), Some(server.address.to_string().as_str()));
        assert_eq!(request.header("authorization"), Some("Bearer x"));
        assert_eq!(request.headers.iter().filter(|(name, _)| name == "x-twice").count(), 2);
        assert_eq!(request.body, "a=b");
        let ours = request.headers.iter().find(|(name, _)| name.contains("tailback"));
        assert_eq!(ours, None, "for mockservers only");
    }
}

#[test]
fn a_host_name_is_sent_as_typed() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let port = server.address.port();
    measure(&["--target", &format!("localhost:{port}/x"), "--ops", "1"]);
    measure(&["--target", &server.url(), "--ops", "1", "-H", "Host: example.com"]);
    let hosts: Vec<_> =
        server.work().iter().map(|request| request.header("host").unwrap().to_owned()).collect();
    assert_eq!(hosts, [format!("localhost:{port}"), "example.com".to_owned()]);
}

#[test]
fn a_redirect_is_an_answer_and_is_not_followed() {
    let server = ForeignServer::start(|_, connection| {
        connection.write_all(b"HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n")?;
        connection.flush()
    });
    measure(&["--target", &server.url(), "--ops", "3"]);
    assert_eq!(server.work().len(), 3);
}

#[test]
fn failures_of_post_are_final_unless_it_is_said_to_be_idempotent() {
    for (more, attempts, succeeded) in [(&[][..], 1, 0), (&["--idempotent"], 2, 1)] {
        let server = ForeignServer::start(|number, connection| match number {
            0 => reply(connection, "500 Internal Server Error", ""),
            _ => reply(connection, "200 OK", ""),
        });
        let url = server.url();
        let result =
            measure(&[&["--target", &url, "--ops", "1", "-m", "POST", "-d", "x"][..], more].concat());
        assert_eq!(count(&result, "/attempts/total"), attempts);
        assert_eq!(count(&result, "/ops/succeeded"), succeeded);
        assert_eq!(server.work().len() as u64, attempts);
        assert_conserved(&result);
    }
}

#[test]
fn rejections_of_post_are_retried() {
    let server = ForeignServer::start(|number, connection| match number {
        0 => reply(connection, "503 Service Unavailable", ""),
        1 => reply(connection, "429 Too Many Requests", ""),
        _ => reply(connection, "201 Created", ""),
    });
    let result = measure(&["--target", &server.url(), "--ops", "1", "-m", "POST", "-d", "x"]);
    assert_eq!((count(&result, "/attempts/rejected"), count(&result, "/ops/succeeded")), (2, 1));
    assert_eq!(server.work().len(), 3);
}

#[test]
fn a_post_on_a_connection_that_was_closed_is_not_sent_again_behind_our_back() {
    let server = ForeignServer::start(|number, connection| match number {
        0 => reply(connection, "200 OK", ""),
        _ => hang_up(),
    });
    let args = ["--ops", "3", "--in-flight", "1", "-m", "POST"];
    let result = measure(&[&["--target", server.url().as_str()][..], &args].concat());
    assert_eq!((count(&result, "/attempts/total"), count(&result, "/attempts/failed")), (3, 2));
    assert_eq!(server.work().len(), 3);
}

#[test]
fn a_certificate_is_checked_against_what_was_said_to_be_trusted() {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let pem = folder.path().join("ca.pem");
    std::fs::write(&pem, certified.cert.pem()).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let wrap = move |stream: TcpStream| -> io::Result<Box<dyn Connection>> {
        let connection = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    };
    let server = ForeignServer::start_with(|_, connection| reply(connection, "200 OK", "done"), wrap);
    let url = format!("https://localhost:{}/", server.address.port());
    let base = ["--target", &url, "--ops", "3"];

    let left = loadgen(&base).exits(69).says(&["certificate", &url]);
    assert_eq!(left.stdout, "");
    assert_eq!(server.work().len(), 0);
    let trusted = measure(&[&base[..], &["--cacert", pem.to_str().unwrap()]].concat());
    assert_eq!(count(&trusted, "/ops/succeeded"), 3);
    let careless = measure(&[&base[..], &["--insecure"]].concat());
    assert_eq!(count(&careless, "/ops/succeeded"), 3);

    std::fs::write(&pem, "no certificate").unwrap();
    loadgen(&[&base[..], &["--cacert", pem.to_str().unwrap()]].concat()).exits(2).says(&["--cacert"]);
}
