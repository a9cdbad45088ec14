//! `loadgen` against a scripted server, over HTTP and in virtual time: the same steps give the same counts.

use serde_json::Value;

use crate::support::{Folder, assert_conserved, count};

const STEPS: &str = r#"[
    {"status": 429, "headers": {"retry-after": "@date+0"}, "body": "{\"error\": \"slow, down\"}"},
    {"close": true},
    {"fault": "reset"},
    {"fault": "truncate:after", "body": "half of this"},
    {"fault": "reset:after"},
    {"status": 500},
    {"status": 200}
]"#;

fn run(folder: &Folder, more: &str) -> Value {
    let args = format!(
        "--strategy constant:delay=1ms,retry-after=ignore --ops 20 --arrivals burst --network-delay 0ms --json - {more}"
    );
    let left = folder.loadgen(&args).exits(0);
    assert_conserved(&left.json());
    left.json()
}

/// The result contains the steps, so repeating it needs no file.
#[test]
fn a_script_file_acts_alike_over_http_and_in_virtual_time() {
    let folder = Folder::new();
    folder.write("steps.json", STEPS);
    let from_file = "--policy script:file=steps.json";
    let simulated = run(&folder, &format!("--simulate {from_file}"));
    let real = run(&folder, from_file);
    for result in [&simulated, &real] {
        for (figure, value) in [
            ("/attempts/total", 140),
            ("/attempts/rejected", 20),
            ("/attempts/failed", 100),
            ("/ops/succeeded", 20),
            ("/server/accepted", 60),
            ("/server/rejected", 80),
        ] {
            assert_eq!(count(result, figure), value, "{figure}");
        }
    }
    assert_eq!(simulated["failures"], real["failures"]);
    let policy = &simulated["config"]["server_model"]["policy"];
    let steps = "script:steps=429 retry-after:@date%2B0 body:{\"error\":%20\"slow%2C%20down\"}|close|reset|truncate:after body:half%20of%20this|reset:after|500|200,by=op";
    assert_eq!(policy, steps);
    // The recorded policy needs no file.
    let repeated = folder.loadgen_words(&[
        "--strategy",
        "constant:delay=1ms,retry-after=ignore",
        "--ops",
        "20",
        "--arrivals",
        "burst",
        "--network-delay",
        "0ms",
        "--simulate",
        "--json",
        "-",
        "--policy",
        steps,
    ]);
    assert_eq!(count(&repeated.exits(0).json(), "/attempts/total"), 140);
}

#[test]
fn a_broken_script_is_refused_with_the_place() {
    let folder = Folder::new();
    folder.write("steps.json", "[{\"status\": 503},\n {\"status\": 5}]");
    folder
        .loadgen("--simulate --policy script:file=steps.json")
        .exits(2)
        .says(&["the script `steps.json`: step 2 of op 1: `status` is 5; it must be from 200 to 599"]);
}
