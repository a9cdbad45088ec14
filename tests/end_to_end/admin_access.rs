//! Access to a mockserver's admin endpoints: refused for web pages, and for other hosts without the token.

use crate::support::{
    MockServer, Reply, count, loadgen, measure, request, request_with, shell, skipped, start_mockserver,
};

const SMALL: &[&str] = &["--strategy", "none", "--ops", "3", "--no-tui"];

fn with(server: &MockServer, method: &str, path: &str, headers: &str) -> Reply {
    let body = if method == "PATCH" { "{\"max_busy\": 7}" } else { "" };
    request_with(server.address, method, path, headers, body)
}

#[test]
fn pages_of_other_origins_change_and_read_nothing() {
    let server = MockServer::start(&["--network-delay", "0", "--service-time", "0"]);
    assert_eq!(request(server.address, "GET", "/", "").status, 200);
    for headers in [
        "host: localhost\r\norigin: http://evil.example\r\n",
        "host: localhost\r\norigin: null\r\n",
        "host: evil.example\r\n",
        "host: evil.example\r\norigin: http://evil.example\r\n",
        "host: localhost\r\nhost: evil.example\r\n",
        "",
    ] {
        for (method, path) in [
            ("POST", "/_mock/reset"),
            ("PATCH", "/_mock/config"),
            ("OPTIONS", "/_mock/config"),
            ("GET", "/_mock/stats"),
            ("GET", "/_mock/nonsense"),
            ("GET", "/metrics"),
        ] {
            let reply = with(&server, method, path, headers);
            assert_eq!(reply.status, 403, "{method} {path} {headers}");
            assert!(reply.json()["error"].is_string(), "{reply:?}");
        }
    }
    assert_eq!(count(&server.stats(), "/received"), 1);
    assert_eq!(count(&request(server.address, "GET", "/_mock/config", "").json(), "/max_busy"), 50);
    // Work requests are allowed from everywhere.
    let strange = "host: evil.example\r\norigin: http://evil.example\r\n";
    assert_eq!(with(&server, "GET", "/", strange).status, 200);
}

#[test]
fn programs_on_this_machine_name_it_by_address_or_as_localhost() {
    let server = MockServer::start(&[]);
    let port = server.address.port();
    for host in ["localhost".to_owned(), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        let headers = format!("host: {host}\r\norigin: http://{host}\r\n");
        assert_eq!(with(&server, "PATCH", "/_mock/config", &headers).status, 200, "{host}");
    }
    let refusal = with(&server, "GET", "/_mock/stats", "host: mock.example\r\n").json();
    for words in ["`mock.example`", "localhost", "--admin-remote", "--admin-token"] {
        assert!(refusal["error"].as_str().unwrap().contains(words), "{words}: {refusal}");
    }
}

#[test]
fn a_token_replaces_the_check_of_the_host_but_not_the_origin() {
    let server = MockServer::start(&["--admin-remote", "s3cret"]);
    for (headers, status) in [
        ("host: mock.example\r\nauthorization: Bearer s3cret\r\n", 200),
        ("host: mock.example\r\nauthorization: Bearer wrong\r\n", 403),
        ("host: mock.example\r\n", 403),
        ("host: mock.example\r\nauthorization: Bearer s3cret\r\norigin: http://evil.example\r\n", 403),
        ("host: localhost\r\n", 200),
    ] {
        assert_eq!(with(&server, "POST", "/_mock/reset", headers).status, status, "{headers}");
    }
}

#[test]
fn loadgen_needs_the_token_of_a_mockserver_on_another_host() {
    let Some(own) = super::metrics::own_address() else {
        skipped("this machine has no address but loopback");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    std::fs::write(&file, "from-a-file\n").unwrap();
    let from_file = format!("@{}", file.display());
    let server = MockServer::listen("0.0.0.0:0", &["--admin-remote", &from_file]);
    let url = format!("http://{own}:{}/", server.address.port());
    let target = [SMALL, &["--target", &url, "--mock", "yes"]].concat();

    loadgen(&target).exits(2).says(&["refuses this client", "`--admin-remote`", "`--admin-token`"]);
    let wrong = [&target[..], &["--admin-token", "wrong"]].concat();
    loadgen(&wrong).exits(2).says(&["refuses this client"]);
    let right = [&target[..], &["--admin-token", &from_file]].concat();
    let result = measure(&right);
    assert_eq!(count(&result, "/server/received"), 3);
    assert!(!result.to_string().contains("from-a-file"));
}

#[test]
fn an_environment_token_goes_to_other_hosts_only_on_request() {
    let Some(own) = super::metrics::own_address() else {
        skipped("this machine has no address but loopback");
        return;
    };
    let server = MockServer::listen("0.0.0.0:0", &["--admin-remote", "s3cret"]);
    let url = format!("http://{own}:{}/", server.address.port());
    let target = [SMALL, &["--target", &url, "--mock", "yes", "--quiet"]].concat();
    let script = "TAILBACK_ADMIN_TOKEN=s3cret exec \"$0\" \"$@\"";
    shell(script, &target)
        .exits(2)
        .says(&["refuses this client", "`TAILBACK_ADMIN_TOKEN` is sent automatically only"]);
    shell(script, &[&target[..], &["--admin-token", ""]].concat()).exits(0);
}

#[test]
fn servers_that_are_no_mockserver_never_see_the_token() {
    use super::foreign_server::{ForeignServer, reply};
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let url = server.url();
    let args = [SMALL, &["--target", &url, "--in-flight", "1", "--admin-token", "s3cret"]].concat();
    measure(&args);
    let seen = [server.work(), server.questions()].concat();
    assert!(seen.len() > 3, "{seen:?}");
    assert!(seen.iter().all(|request| request.header("authorization").is_none()), "{seen:?}");
}

#[test]
fn an_invalid_token_is_refused_before_the_server_starts() {
    for (flags, words) in [
        (&["--admin-remote", "two words"][..], "visible ASCII"),
        (&["--admin-remote", "@/no/such/file"], "/no/such/file"),
        (&["--admin-remote"], "TAILBACK_ADMIN_TOKEN"),
    ] {
        let left = start_mockserver(&[&["--listen", "127.0.0.1:0"], flags].concat()).finish().exits(2);
        left.says(&["--admin-remote", words]);
    }
    loadgen(&[SMALL, &["--admin-token", "two words"]].concat())
        .exits(2)
        .says(&["--admin-token", "visible ASCII"]);
}
