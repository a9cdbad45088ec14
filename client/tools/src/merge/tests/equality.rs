//! A merged document equals the document of the undivided command but for the command line, for random commands.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::merge::tests::{Folder, loadgen, merge, shards, with, words};

const STRATEGIES: &[&str] = &[
    "aimd",
    "aimd:beta=0.73,initial=3",
    "full-jitter:base=11ms",
    "none",
    "oracle",
    "fixed-window:window=7+retry-budget:ratio=0.3",
    "exponential:jitter=0.5,max-attempts=4",
    "preset:dotnet-standard",
];

const SETTINGS: &[&str] = &[
    "",
    "--clients 3 --deadline 900ms",
    "--max-attempts 3 --within 700ms",
    "--loss 0.03 --timeout 333ms",
    "--service-time lognormal(87ms,0.37) --network-delay uniform(1ms,9ms) --retry-after 1s",
    "--policy token-bucket:rate=33.3/s,burst=5 --clients 2 --share-strategy",
    "--in-flight 9 --duration 3s",
    "--arrivals burst --max-busy 3 --rejects-occupy false",
];

type Command = (String, u64, u32);

fn commands() -> impl Strategy<Value = (Command, u32)> {
    let setting = select(SETTINGS);
    let seed = prop_oneof![0..9_u64, Just(u64::MAX - 1)];
    // Oracles have no schedule for some servers.
    let strategies = subsequence(STRATEGIES.to_vec(), 2..=4);
    let plain = subsequence(STRATEGIES.to_vec(), 1..=2);
    let by = select(&["makespan", "attempts", "p99"][..]);
    let ops = 5..60_u32;
    (0..3, setting, seed, strategies, plain, by, ops, 1..=6_u32, any::<bool>(), 1..=7_u32).prop_map(
        |(command, setting, seed, several, few, by, ops, repeats, sensitivity, of)| {
            let known = |names: Vec<&str>| {
                let unplannable = setting.contains("policy") || setting.contains("loss");
                let names: Vec<&str> = names
                    .into_iter()
                    .map(
                        |name| {
                            if unplannable && name == "oracle" { "immediate:max-attempts=2" } else { name }
                        },
                    )
                    .collect();
                names.join(",")
            };
            let ops = if setting.contains("duration") { String::new() } else { format!("--ops {ops}") };
            let common = format!("--simulate {setting}");
            let typed = match command {
                0 => format!("{common} {ops} --strategy {}", known(few[..1].to_vec())),
                1 => {
                    let sensitivity =
                        if sensitivity && !setting.contains("policy") { "--sensitivity" } else { "" };
                    format!("compare {common} {ops} --by {by} --strategies {} {sensitivity}", known(several))
                }
                _ => {
                    let axes = match (setting.contains("duration"), sensitivity) {
                        (true, _) => "--vary clients=2,5",
                        (false, true) => "--vary ops=7,19,40 --vary reject-time=5ms,20ms",
                        (false, false) => "--vary ops=7,19,40",
                    };
                    format!("sweep {common} {axes} --by {by} --strategies {}", known(few))
                }
            };
            ((typed, seed, repeats), of)
        },
    )
}

/// Returns the text of a file without the flags that a merge leaves out of the command line.
fn without(text: &str, flags: &[String]) -> String {
    let forms =
        |flag: &String| [format!(",\"{flag}\""), format!(",\n    &quot;{flag}&quot;"), format!(" {flag}")];
    flags.iter().flat_map(forms).fold(text.to_owned(), |text, form| text.replace(&form, ""))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn merged_documents_are_the_whole_to_the_byte_but_for_the_command_line(
        ((typed, seed, repeats), of) in commands(),
        first in 1..6_u32,
    ) {
        let folder = Folder::new();
        let flags = |seed: u64, repeats: u32| vec![format!("--seed={seed}"), format!("--repeats={repeats}")];
        let typed = |flags: Vec<String>| words(&typed).into_iter().chain(flags).collect::<Vec<_>>();
        let outputs = |name: &str| ["json", "csv", "html"].map(|end| folder.path(&format!("{name}.{end}")));
        let to_all = |name: &str| {
            let [json, csv, html] = outputs(name);
            [("--json", json), ("--csv", csv), ("--html", html)]
        };
        let whole = to_all("whole");
        let whole: Vec<_> = whole.iter().map(|(flag, path)| (*flag, path.as_path())).collect();
        let whole = loadgen(&with(&typed(flags(seed, repeats)), &whole)).unwrap();
        let mut divided = Vec::new();
        // A shard records `--sensitivity` in its command line, which in this test is that of the test.
        if !typed(Vec::new()).contains(&"--sensitivity".to_owned()) {
            divided.push(shards(&typed(flags(seed, repeats)), of, &folder));
        }
        // Seeds that wrap around are consecutive only in shards, which have the number of their blocks.
        if first < repeats && seed < 9 {
            let parts = [(seed, first), (seed + u64::from(first), repeats - first)];
            divided.push(parts.iter().map(|(seed, repeats)| {
                let path = folder.path(&format!("from-{seed}.json"));
                loadgen(&with(&typed(flags(*seed, *repeats)), &[("--json", &path)])).unwrap();
                path
            }).rev().collect());
        }
        for files in divided {
            let [json, csv, html] = outputs("merged");
            let merged = merge(&files, &[("--output", &json), ("--csv", &csv), ("--html", &html)]).unwrap();
            prop_assert_eq!(merged, whole);
            for end in ["json", "csv", "html"] {
                let [merged, whole] = ["merged", "whole"].map(|name| folder.read(&format!("{name}.{end}")));
                prop_assert!(merged == without(&whole, &flags(seed, repeats)), "{} differs", end);
            }
        }
    }
}
