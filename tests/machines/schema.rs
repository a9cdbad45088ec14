//! Tests of the published JSON schema: it accepts every output, and rejects damaged documents.

use serde_json::{Value, json};

use super::published::{assert_valid, schema, strict, validator, violations};
use crate::support::Folder;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let mut of_types = serde_json::to_string_pretty(&loadgen::schema()).unwrap();
    of_types.push('\n');
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/result.schema.json"), &of_types).unwrap();
        return;
    }
    let advice = "write it with `WRITE_DOCS=1 cargo test --test programs schema`";
    assert!(Folder::new().done("schema") == of_types, "docs/result.schema.json is not current; {advice}");
    assert!(jsonschema::draft202012::meta::is_valid(&schema()));
}

#[test]
fn every_run_is_as_the_schema_says() {
    let folder = Folder::new();
    let real = "--service-time 1ms --network-delay 0 --reject-time 0 --max-busy 5";
    for run in [
        "--simulate",
        "--simulate --strategy none",
        "--simulate --strategy full-jitter --clients 4 --deadline 5s --in-flight 9",
        "--simulate --kind read-modify-write --clients 5 --policy descriptor-pool",
        "--simulate --strategy aimd+retry-budget --loss 0.1 --timeout 2s",
        real,
    ] {
        let result = folder.done(&format!("--ops 60 --quiet --json - {run}"));
        assert_valid("RunResult", &json(&result));
    }
    let stalled = json(&folder.done("--simulate --strategy immediate --quiet --json -"));
    assert!(stalled["stalled_at_s"].is_number());
    assert_valid("RunResult", &stalled);
    for repeats in [2, 6, 25] {
        let several = folder.done(&format!("--simulate --ops 60 --repeats {repeats} --quiet --json -"));
        assert_valid("Repeats", &json(&several));
    }
    let config = json(&folder.done("--simulate --print-config"));
    assert_eq!(violations(&strict("ConfigRecord"), &config), Vec::<String>::new());
    folder.done(&format!("--strategy full-jitter --ops 60 {real} --quiet --samples a.ndjson"));
    folder.done(
        "--simulate --strategy full-jitter --ops 60 --loss 0.1 --timeout 2s --quiet --samples b.ndjson",
    );
    let sample = strict("Sample");
    for line in [folder.read("a.ndjson"), folder.read("b.ndjson")].iter().flat_map(|text| text.lines()) {
        assert_eq!(violations(&sample, &json(line)), Vec::<String>::new());
    }
}

#[test]
fn every_document_of_several_runs_is_as_the_schema_says() {
    let folder = Folder::new();
    for repeats in [1, 6] {
        let compare = "compare --simulate --ops 60 --strategies aimd,full-jitter,none,oracle --sensitivity --quiet --json -";
        assert_valid("Comparison", &json(&folder.done(&format!("{compare} --repeats {repeats}"))));
    }
    for axes in ["--vary ops=20,60", "--ops 60 --vary max-busy=5,50 --vary aimd.beta=0.5,0.9"] {
        let sweep = format!("sweep --simulate {axes} --strategies aimd,none --repeats 5 --quiet --json -");
        assert_valid("Sweep", &json(&folder.done(&sweep)));
    }
    let reproduce = "reproduce occ exploring-backoff retry-delays --repeats 1 --quiet --json -";
    let ended = folder.loadgen(reproduce);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    assert_valid("Reproduction", &json(&ended.stdout));
}

#[test]
fn what_is_damaged_is_refused() {
    let folder = Folder::new();
    let run = json(&folder.done("--simulate --ops 60 --quiet --json -"));
    let whole = validator(&schema());
    let refused = |document: &Value| !whole.is_valid(document);
    assert!(!refused(&run));
    // Keys that scripts rely on.
    let contract = "schema_version mode strategy seed config ops attempts amplification efficiency makespan_s \
                    optimal_makespan_s goodput_per_s op_latency_ms attempt_latency_ms stalled_at_s server generator series";
    for key in contract.split_whitespace() {
        let mut damaged = run.clone();
        damaged.as_object_mut().unwrap().remove(key).unwrap_or_else(|| panic!("{key} is missing"));
        assert!(refused(&damaged), "without {key}");
    }
    for (within, keys) in [
        ("/ops", "total succeeded given_up unfinished deferred"),
        ("/attempts", "total succeeded rejected failed cancelled shed"),
        ("/op_latency_ms", "count min mean stdev p50 p75 p90 p95 p99 p999 max"),
        ("/server", "received reads accepted rejected max_busy_seen max_accepted_seen"),
        ("/generator", "send_lag_ms cpu_s peak_rss_bytes"),
        ("/generator/send_lag_ms", "p50 p99 max"),
        ("/series/0", "t_s sent succeeded rejected in_flight window ssthresh server_busy"),
    ] {
        for key in keys.split_whitespace() {
            let mut damaged = run.clone();
            let holder = damaged.pointer_mut(within).unwrap().as_object_mut().unwrap();
            holder.remove(key).unwrap_or_else(|| panic!("{within}/{key} is missing"));
            assert!(refused(&damaged), "without {within}/{key}");
        }
    }
    for (place, nonsense) in [
        ("/schema_version", json!(2)),
        ("/mode", json!("imagined")),
        ("/seed", json!(-1)),
        ("/ops/total", json!("60")),
        ("/ops/total", json!(0.5)),
        ("/makespan_s", json!([])),
        ("/op_latency_ms", json!(null)),
        ("/server", json!(7)),
        ("/series", json!({})),
        ("/series/0/sent", json!(null)),
        ("/warnings", json!("none")),
    ] {
        let mut damaged = run.clone();
        *damaged.pointer_mut(place).unwrap() = nonsense.clone();
        assert!(refused(&damaged), "{place}: {nonsense}");
    }
    for document in [
        json!({}),
        json!([]),
        json!({ "runs": [] }),
        json!({ "scenarios": [] }),
        json!({ "runs": [run, 7], "summary": {} }),
    ] {
        assert!(refused(&document), "{:.80}", document.to_string());
    }
}
