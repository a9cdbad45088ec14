//! Checks the figures of virtual time on the page about servers, which are the reproducible part of `benches/real_servers.py`.

use crate::support::{count, loadgen};

/// Flags of `benches/real_servers.py`.
const OURS: [&str; 13] = [
    "--network-delay",
    "0",
    "--reject-time",
    "0",
    "--rejects-occupy",
    "false",
    "--service-time",
    "500ms",
    "--advice",
    "none",
    "--simulate",
    "--delay-noise",
    "0",
];

#[test]
fn the_figures_of_virtual_time_beside_real_servers_are_current() {
    let root = env!("CARGO_MANIFEST_DIR");
    let page = std::fs::read_to_string(format!("{root}/docs/servers.md")).unwrap();
    let script = std::fs::read_to_string(format!("{root}/benches/real_servers.py")).unwrap();
    let (_, section) = page.split_once("\n## Against the real servers\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    assert!(section.contains(&OURS[..10].join(" ")));
    let rows: Vec<Vec<&str>> = section.lines().filter(|line| line.starts_with("| ")).map(cells).collect();
    let policy = |case: &str| {
        let row = rows.iter().find(|row| row.len() == 3 && row[0] == case);
        row.unwrap_or_else(|| panic!("the page does not tell the policy of `{case}`"))[2]
    };
    let results: Vec<&Vec<&str>> = rows.iter().filter(|row| row.len() == 12 && row[0] != "server").collect();
    assert!(!results.is_empty());
    for row in results {
        let (policy, strategy, seed) = (policy(row[0]), row[1], row[2]);
        assert!(script.contains(&format!("\"{policy}\"")), "{policy}");
        let load = ["--ops", "1000", "--rate", "200/s", "--json", "-", "--quiet"];
        let more = ["--policy", policy, "-s", strategy, "--seed", seed];
        let result = loadgen(&[&OURS[..], &load, &more].concat()).exits(0).json();
        let attempts = row[5].split(' ').next().unwrap();
        assert_eq!(count(&result, "/attempts/total").to_string(), attempts, "attempts: {row:?}");
        assert_eq!(count(&result, "/attempts/succeeded").to_string(), row[8], "accepted: {row:?}");
    }
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect()
}
