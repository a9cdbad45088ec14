//! `/metrics` of the built mockserver, parsed as by Prometheus.

use std::collections::BTreeMap;

use crate::support::{MockServer, count, figure, measure, request, request_with, skipped};

struct Page {
    kinds: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
}

impl Page {
    fn scrape(server: &MockServer) -> Self {
        let reply = request(server.address, "GET", "/metrics", "");
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        Self::parse(&reply.body)
    }

    /// Parses the text format, and checks help, type, unique series, and conventional names.
    fn parse(text: &str) -> Self {
        let mut page = Self { kinds: BTreeMap::new(), samples: BTreeMap::new() };
        let mut family = String::new();
        assert!(text.ends_with('\n'), "the last line ends, too");
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, words) = help.split_once(' ').unwrap();
                assert!(!words.is_empty() && name.starts_with("mockserver_"), "{line}");
                assert!(
                    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                    "{line}"
                );
                let kind = lines.next().and_then(|line| line.strip_prefix(&format!("# TYPE {name} ")));
                let kind = kind.unwrap_or_else(|| panic!("{name} has no type"));
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
                assert!(page.kinds.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} comes once");
                name.clone_into(&mut family);
                continue;
            }
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            let suffix = name.strip_prefix(&family).unwrap_or_else(|| panic!("{line} is not of {family}"));
            let suffixes: &[&str] =
                if page.kinds[&family] == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            assert!(suffixes.contains(&suffix), "{line}");
            if let Some(labels) = series.strip_prefix(name).filter(|labels| !labels.is_empty()) {
                let labels = labels.strip_prefix('{').and_then(|labels| labels.strip_suffix('}')).unwrap();
                for label in labels.split(',') {
                    let (_, value) = label.split_once('=').unwrap();
                    assert!(value.starts_with('"') && value.ends_with('"') && value.len() > 2, "{line}");
                }
            }
            assert!(
                page.samples.insert(series.to_owned(), value.parse().unwrap()).is_none(),
                "{line} comes once"
            );
        }
        page
    }

    fn value(&self, series: &str) -> f64 {
        *self.samples.get(&format!("mockserver_{series}")).unwrap_or_else(|| panic!("no `{series}`"))
    }

    fn sum(&self, name: &str) -> f64 {
        let of = |series: &&String| series.starts_with(&format!("mockserver_{name}{{"));
        self.samples.keys().filter(of).map(|series| self.samples[series]).sum()
    }
}

#[expect(clippy::float_cmp, reason = "counts are whole numbers")]
#[test]
fn scraped_counters_match_the_runs_and_survive_a_reset() {
    let server = MockServer::start(&["--max-busy", "5", "--time-scale", "0.02"]);
    let url = server.url();
    let before = Page::scrape(&server);
    assert_eq!((before.value("requests_received_total"), before.value("capacity_slots")), (0.0, 5.0));
    let mut rejected = 0.0;
    let mut received = 0.0;
    let mut last = before;
    for run in 0..2 {
        let result =
            measure(&["--target", &url, "--time-scale", "0.02", "--ops", "60", "--strategy", "full-jitter"]);
        received += figure(&result, "/server/received");
        rejected += figure(&result, "/server/rejected");
        let page = Page::scrape(&server);
        assert_eq!(page.value("requests_received_total"), received);
        assert_eq!(page.value("requests_accepted_total"), f64::from(60 * (run + 1)));
        assert_eq!(page.sum("requests_rejected_total"), rejected);
        assert_eq!(page.value("requests_rejected_total{reason=\"throttled\"}"), rejected);
        assert_eq!(page.value("busy_slots_max"), figure(&result, "/server/max_busy_seen"));
        assert_eq!(page.value("accepted_in_service_max"), 5.0);
        assert_eq!((page.value("busy_slots"), page.value("resets_total")), (0.0, f64::from(run)));
        for (verdict, answers) in [("accepted", f64::from(60 * (run + 1))), ("rejected", rejected)] {
            let labels = format!("verdict=\"{verdict}\"");
            assert_eq!(page.value(&format!("answer_seconds_count{{{labels}}}")), answers);
            assert_eq!(page.value(&format!("answer_seconds_bucket{{{labels},le=\"+Inf\"}}")), answers);
        }
        // 100 ms of network and 500 ms of service take more than 0.5 s on any machine.
        assert_eq!(page.value("answer_seconds_bucket{verdict=\"accepted\",le=\"0.5\"}"), 0.0);
        assert!(page.value("answer_seconds_sum{verdict=\"accepted\"}") >= 0.6 * f64::from(60 * (run + 1)));
        for (series, value) in &last.samples {
            let family = series.split('{').next().unwrap();
            if last.kinds.get(family).is_none_or(|kind| kind == "counter") {
                assert!(page.samples[series] >= *value, "{series} went down");
            }
        }
        let stats = server.stats();
        if run == 0 {
            let wasted_s = figure(&stats, "/wasted_ms") / 1e3;
            assert!((page.value("wasted_seconds_total") - wasted_s).abs() < 1e-6 && wasted_s > 0.0);
        }
        last = page;
        assert_eq!(request(server.address, "POST", "/_mock/reset", "").status, 200);
        assert_eq!(count(&server.stats(), "/received"), 0);
        assert_eq!(Page::scrape(&server).value("requests_received_total"), received);
    }
}

#[expect(clippy::float_cmp, reason = "counts are whole numbers")]
#[test]
fn rejections_are_distinguished_by_their_reason() {
    let fast = ["--network-delay", "0", "--service-time", "0", "--reject-time", "0", "--reject-first", "1"];
    let server = MockServer::start(&fast);
    let work = |headers: &str| {
        let mut stream = std::net::TcpStream::connect(server.address).unwrap();
        let head = format!("GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{headers}\r\n\r\n");
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        crate::support::read_reply(stream).status
    };
    assert_eq!(work("x-tailback-attempt: 1"), 503);
    assert_eq!(work("x-tailback-attempt: 2"), 200);
    assert_eq!(work("x-tailback-attempt: 2\r\nif-match: \"77\""), 412);
    assert_eq!(request(server.address, "PATCH", "/_mock/config", "{\"outages\": \"0s..1h\"}").status, 200);
    assert_eq!(work("x-tailback-attempt: 2"), 503);
    let page = Page::scrape(&server);
    for (reason, expected) in [
        ("reject_first", 1.0),
        ("conflict", 1.0),
        ("outage", 1.0),
        ("throttled", 0.0),
        ("policy_change", 0.0),
    ] {
        assert_eq!(
            page.value(&format!("requests_rejected_total{{reason=\"{reason}\"}}")),
            expected,
            "{reason}"
        );
    }
    assert_eq!((page.value("requests_received_total"), page.value("requests_accepted_total")), (4.0, 1.0));
    assert_eq!(request(server.address, "POST", "/metrics", "").status, 405);
}

#[test]
fn other_hosts_see_nothing_unless_they_may() {
    let Some(own) = own_address() else {
        skipped("this machine has no address but loopback");
        return;
    };
    let token = "host: localhost\r\nauthorization: Bearer s3cret\r\n";
    for (flags, headers, status) in [
        (&[][..], token, 403),
        (&["--admin-remote", "s3cret"][..], "host: localhost\r\n", 403),
        (&["--admin-remote", "s3cret"], token, 200),
    ] {
        let server = MockServer::listen("0.0.0.0:0", flags);
        let address = (own, server.address.port()).into();
        for path in ["/metrics", "/_mock/stats"] {
            let reply = request_with(address, "GET", path, headers, "");
            assert_eq!(reply.status, status, "{path} {flags:?} {headers}");
        }
    }
}

/// Returns an address that makes this machine look like another host to its own server. Nothing is sent.
pub(crate) fn own_address() -> Option<std::net::IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback() && !address.is_unspecified())
}
