//! Gateways between client and mockserver, and other clients of the same mockserver: counts stay right, or are not compared.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{MockServer, assert_conserved, count, eventually, loadgen, request_with, skipped};

pub(super) const NGINX: &str = "/usr/sbin/nginx";

pub(super) struct Gateway {
    child: Child,
    pub(super) url: String,
    pub(super) folder: tempfile::TempDir,
}

impl Gateway {
    /// Starts an nginx that forwards at most `most` concurrent requests, and answers the others itself.
    fn start(upstream: &str, most: u32) -> Self {
        Self::start_with(upstream, most, "")
    }

    /// Variant of [`start`](Self::start) with further directives for work requests.
    fn start_with(upstream: &str, most: u32, more: &str) -> Self {
        let work = format!(
            "limit_conn_zone $server_name zone=all:1m;\n\
             server {{ listen LISTEN; server_name gateway;\n\
             location / {{ limit_conn all {most}; {more} proxy_pass http://{upstream}; }}\n\
             location /_mock/ {{ proxy_pass http://{upstream}; }} }}"
        );
        Self::configured(&work)
    }

    /// Starts an nginx with this configuration. `LISTEN` is replaced by its address, and `FOLDER` by a folder of its own.
    pub(super) fn configured(http: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // A free port. nginx reports an error if another process takes it.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = folder.path().display();
        let http = http.replace("LISTEN", &format!("127.0.0.1:{port}")).replace("FOLDER", &at.to_string());
        let config = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/error.log;\n\
             events {{ worker_connections 512; }}\n\
             http {{ access_log off; client_body_temp_path {at}/body; proxy_temp_path {at}/proxy;\n\
             fastcgi_temp_path {at}/f; uwsgi_temp_path {at}/u; scgi_temp_path {at}/s;\n\
             {http} }}\n"
        );
        std::fs::write(folder.path().join("nginx.conf"), config).unwrap();
        let child = Command::new(NGINX)
            .arg("-p")
            .arg(folder.path())
            .args(["-c", "nginx.conf", "-e", "error.log"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let gateway = Self { child, url: format!("http://127.0.0.1:{port}/"), folder };
        eventually("the gateway listens", || TcpStream::connect(("127.0.0.1", port)).ok());
        gateway
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn gateway_responses_are_counted_apart_and_leave_no_bound() {
    if !Path::new(NGINX).exists() {
        skipped(&format!("there is no {NGINX}"));
        return;
    }
    let server = MockServer::start(&["--max-busy", "100", "--time-scale", "0.1"]);
    let gateway = Gateway::start(&server.address.to_string(), 20);
    let args = ["--time-scale", "0.1", "--ops", "150", "-s", "aimd:initial=60", "--json", "-"];
    let left = loadgen(&[&["--target", &gateway.url][..], &args].concat()).exits(0);
    let result = left.json();
    let between = count(&result, "/attempts/by_gateway");
    assert!(between > 0, "{}", result["attempts"]);
    assert_eq!(count(&result, "/attempts/total"), count(&result, "/server/received") + between);
    assert_eq!(count(&result, "/ops/succeeded"), 150);
    assert!(result["optimal_makespan_s"].is_null(), "it is not the server behind that was met");
    assert_conserved(&result);
    // However many warnings a busy machine adds, they come after this one.
    let first = result["warnings"][0].as_str().unwrap_or_default();
    assert_eq!(first, format!("a gateway answered {between} attempts: no lower bound known"));
    left.says(&["answered by a gateway", "no lower bound known"]);
}

#[test]
fn an_unrequested_deferral_is_a_failure_and_counts_add_up() {
    if !Path::new(NGINX).exists() {
        skipped(&format!("there is no {NGINX}"));
        return;
    }
    let server = MockServer::start(&QUICK);
    let more = "add_header x-tailback-deferred 1 always;";
    let gateway = Gateway::start_with(&server.address.to_string(), 20, more);
    let args = ["--ops", "5", "-s", "none", "--json", "-", "-q"];
    let result = loadgen(&[&["--target", &gateway.url][..], &args].concat()).exits(1).json();
    assert_eq!((count(&result, "/attempts/failed"), count(&result, "/server/received")), (5, 5));
    assert_conserved(&result);
}

/// Returns the statuses of requests with these values of `Authorization`, sent one after another.
fn statuses(address: SocketAddr, keys: &[Option<&str>]) -> Vec<u16> {
    let status = |key: Option<&str>| {
        let own = key.map(|key| format!("authorization: {key}\r\n")).unwrap_or_default();
        request_with(address, "GET", "/", &format!("host: localhost\r\n{own}"), "").status
    };
    keys.iter().copied().map(status).collect()
}

/// nginx does not limit a request by a zone whose key is empty.
#[test]
fn a_policy_with_missing_unlimited_decides_as_nginx_with_an_empty_key() {
    if !Path::new(NGINX).exists() {
        skipped(&format!("there is no {NGINX}"));
        return;
    }
    let upstream = MockServer::start(&QUICK);
    let gateway = Gateway::configured(&format!(
        "limit_req_zone $binary_remote_addr zone=address:1m rate=1r/m;\n\
         limit_req_zone $http_authorization zone=user:1m rate=1r/m;\n\
         server {{ listen LISTEN; location / {{ limit_req zone=address burst=20 nodelay;\n\
         limit_req zone=user burst=2 nodelay; proxy_pass http://{}; }} }}",
        upstream.address
    ));
    let policy = "leaky-queue:rate=1/min,burst=20,delay=unlimited,key=address then \
                  leaky-queue:rate=1/min,burst=2,delay=unlimited,key=header:authorization,missing=unlimited";
    let ours = MockServer::start(&[&QUICK[..6], &["--policy", policy]].concat());
    let keys = [&[Some("a"); 5][..], &[None; 6], &[Some("")], &[Some("b"); 2], &[None; 20]].concat();
    let nginx = gateway.url.trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
    let expected = statuses(nginx, &keys);
    assert_eq!(expected.iter().filter(|status| **status == 200).count(), 21, "{expected:?}");
    assert_eq!(expected[..6], [200, 200, 200, 503, 503, 200]);
    assert_eq!(statuses(ours.address, &keys), expected);
}

/// Starts a gateway to `upstream` that changes the host of requests. It ends with the test's process. Returns its URL.
fn renaming(upstream: SocketAddr) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(upstream) else { return };
            let (Ok(mut back), Ok(mut answers)) = (client.try_clone(), server.try_clone()) else { return };
            std::thread::spawn(move || {
                drop(std::io::copy(&mut answers, &mut back));
                drop(back.shutdown(Shutdown::Both));
            });
            std::thread::spawn(move || {
                drop(pass_on_renamed(&client, &server));
                drop(server.shutdown(Shutdown::Write));
            });
        }
    });
    url
}

/// Forwards requests without bodies, line by line.
fn pass_on_renamed(client: &TcpStream, mut server: &TcpStream) -> std::io::Result<()> {
    let mut head = String::new();
    for line in BufReader::new(client).lines() {
        let line = line?;
        let is_host = line.get(..5).is_some_and(|name| name.eq_ignore_ascii_case("host:"));
        head.push_str(if is_host { "Host: mock" } else { &line });
        head.push_str("\r\n");
        if line.is_empty() {
            server.write_all(std::mem::take(&mut head).as_bytes())?;
        }
    }
    Ok(())
}

/// Checks a run against a gateway that changes `Host`: it works as against any server, with one warning.
fn assert_foreign(url: &str) {
    let target = ["--target", url];
    let ops = ["--ops", "40", "-s", "aimd"];
    loadgen(&[&target[..], &ops].concat()).exits(2).says(&["changes `Host` to `mock`", "`--rate 10/s`"]);
    let paced = [&target[..], &ops, &["--rate", "200/s"]].concat();
    let left = loadgen(&[&paced[..], &["--json", "-", "--explain"]].concat()).exits(0);
    let left =
        left.says(&["mockserver behind a gateway at", "counts could not be compared", "`--admin-token`"]);
    assert_eq!(left.stderr.matches("could not be compared").count(), 1, "{}", left.stderr);
    let result = left.json();
    assert_eq!(count(&result, "/ops/succeeded"), 40);
    assert!(result["server"].is_null() && result["config"]["server_model"].is_null(), "{result}");
    assert!(result["warnings"][0].as_str().unwrap().contains("`mock`"), "{}", result["warnings"]);
    assert_conserved(&result);
    let args = [&["compare"], &target[..], &["--ops", "20", "--rate", "200/s", "--repeats", "2"]].concat();
    let compared = loadgen(&[&args[..], &["--strategies", "none,aimd"]].concat()).exits(0);
    assert_eq!(compared.stderr.matches("could not be compared").count(), 1, "{}", compared.stderr);
    let known = loadgen(&[&paced[..], &["--admin-token", "s3cret", "--json", "-"]].concat()).exits(0).json();
    assert_eq!(count(&known, "/server/received"), 40);
    loadgen(&[&paced[..], &["--admin-token", "wrong"]].concat()).exits(2).says(&["refuses this client"]);
}

const BEHIND: [&str; 8] =
    ["--service-time", "5ms", "--network-delay", "0", "--reject-time", "0", "--admin-remote", "s3cret"];

/// It is loaded like any other server.
#[test]
fn a_mockserver_behind_a_host_changing_gateway_is_foreign() {
    let server = MockServer::start(&BEHIND);
    assert_foreign(&renaming(server.address));
}

/// It is loaded like any other server, because nginx changes `Host` to the name of the upstream.
#[test]
fn a_mockserver_behind_a_named_nginx_upstream_is_foreign() {
    if !Path::new(NGINX).exists() {
        skipped(&format!("there is no {NGINX}"));
        return;
    }
    let server = MockServer::start(&BEHIND);
    let gateway = Gateway::configured(&format!(
        "upstream mock {{ server {}; }}\n\
         server {{ listen LISTEN; location / {{ proxy_pass http://mock; }} }}",
        server.address
    ));
    assert_foreign(&gateway.url);
}

/// Sends work requests of many runs, one after the other, on one connection.
fn strangers(server: &MockServer, runs: std::ops::Range<u64>) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let mut answer = [0; 4096];
    for run in runs {
        // Written at once. Otherwise the second piece would wait for the acknowledgement of the first.
        let request = format!("GET / HTTP/1.1\r\nhost: test\r\nx-tailback-run: {run:016x}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut seen = Vec::new();
        while !seen.ends_with(b"served\n") && !seen.ends_with(b"busy\n") {
            let count = stream.read(&mut answer).unwrap();
            assert!(count > 0, "the server hung up");
            seen.extend_from_slice(&answer[..count]);
        }
    }
}

const QUICK: [&str; 8] =
    ["--service-time", "1ms", "--network-delay", "0", "--reject-time", "0", "--max-busy", "50"];

#[test]
fn other_runs_do_not_evict_a_run_from_the_servers_counts() {
    let server = MockServer::start(&QUICK);
    let url = server.url();
    let args = ["--target", &url, "--ops", "300", "--rate", "100/s", "--json", "-"];
    let run = crate::support::start_loadgen(&args);
    eventually("the run has begun", || (count(&server.stats(), "/accepted") > 10).then_some(()));
    strangers(&server, 1..1500);
    let result = run.finish().exits(0).json();
    assert_eq!(count(&result, "/server/received"), count(&result, "/attempts/total"));
    assert_eq!(count(&result, "/ops/succeeded"), 300);
    assert!(result["warnings"].as_array().unwrap().iter().all(|one| !one.to_string().contains("compared")));
}

/// No mismatch is reported.
#[test]
fn a_run_without_room_on_the_server_is_not_compared() {
    let server = MockServer::start(&QUICK);
    strangers(&server, 1..1200);
    let left = loadgen(&["--target", &server.url(), "--ops", "20", "--json", "-"]).exits(0);
    let result = left.json();
    assert!(result["server"].is_null() && count(&result, "/ops/succeeded") == 20, "{result}");
    left.says(&["the mockserver had more runs at once", "not compared"]);
}
