//! Where results go when their place is bad: told before the run if it can be known, rescued if not.

use std::fs::File;
use std::path::Path;

use serde_json::Value;

use crate::support::{Left, count, eventually, loadgen, loadgen_into, start_loadgen};

const SHORT: &[&str] = &["--max-busy", "10", "--ops", "20", "--time-scale", "0.05", "--no-tui"];

fn run_into(place: &Path) -> Left {
    loadgen(&[SHORT, &["--json", place.to_str().unwrap()]].concat())
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    for place in [folder.path().join("no-such-folder/result.json"), folder.path().to_owned()] {
        let left = run_into(&place).exits(74);
        assert_eq!(left.stdout, "");
        assert!(!left.stderr.contains("embedded"), "nothing has run: {}", left.stderr);
        left.says(&[place.to_str().unwrap(), "--json", "cannot be written"]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_result_that_does_not_fit_is_saved_elsewhere() {
    let left = run_into(Path::new("/dev/full")).exits(74).says(&["`/dev/full`", "--json", "was saved as `"]);
    assert!(left.stdout.contains("makespan"), "the summary is there all the same");
    let (_, rest) = left.stderr.split_once("was saved as `").unwrap();
    let (rescued, _) = rest.split_once('`').unwrap();
    let bytes = std::fs::read(rescued).unwrap();
    std::fs::remove_file(rescued).unwrap();
    let result: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(count(&result, "/ops/succeeded"), 20);
}

#[test]
fn an_old_result_stays_until_the_new_one_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    std::fs::write(&file, "old").unwrap();
    let args =
        ["--max-busy", "10", "--ops", "100000", "--service-time", "10m", "--json", file.to_str().unwrap()];
    let run = start_loadgen(&args);
    eventually("the run is under way", || run.said().contains("ops").then_some(()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
    run.signal(rustix::process::Signal::KILL);
    assert_eq!(run.finish().code, None);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
    run_into(&file).exits(0);
    let result: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(count(&result, "/ops/succeeded"), 20);
}

#[test]
fn an_old_result_that_may_not_be_changed_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    std::fs::write(&file, "old").unwrap();
    let mut permissions = std::fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&file, permissions).unwrap();
    run_into(&file).exits(74).says(&["cannot be written"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
}

#[test]
fn whoever_closes_stdout_ends_nothing() {
    for args in [&["strategies"][..], &["--print-config"], &[SHORT, &["--json", "-"]].concat(), SHORT] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let left = loadgen_into(writer, args).exits(0);
        assert!(!left.stderr.contains("panicked") && !left.stderr.contains("error"), "{args:?}: {left:?}");
    }
}

#[test]
fn a_full_stdout_is_an_error() {
    for args in [&[SHORT, &["--json", "-"]].concat()[..], SHORT, &["strategies"]] {
        loadgen_into(full(), args).exits(74).says(&["error: ", "stdout cannot be written"]);
    }
}

#[test]
fn a_summary_that_cannot_be_shown_does_not_cost_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    loadgen_into(full(), &[SHORT, &["--json", file.to_str().unwrap()]].concat()).exits(74);
    let result: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(count(&result, "/ops/succeeded"), 20);
}

/// A place where nothing can be written.
fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}
