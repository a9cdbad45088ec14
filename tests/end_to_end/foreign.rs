//! Runs against servers other than mockservers: requests, retries, TLS.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::foreign_server::{Connection, ForeignServer, hang_up, reply};
use crate::support::{assert_conserved, count, loadgen, measure};

#[test]
fn the_given_request_is_sent_without_headers_of_our_own() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", "done"));
    let url = format!("http://{}/items?page=2", server.address);
    let request =
        ["-m", "PUT", "-H", "Authorization: Bearer x", "-H", "X-Twice: 1", "-H", "X-Twice: 2", "-d", "a=b"];
    let result = measure(&[&["--target", &url, "--ops", "5", "--rate", "1000/s"][..], &request].concat());
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
fn each_op_of_a_mix_is_its_own_request_and_carries_its_own_key() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", "done"));
    let url = format!("http://{}/v1?page=2", server.address);
    let mix = ["--mix", "GET /repos cost=5; POST /issues 0.5", "--api-keys", "3", "-d", "a=b"];
    let result = measure(&[&["--target", &url, "--ops", "40", "--rate", "1000/s"][..], &mix].concat());
    assert_eq!(count(&result, "/ops/succeeded"), 40);
    assert_eq!(result["config"]["workload"]["mix"], "GET /repos cost=5; POST /issues 0.5");
    assert_eq!(result["config"]["workload"]["api_keys"], 3);
    let work = server.work();
    let (gets, posts): (Vec<_>, Vec<_>) = work.iter().partition(|asked| asked.line.starts_with("GET"));
    assert!(gets.len() > posts.len() && !posts.is_empty(), "{} and {}", gets.len(), posts.len());
    assert!(gets.iter().all(|asked| asked.line == "GET /v1/repos?page=2 HTTP/1.1" && asked.body.is_empty()));
    assert!(posts.iter().all(|asked| asked.line == "POST /v1/issues?page=2 HTTP/1.1" && asked.body == "a=b"));
    let mut keys: Vec<&str> = work.iter().filter_map(|asked| asked.header("authorization")).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys, ["Bearer key-0000000", "Bearer key-0000001", "Bearer key-0000002"]);
    let ours = work.iter().flat_map(|asked| &asked.headers).find(|(name, _)| name.contains("tailback"));
    assert_eq!(ours, None, "what a request costs is for mockservers only");
}

#[test]
fn a_client_with_rules_sends_no_mix_twice_that_may_count_twice() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", "done"));
    let url = server.url();
    let base = ["--target", &url, "--ops", "2", "--rate", "100/s", "--strategy", "preset:openai", "--mix"];
    let left = loadgen(&[&base[..], &["GET /; PATCH /a"]].concat()).exits(2);
    left.says(&["a PATCH request sent twice", "--idempotent"]);
    measure(&[&base[..], &["GET /; PUT /a"]].concat());
    measure(&[&base[..], &["GET /; PATCH /a", "--idempotent"]].concat());
}

#[test]
fn secrets_of_a_request_are_sent_and_appear_nowhere_else() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let url = format!("http://{}/items?token=sesame&page=2", server.address);
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, page) = (place("a.json"), place("a.html"));
    let request = ["--ops", "2", "--rate", "100/s", "-H", "authorization: sesame", "-d", "pass=sesame"];
    let outputs = ["--json", &json, "--html", &page, "--no-tui"];
    let left = loadgen(&[&["--target", &url][..], &request, &outputs].concat()).exits(0);
    assert!(
        server.work().iter().all(|asked| asked.line.contains("token=sesame") && asked.body == "pass=sesame")
    );
    let told = [
        std::fs::read_to_string(json).unwrap(),
        std::fs::read_to_string(page).unwrap(),
        left.stdout,
        left.stderr,
    ];
    for told in told {
        assert!(!told.contains("sesame"), "{told}");
    }
    // The error for an unreachable target does not show secrets either.
    let left = loadgen(&["--target", "http://127.0.0.1:1/?token=sesame", "--rate", "1/s"]).exits(69);
    assert!(left.stderr.contains("token=…") && !left.stderr.contains("sesame"), "{}", left.stderr);
    loadgen(&["--target", "http://me:sesame@127.0.0.1:1/"]).exits(2).says(&["user name or password"]);
}

#[test]
fn a_foreign_server_is_loaded_only_with_an_explicit_load() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let url = server.url();
    let base = ["--target", &url, "--ops", "2"];
    for more in [&[][..], &["--print-config"], &["--duration", "1s"]] {
        let left = loadgen(&[&base[..], more].concat()).exits(2);
        left.says(&[&url, "not a mockserver", "--rate", "--in-flight"]);
    }
    assert_eq!(server.work().len(), 0);
    for said in [["--rate", "100/s"], ["--in-flight", "1"], ["--arrivals", "burst"]] {
        measure(&[&base[..], &said].concat());
    }
    assert_eq!(server.work().len(), 6);
}

#[test]
fn every_request_names_the_tool_unless_the_user_names_another() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let url = server.url();
    let base = ["--target", &url, "--ops", "1", "--rate", "10/s"];
    measure(&base);
    measure(&[&base[..], &["-H", "User-Agent: crawler/2"]].concat());
    let agents: Vec<_> =
        server.work().iter().map(|request| request.header("user-agent").unwrap().to_owned()).collect();
    assert_eq!(agents, [concat!("tailback-loadgen/", env!("CARGO_PKG_VERSION")), "crawler/2"]);
}

#[test]
fn a_host_name_is_sent_as_typed() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let port = server.address.port();
    measure(&["--target", &format!("localhost:{port}/x"), "--ops", "1", "--rate", "10/s"]);
    measure(&["--target", &server.url(), "--ops", "1", "--rate", "10/s", "-H", "Host: example.com"]);
    let hosts: Vec<_> =
        server.work().iter().map(|request| request.header("host").unwrap().to_owned()).collect();
    assert_eq!(hosts, [format!("localhost:{port}"), "example.com".to_owned()]);
}

#[test]
fn a_redirect_is_not_followed_and_fails_for_good() {
    let server = ForeignServer::start(|_, connection| {
        connection.write_all(b"HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n")?;
        connection.flush()
    });
    let args = ["--target", &server.url(), "--ops", "3", "--rate", "10/s"];
    loadgen(&args).exits(1).says(&["no op succeeded", "302 × 3"]);
    assert_eq!(server.work().len(), 3);
}

#[test]
fn failures_of_post_are_final_unless_declared_idempotent() {
    for (more, attempts, succeeded) in [(&[][..], 1, 0), (&["--idempotent"], 2, 1)] {
        let server = ForeignServer::start(|number, connection| match number {
            0 => reply(connection, "500 Internal Server Error", ""),
            _ => reply(connection, "200 OK", ""),
        });
        let url = server.url();
        let base =
            ["--target", &url, "-s", "aimd", "--ops", "1", "--rate", "10/s", "-m", "POST", "--json", "-"];
        let left = loadgen(&[&base[..], more].concat());
        let result = left.exits(i32::from(succeeded == 0)).json();
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
    let url = server.url();
    let args = ["--target", &url, "-s", "aimd", "--ops", "1", "--rate", "10/s", "-m", "POST", "-d", "x"];
    let result = measure(&args);
    assert_eq!((count(&result, "/attempts/rejected"), count(&result, "/ops/succeeded")), (2, 1));
    assert_eq!(server.work().len(), 3);
}

#[test]
fn a_post_on_a_closed_connection_is_not_resent_implicitly() {
    let server = ForeignServer::start(|number, connection| match number {
        0 => reply(connection, "200 OK", ""),
        _ => hang_up(),
    });
    let args = ["--ops", "3", "--in-flight", "1", "-m", "POST", "--json", "-"];
    let left = loadgen(&[&["--target", server.url().as_str()][..], &args].concat());
    let result = left.exits(1).says(&["closed without an answer × 2"]).json();
    assert_eq!((count(&result, "/attempts/total"), count(&result, "/attempts/failed")), (3, 2));
    assert_eq!(server.work().len(), 3);
}

pub(crate) fn over_tls(certificate: &rcgen::Certificate, key: &rcgen::KeyPair) -> ForeignServer {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    serving_tls(config)
}

/// Starts a server that answers every request over TLS.
pub(crate) fn serving_tls(config: ServerConfig) -> ForeignServer {
    let config = Arc::new(config);
    let wrap = move |stream: TcpStream| -> io::Result<Box<dyn Connection>> {
        let connection = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    };
    ForeignServer::start_with(|_, connection| reply(connection, "200 OK", "done"), wrap)
}

/// Creates a self-signed certificate for localhost that is marked as an authority, as `openssl req -x509` does.
pub(crate) fn own_authority(until_year: i32) -> (rcgen::Certificate, rcgen::KeyPair) {
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.not_before = rcgen::date_time_ymd(2000, 1, 1);
    params.not_after = rcgen::date_time_ymd(until_year, 1, 1);
    let key = rcgen::KeyPair::generate().unwrap();
    (params.self_signed(&key).unwrap(), key)
}

/// It is trusted if name and dates fit.
#[test]
fn a_self_signed_authority_may_be_its_own_server() {
    let folder = tempfile::tempdir().unwrap();
    let pem = folder.path().join("own.pem");
    let trusting = |url: &str, certificate: &rcgen::Certificate| {
        std::fs::write(&pem, certificate.pem()).unwrap();
        let base = ["--target", url, "--ops", "3", "--rate", "100/s", "--cacert", pem.to_str().unwrap()];
        loadgen(&base)
    };
    let (own, key) = own_authority(2999);
    let server = over_tls(&own, &key);
    let port = server.address.port();
    trusting(&format!("https://localhost:{port}/"), &own).exits(0);
    assert_eq!(server.work().len(), 3);
    // Without `--cacert`, the message says what to do, in words instead of type names.
    let url = format!("https://localhost:{port}/");
    let left = loadgen(&["--target", &url, "--ops", "3", "--rate", "100/s"]).exits(69);
    let left = left.says(&[&url, "the server's certificate is a certificate authority", "`--cacert FILE`"]);
    assert!(!left.stderr.contains("CaUsed") && !left.stderr.contains("Other("), "{}", left.stderr);
    // Another name, another certificate for the same name, and an expired one.
    trusting(&format!("https://127.0.0.1:{port}/"), &own).exits(69).says(&["certificate"]);
    let (other, _) = own_authority(2999);
    trusting(&format!("https://localhost:{port}/"), &other).exits(69).says(&["certificate"]);
    let (old, key) = own_authority(2001);
    let expired = over_tls(&old, &key);
    let left = trusting(&format!("https://localhost:{}/", expired.address.port()), &old).exits(69);
    left.says(&["certificate", "expired"]);
    assert_eq!((server.work().len(), expired.work().len()), (3, 0));
}

#[test]
fn a_mix_up_of_http_and_https_is_named() {
    let (own, key) = own_authority(2999);
    let tls = over_tls(&own, &key);
    let plain = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let more = ["--ops", "3", "--rate", "100/s"];
    let url = format!("http://localhost:{}/", tls.address.port());
    let left = loadgen(&[&["--target", &url][..], &more].concat()).exits(69);
    left.says(&[&url, "speaks TLS", "`https://`"]);
    let url = format!("https://localhost:{}/", plain.address.port());
    let left = loadgen(&[&["--target", &url][..], &more].concat()).exits(69);
    left.says(&[&url, "plain", "`http://`"]);
}

#[test]
fn a_certificate_is_checked_against_the_trusted_ones() {
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
    let server = serving_tls(config);
    let url = format!("https://localhost:{}/", server.address.port());
    let base = ["--target", &url, "--ops", "3", "--rate", "1000/s"];

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

#[test]
fn words_are_found_anywhere_in_the_searched_part_of_a_body() {
    let far = format!("{} THROTTLED", "x".repeat(1 << 20));
    for (body, rejected, warnings) in [
        ("THROTTLED", 3, 0),
        ("error=THROTTLED; wait", 3, 0),
        ("<p>Rate exceeded, try later</p>", 3, 0),
        ("UNTHROTTLED", 0, 0),
        (far.as_str(), 0, 1),
    ] {
        let sent = body.to_owned();
        let server = ForeignServer::start(move |_, connection| reply(connection, "200 OK", &sent));
        for transport in ["hyper", "reqwest"] {
            let result = loadgen(&[
                "--target",
                &server.url(),
                "--transport",
                transport,
                "--strategy",
                "none",
                "--ops",
                "3",
                "--in-flight",
                "1",
                "--rejected-when",
                "403,body:THROTTLED",
                "--rejected-when",
                "body:Rate exceeded, try later",
                "--json",
                "-",
                "--quiet",
            ])
            .json();
            assert_conserved(&result);
            assert_eq!(count(&result, "/attempts/rejected"), rejected, "{transport}: {body:.40}");
            let found: Vec<&str> = result["warnings"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|warning| warning.as_str())
                .filter(|warning| warning.contains("searched only in part"))
                .collect();
            assert_eq!(found.len(), warnings, "{transport}: {body:.40}");
            assert_eq!(
                result["config"]["workload"]["rejected_when"],
                "403,body:THROTTLED\nbody:Rate exceeded, try later"
            );
        }
    }
}
