//! Connections to a real nginx: a client certificate, another address than that of the URL, and one connection for each request.

use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use super::foreign::{own_authority, serving_tls};
use super::foreign_server::{ForeignServer, reply};
use super::gateway::{Gateway, NGINX};
use crate::support::{Folder, count, loadgen, measure, skipped};

/// Name of the server, which no name server knows.
const HOST: &str = "api.tailback.test";

/// Certificates of a server and a client, signed by one authority, as PEM files in a folder.
fn certificates() -> Folder {
    let folder = Folder::new();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "authority");
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap();
    folder.write("ca.pem", &authority.pem());
    let issuer = Issuer::new(params, key);
    for (name, host) in [("server", HOST), ("client", "client")] {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, host);
        let signed: Certificate = params.signed_by(&key, &issuer).unwrap();
        folder.write(&format!("{name}.pem"), &signed.pem());
        folder.write(&format!("{name}.key"), &key.serialize_pem());
        folder.write(&format!("{name}-both.pem"), &format!("{}{}", key.serialize_pem(), signed.pem()));
    }
    folder
}

/// Starts an nginx that logs connection, server name, `Host`, `Connection` and path of each request.
fn nginx(server: &str) -> Gateway {
    Gateway::configured(&format!(
        "log_format seen '$connection $ssl_server_name $http_host $http_connection $request_uri';\n\
         server {{ listen LISTEN {server}\n\
         access_log FOLDER/seen.log seen; location / {{ return 200 done; }} }}"
    ))
}

fn over_tls(certificates: &Folder, more: &str) -> Gateway {
    let path = |name: &str| certificates.path(name).display().to_string();
    let (certificate, key, ca) = (path("server.pem"), path("server.key"), path("ca.pem"));
    nginx(&format!(
        "ssl; ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_client_certificate {ca}; {more}"
    ))
}

/// Returns the words of each logged request of the run.
fn seen(gateway: &Gateway) -> Vec<Vec<String>> {
    let log = std::fs::read_to_string(gateway.folder.path().join("seen.log")).unwrap();
    let lines = log.lines().filter(|line| !line.contains("/_mock/"));
    lines.map(|line| line.split(' ').map(ToOwned::to_owned).collect()).collect()
}

fn port(gateway: &Gateway) -> &str {
    gateway.url.trim_end_matches('/').rsplit(':').next().unwrap()
}

const LOAD: [&str; 4] = ["--ops", "4", "--in-flight", "1"];

/// Returns the folder and the path of a client certificate with its key, signed by an authority that no server here trusts.
fn foreign_identity() -> (Folder, String) {
    let folder = certificates();
    let path = folder.path("client-both.pem").display().to_string();
    (folder, path)
}

#[test]
fn a_client_certificate_is_sent_and_a_missing_one_is_named() {
    if !Path::new(NGINX).exists() {
        return skipped(&format!("there is no {NGINX}"));
    }
    let folder = certificates();
    let gateway = over_tls(&folder, "ssl_verify_client on;");
    let path = |name: &str| folder.path(name).display().to_string();
    let rule = format!("{HOST}::127.0.0.1:{}", port(&gateway));
    let (url, ca) = (format!("https://{HOST}/items"), path("ca.pem"));
    for transport in ["hyper", "reqwest"] {
        let base = ["--target", &url, "--connect-to", &rule, "--cacert", &ca, "--transport", transport];
        let base = [&base[..], &LOAD].concat();
        let (cert, key, both) = (path("client.pem"), path("client.key"), path("client-both.pem"));
        for identity in [&["--cert", &cert, "--key", &key][..], &["--cert", &both], &["--key", &both]] {
            let result = measure(&[&base[..], identity].concat());
            assert_eq!(count(&result, "/ops/succeeded"), 4, "{transport} {identity:?}");
        }
        let left = loadgen(&[&base[..], &["--json", "-"]].concat())
            .exits(1)
            .says(&["asked for a client certificate: add `--cert FILE --key FILE`"]);
        assert_eq!(count(&left.json(), "/ops/succeeded"), 0, "{transport}");
        for (alone, words) in [
            (["--cert", &cert], ["(--cert) holds no private key", "`--key FILE`"]),
            (["--key", &key], ["(--key) holds no certificate", "`--cert FILE`"]),
        ] {
            loadgen(&[&base[..], &alone].concat()).exits(2).says(&words);
        }
        let foreign = ["--cert", &path("server-both.pem"), "--key", &key];
        loadgen(&[&base[..], &foreign].concat())
            .exits(2)
            .says(&["does not belong to the client certificate"]);
        let (_folder, other) = foreign_identity();
        let refused = loadgen(&[&base[..], &["--cert", &other, "--json", "-"]].concat()).exits(1);
        refused.says(&["it may not accept `--cert`"]);
    }
    for command in [
        &["compare", "--strategies", "none,aimd", "--repeats", "1", "--ops", "4"][..],
        &["sweep", "--strategies", "none", "--vary", "ops=2,4", "--repeats", "1"],
        &["--repeats", "2", "--ops", "4"],
    ] {
        let base = ["--target", &url, "--connect-to", &rule, "--cacert", &ca, "--in-flight", "1"];
        loadgen(&[command, &base].concat()).exits(1).says(&["add `--cert FILE --key FILE`"]);
    }
    // The address of the connection is that of the rule; the name for TLS and `Host` are those of the URL.
    for request in seen(&gateway).iter().filter(|words| words[4] == "/items") {
        assert_eq!(request[1..3], [HOST, HOST]);
    }
}

/// A server that ends connections without a certificate: with TLS 1.2 in the handshake, with TLS 1.3 after it.
#[test]
fn a_server_that_refuses_clients_without_a_certificate_is_told_apart() {
    let (own, key) = own_authority(2999);
    let folder = Folder::new();
    folder.write("ca.pem", &own.pem());
    let ca = folder.path("ca.pem").display().to_string();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(own.der().clone()).unwrap();
        let verifier =
            WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone()).build().unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![own.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
            .unwrap();
        let server = serving_tls(config);
        let url = format!("https://localhost:{}/", server.address.port());
        for transport in ["hyper", "reqwest"] {
            let base = ["--target", &url, "--cacert", &ca, "--mock", "no", "--transport", transport];
            let left = loadgen(&[&base[..], &LOAD].concat()).exits(69);
            let words = format!("{}{}", left.stdout, left.stderr);
            assert!(words.contains("asked for a client certificate"), "{transport}: {words}");
            assert!(words.contains("`--cert FILE --key FILE`"), "{transport}: {words}");
            let (_folder, other) = foreign_identity();
            let refused = loadgen(&[&base[..], &LOAD, &["--cert", &other]].concat()).exits(69);
            let words = format!("{}{}", refused.stdout, refused.stderr);
            let expected = if *version == rustls::version::TLS12 {
                "the server refused the client certificate"
            } else {
                "it may not accept `--cert`"
            };
            assert!(words.contains(expected), "{transport} {version:?}: {words}");
        }
    }
}

#[test]
fn a_rule_changes_the_address_and_nothing_else() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", "done"));
    let port = server.address.port();
    let rules = [
        format!("{HOST}:80:127.0.0.1:{port}"),
        format!(":80:127.0.0.1:{port}"),
        format!("{}::127.0.0.1:{port}", HOST.to_uppercase()),
        format!("::127.0.0.1:{port}"),
    ];
    for rule in &rules {
        for transport in ["hyper", "reqwest"] {
            let url = format!("http://{HOST}/items");
            let base = ["--target", &url, "--connect-to", "other:1:127.0.0.2:1", "--connect-to", rule];
            let result = measure(&[&base[..], &["--transport", transport], &LOAD].concat());
            assert_eq!(count(&result, "/ops/succeeded"), 4, "{rule} {transport}");
        }
    }
    assert!(server.work().iter().all(|request| request.header("host") == Some(HOST)));
    // An empty address keeps that of the URL.
    let rule = format!("127.0.0.1:1::{port}");
    let url = "http://127.0.0.1:1/";
    let result = measure(&[&["--target", url, "--connect-to", &rule][..], &LOAD].concat());
    assert_eq!(count(&result, "/ops/succeeded"), 4);
    assert_eq!(server.work().last().unwrap().header("host"), Some("127.0.0.1:1"));
    for wrong in [
        "",
        "a:1:b",
        "a:1:b:c",
        "a:x:b:1",
        "a:1:b:1:2",
        "::1:80:b:1",
        "a:0:b:1",
        "*:1:b:1",
        "a:1:b c:1",
        "a:1:b/c:1",
        "a:1:u@b:1",
        "a:1:[b]:1",
    ] {
        loadgen(&["--target", url, "--connect-to", wrong]).exits(2).says(&["HOST:PORT:ADDRESS:PORT"]);
    }
    let literal = ["--target", "https://127.0.0.1/", "--connect-to", &rules[3]];
    loadgen(&[&literal[..], &LOAD].concat()).exits(2).says(&["write a host name in the URL"]);
    let dead = ["--target", "http://no-such.test/", "--connect-to", "::127.0.0.1:1"];
    loadgen(&[&dead[..], &LOAD].concat()).exits(69).says(&["at 127.0.0.1:1 by --connect-to"]);
    let unknown = ["--target", "http://a/", "--connect-to", "::no-such-host.invalid:"];
    loadgen(&[&unknown[..], &LOAD].concat()).exits(69).says(&["`no-such-host.invalid` of `--connect-to`"]);
    for alone in [["--connect-to", "::127.0.0.1:1"], ["--cert", "file"]] {
        loadgen(&alone).exits(2).says(&["need `--target URL`"]);
    }
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    if !Path::new(NGINX).exists() {
        return skipped(&format!("there is no {NGINX}"));
    }
    for transport in ["hyper", "reqwest"] {
        let gateway = nginx(";");
        let base = ["--target", &gateway.url, "--transport", transport, "--ops", "20", "--in-flight", "2"];
        let connections = |requests: &[Vec<String>]| {
            let mut numbers: Vec<_> = requests.iter().map(|words| words[0].clone()).collect();
            numbers.sort();
            numbers.dedup();
            numbers.len()
        };
        let kept = measure(&base);
        assert_eq!((count(&kept, "/ops/succeeded"), connections(&seen(&gateway))), (20, 2), "{transport}");
        for flag in ["--no-keepalive", "--disable-keepalive"] {
            let before = seen(&gateway).len();
            let closed = measure(&[&base[..], &[flag]].concat());
            assert_eq!(count(&closed, "/ops/succeeded"), 20, "{transport}");
            assert_eq!(closed["config"]["transport"]["no_keepalive"], true);
            let requests = &seen(&gateway)[before..];
            assert_eq!((requests.len(), connections(requests)), (20, 20), "{transport}");
            assert!(requests.iter().all(|words| words[3] == "close"), "{transport}: {requests:?}");
        }
    }
    loadgen(&["--no-keepalive", "--http2"])
        .exits(2)
        .says(&["`--no-keepalive` cannot be used with `--http2`", "leave out one of the two"]);
    let simulated = loadgen(&["--no-keepalive", "--simulate"]).exits(2);
    simulated.says(&["--no-keepalive", "--simulate", "virtual time has no HTTP; leave out one"]);
    let several = loadgen(&["--simulate", "--http2", "--no-keepalive"]).exits(2);
    several.says(&[
        "--http2",
        "--no-keepalive",
        "virtual time has no HTTP; leave out `--simulate`, or the others",
    ]);
    loadgen(&["--simulate", "--simulate"])
        .exits(2)
        .says(&["`--simulate` is given twice; leave out one of the two"]);
    loadgen(&["--simulate", "compare"]).exits(2).says(&["a subcommand comes first: loadgen compare"]);
}

#[test]
fn kinds_of_requests_have_a_query_and_a_body_of_their_own() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", "done"));
    let folder = Folder::new();
    folder.write("item.json", "{\"id\":7}");
    let mix =
        format!("POST /v1/items?x=s3cret @{} 3; PUT /other; GET /v1?y", folder.path("item.json").display());
    for transport in ["hyper", "reqwest"] {
        let before = server.work().len();
        let url = format!("{}api?key=1", server.url());
        let base = ["--target", &url, "--mix", &mix, "-d", "else", "--ops", "60", "--in-flight", "1"];
        let result = measure(&[&base[..], &["--transport", transport]].concat());
        assert_eq!(count(&result, "/ops/succeeded"), 60, "{transport}");
        let work = &server.work()[before..];
        for (line, body) in [
            ("POST /api/v1/items?key=1&x=s3cret HTTP/1.1", "{\"id\":7}"),
            ("PUT /api/other?key=1 HTTP/1.1", "else"),
            ("GET /api/v1?key=1&y HTTP/1.1", ""),
        ] {
            let bodies: Vec<_> =
                work.iter().filter(|request| request.line == line).map(|it| &*it.body).collect();
            assert!(
                !bodies.is_empty() && bodies.iter().all(|sent| *sent == body),
                "{transport} {line}: {bodies:?}"
            );
        }
        let mix = result["config"]["workload"]["mix"].as_str().unwrap();
        assert_eq!(mix, "POST /v1/items?x=… @item.json 3; PUT /other; GET /v1?…");
        let folder = folder.path("").display().to_string();
        assert!(!result.to_string().contains("s3cret") && !result.to_string().contains(&folder), "{result}");
    }
    let vary = ["sweep", "--simulate", "--strategies", "none", "--vary", "mix=GET /?x=1,GET /?x=2"];
    loadgen(&vary).exits(2).says(&["must have no query"]);
    let missing = ["--target", &server.url(), "--mix", "POST / @no-such-file", "--ops", "1", "--rate", "1/s"];
    loadgen(&missing).exits(2).says(&["no-such-file", "--mix"]);
    loadgen(&["--simulate", "--mix", "POST / @no-such-file"]).exits(2).says(&["no-such-file", "--mix"]);
    for copied in [["--mix", "GET /?x=…"], ["-H", "a: …"], ["-d", "…"], ["--target", "http://a/?x=…"]]
    {
        loadgen(&copied).exits(2).says(&["`…` stands for a value", "write the value"]);
    }
}
