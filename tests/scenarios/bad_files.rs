//! Invalid scenario files, as the program refuses them. The individual errors are tested in `experiments`.

use crate::support::{Left, loadgen, written};

/// A valid scenario. Cases replace one of its lines.
const GOOD: &str = r#"name = "mine"
title = "Mine"
repeats = 1
[workload]
ops = 3
duration = "10s"
drain = "10s"
[server]
max_busy = 50
[strategies]
a = "immediate"
b = "exponential:base=50ms"
[experiment.main]
strategies = ["a", "b"]
vary = { max_busy = [10, 20] }
columns = [{ title = "attempts", figure = "attempts.total" }]
[[claim]]
says = "As many"
experiment = "main"
figure = "attempts.total"
of = "a"
at = 10
printed = "3"
"#;

fn run(contents: &[u8], settings: &[&str]) -> Left {
    let (_dir, path) = written(contents);
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let args: Vec<&str> =
        ["reproduce", "--scenario", path.to_str().unwrap(), "--quiet"].into_iter().chain(settings).collect();
    loadgen(&args)
}

fn lacking(left: &Left, words: &[&str]) -> Option<String> {
    let whole = words.iter().all(|word| left.stderr.contains(word));
    let sound = left.code == Some(2) && left.stdout.is_empty() && !left.stderr.contains("panicked");
    let short = left.stderr.len() < 2000;
    (!(whole && sound && short)).then(|| {
        let said: String = left.stderr.chars().take(600).collect();
        format!("wanted {words:?}, got exit {:?} and: {said}", left.code)
    })
}

#[test]
fn a_file_is_listed_like_the_embedded_scenarios() {
    let (_dir, path) = written(GOOD.as_bytes());
    let left = loadgen(&["reproduce", "--scenario", path.to_str().unwrap(), "--list"]).exits(0);
    assert_eq!(left.stdout.lines().count(), 2, "{}", left.stdout);
    assert!(left.stdout.starts_with("mine               Mine\n"), "{}", left.stdout);
    assert!(left.stdout.contains("1 claims, 4 runs"), "{}", left.stdout);
    loadgen(&["reproduce", "occ", "--list", "--scenario", "no-such-file"]).exits(2);
    assert_eq!(loadgen(&["reproduce", "occ", "--list"]).exits(0).stdout.lines().count(), 2);
}

#[test]
fn a_good_file_runs() {
    let left = run(GOOD.as_bytes(), &[]).exits(0);
    assert_eq!(left.stderr, "");
}

/// The message gives the place and a remedy.
#[test]
fn bad_lines_and_bad_settings_are_usage_errors() {
    let misspelt = GOOD.replace("repeats = 1", "repeets = 1");
    let left = run(misspelt.as_bytes(), &[]);
    assert_eq!(lacking(&left, &["mine.toml:3", "`repeets`", "did you mean `repeats`?"]), None);
    let figure = GOOD.replace("attempts.total", "attempts.totl");
    let left = run(figure.as_bytes(), &[]);
    assert_eq!(lacking(&left, &["mine.toml:16", "did you mean `attempts.total`?"]), None);
    let plot = format!("{GOOD}[plot.p]\ntitle = \"P\"\ndraw = \"cals\"");
    let left = run(plot.as_bytes(), &[]);
    assert_eq!(lacking(&left, &["did you mean `calls`?", "`per-client`"]), None);
    let left = run(GOOD.as_bytes(), &["server.max_bussy=3"]);
    assert_eq!(lacking(&left, &["--set server.max_bussy=3", "did you mean `max_busy`?"]), None);
}

#[test]
fn a_binary_file_is_refused() {
    let binary: Vec<u8> = (0..=255).cycle().take(4096).collect();
    assert_eq!(lacking(&run(&binary, &[]), &["mine.toml"]), None);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().join("none.toml"), dir.path().to_path_buf()] {
        let path = path.to_str().unwrap();
        let left = loadgen(&["reproduce", "--scenario", path]);
        assert_eq!(lacking(&left, &["cannot read", path, "--scenario"]), None);
    }
}
