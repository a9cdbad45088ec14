//! The strategy of runs for which the user named none: `none` against a server that is not a mockserver, otherwise `aimd`.

use super::foreign_server::{ForeignServer, reply};
use crate::support::{MockServer, count, loadgen, measure};

fn failing_every_fifth() -> ForeignServer {
    ForeignServer::start(|number, connection| match number % 5 {
        0 => reply(connection, "500 Internal Server Error", ""),
        _ => reply(connection, "200 OK", ""),
    })
}

#[test]
fn a_foreign_server_gets_the_load_as_specified_and_every_failure_is_shown() {
    let server = failing_every_fifth();
    let url = server.url();
    let left = loadgen(&[&url, "-c", "40", "-n", "200", "--json", "-", "--no-tui"]);
    let first = left.stderr.lines().next().unwrap();
    assert!(first.starts_with("none by default (not a mockserver) · 200 ops"), "{first}");
    let result = left.json();
    assert_eq!((count(&result, "/attempts/total"), count(&result, "/attempts/failed")), (200, 40));
    assert_eq!(
        (&result["strategy"], &result["config"]["strategy"][0]["name"]),
        (&"none".into(), &"none".into())
    );
    let config = loadgen(&[&url, "-c", "40", "--print-config"]).exits(0).json();
    assert_eq!(config["strategy"][0]["name"], "none");
    let given = loadgen(&[&url, "-c", "40", "-n", "20", "-s", "aimd", "--no-tui"]);
    assert!(given.stderr.starts_with("aimd · 20 ops"), "{}", given.stderr);
}

#[test]
fn flags_without_effect_on_none_are_refused_where_it_is_the_default() {
    let server = failing_every_fifth();
    let url = server.url();
    for flag in
        [&["--max-attempts", "3"][..], &["--idempotent"], &["--no-retry-failed"], &["--share-strategy"]]
    {
        let base = ["--target", &url, "-c", "1", "-n", "5"];
        let left = loadgen(&[&base[..], flag].concat()).exits(2);
        left.says(&[flag[0], "has no effect on `none`; add `--strategy`"]);
        loadgen(&[&base[..], flag, &["--print-config"]].concat()).exits(2);
        loadgen(&[&base[..], flag, &["--print-config", "-s", "aimd"]].concat()).exits(0);
        let sweep = [&["sweep", "--vary", "ops=5", "--target", &url, "-c", "1"][..], flag].concat();
        loadgen(&sweep).exits(2).says(&["has no effect on `none`; add `--strategy`"]);
    }
    let varied = ["sweep", "--vary", "max-attempts=1,2", "--target", &url, "-c", "1"];
    loadgen(&varied).exits(2).says(&["`--max-attempts` has no effect on `none`"]);
    assert_eq!(server.work().len(), 0);
}

#[test]
fn a_sweep_has_the_same_default_strategy_as_a_run() {
    let server = failing_every_fifth();
    let url = server.url();
    let base = ["sweep", "--target", &url, "-c", "2", "--repeats", "1"];
    let strategies = |result: serde_json::Value| {
        let runs = result["runs"].as_array().unwrap().clone();
        runs.iter().map(|run| run["strategy"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let names =
        strategies(loadgen(&[&base[..], &["--vary", "ops=5,10", "--json", "-", "-q"]].concat()).json());
    assert!(!names.is_empty() && names.iter().all(|name| name == "none"), "{names:?}");
    let parameter = ["--vary", "aimd.beta=0.5,0.9", "--ops", "5", "--json", "-", "-q"];
    let names = strategies(loadgen(&[&base[..], &parameter].concat()).json());
    assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("aimd:beta=")), "{names:?}");
}

#[test]
fn mockservers_and_virtual_time_keep_aimd() {
    let server = MockServer::start(&["--time-scale", "0.1"]);
    let url = server.url();
    let small = ["--ops", "5"];
    assert_eq!(measure(&[&[&url, "--time-scale", "0.1"][..], &small].concat())["strategy"], "aimd");
    assert_eq!(measure(&[&["--simulate"][..], &small].concat())["strategy"], "aimd");
    let sweep = measure(&["sweep", "--simulate", "--vary", "ops=5", "--repeats", "1"]);
    assert_eq!(sweep["runs"][0]["strategy"], "aimd");
}

#[test]
fn a_url_needs_no_flag() {
    let server = ForeignServer::start(|_, connection| reply(connection, "200 OK", ""));
    let address = server.address.to_string();
    let port = server.address.port();
    let forms = [
        server.url(),
        address.clone(),
        format!("{address}/x?token=sesame"),
        format!("localhost:{port}/x"),
        format!("HTTP://{address}"),
    ];
    for url in &forms {
        for args in [&[url.as_str(), "-c", "1", "-n", "2"][..], &["-c", "1", "-n", "2", url]] {
            let result = measure(args);
            assert_eq!(count(&result, "/ops/succeeded"), 2, "{url}");
            assert!(!result.to_string().contains("sesame"), "{result}");
        }
    }
    assert_eq!(server.work().len(), 4 * forms.len());
    loadgen(&[&server.url(), "--simulate"]).exits(2).says(&["URL", "--simulate"]);
}
