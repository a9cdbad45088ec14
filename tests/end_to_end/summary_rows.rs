//! Rows of a run's summary in 80 columns.

use crate::support::loadgen;

#[test]
fn a_row_that_does_not_fit_keeps_its_figures_apart_and_whole() {
    let args =
        ["--simulate", "-s", "full-jitter", "--kind", "read-modify-write", "--clients", "200", "--explain"];
    let text = loadgen(&args).exits(0).stdout;
    let server: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("  server")).take(3).collect();
    let figures: Vec<&str> = server.iter().flat_map(|line| line[13..].split("   ")).collect();
    assert_eq!(figures.len(), 6, "{figures:?}");
    for (figure, what) in
        figures.iter().zip(["received", "accepted", "rejected", "busy at most", "reads", "reads rejected"])
    {
        assert!(figure.contains(what), "{figure} is no `{what}`: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn more_busy_slots_than_the_cap_are_explained() {
    let text = loadgen(&["--simulate", "-s", "aimd", "--explain"]).exits(0).stdout;
    assert!(text.contains("busy at most 80 (50 accepted; rejections hold slots, too)"), "{text}");
    let text =
        loadgen(&["--simulate", "-s", "aimd", "--rejects-occupy", "false", "--explain"]).exits(0).stdout;
    assert!(text.contains("busy at most 50") && !text.contains("hold slots"), "{text}");
}
