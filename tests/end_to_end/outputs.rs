//! Invalid output files: reported before the run if possible, and otherwise the result is saved elsewhere.

use std::fs::File;
use std::io::{Read, copy, sink};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{
    Left, count, eventually, loadgen, loadgen_into, loadgen_redirected, shell, start_loadgen,
};

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
    assert!(left.stdout.contains("ops done in"), "the summary is there all the same");
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

/// Existing files and targets of links are not overwritten.
#[test]
fn a_rescued_result_goes_to_a_new_private_file() {
    let folder = tempfile::tempdir().unwrap();
    let trap = folder.path().join("trap");
    std::fs::write(&trap, "theirs").unwrap();
    // The first names that a program with this process id would choose are links to another file.
    let script = format!(
        "export TMPDIR='{0}'; ln -s '{1}' \"$TMPDIR/tailback-result-$$\"; ln -s '{1}' \"$TMPDIR/tailback-result-$$-1\"; \
         exec \"$0\" \"$@\"",
        folder.path().display(),
        trap.display()
    );
    let args = [&["--json", "/dev/full"], SHORT].concat();
    let left = shell(&script, &args).exits(74).says(&["was saved as `"]);
    let (_, rest) = left.stderr.split_once("was saved as `").unwrap();
    let rescued = Path::new(rest.split_once('`').unwrap().0);
    assert!(rescued.starts_with(folder.path()), "{rescued:?}");
    let found = std::fs::symlink_metadata(rescued).unwrap();
    assert!(found.is_file() && found.permissions().mode() & 0o777 == 0o600, "{found:?}");
    assert_eq!(std::fs::read_to_string(&trap).unwrap(), "theirs");
}

#[test]
fn a_rewritten_result_keeps_its_mode_and_links_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::create_dir(place("results")).unwrap();
    let (file, first, second) = (place("results/result.json"), place("first.json"), place("second.json"));
    std::os::unix::fs::symlink("results/result.json", &first).unwrap();
    std::os::unix::fs::symlink(&first, &second).unwrap();
    // In the first round, the links have no target.
    for mode in [None, Some(0o600), Some(0o664)] {
        if let Some(mode) = mode {
            std::fs::write(&file, "old").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        run_into(&second).exits(0);
        let result: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(count(&result, "/ops/succeeded"), 20);
        let found = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert!(mode.is_none_or(|mode| mode == found), "{found:o} instead of {mode:?}");
    }
    for link in [&first, &second] {
        assert!(std::fs::symlink_metadata(link).unwrap().is_symlink(), "{link:?}");
    }
    assert_eq!(std::fs::read_dir(place("results")).unwrap().count(), 1);
}

/// Files of running programs, and files that no program wrote, are kept.
#[test]
fn leftovers_of_killed_programs_are_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("samples.ndjson");
    let args = ["--max-busy", "10", "--ops", "100000", "--no-tui", "--samples", file.to_str().unwrap()];
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let killed = start_loadgen(&args);
    eventually("samples are written", || (killed.said().contains("ops") && names().len() == 1).then_some(()));
    killed.signal(rustix::process::Signal::KILL);
    assert_eq!(killed.finish().code, None);
    let left_over = names();
    // This file has a similar name, but no program wrote it.
    std::fs::write(folder.path().join(".samples.ndjson.mine.tmp"), "mine").unwrap();

    let alive = start_loadgen(&args);
    eventually("the run is under way", || alive.said().contains("ops").then_some(()));
    let of_alive = names();
    assert!(of_alive.len() == 2 && !of_alive.contains(&left_over[0]), "{left_over:?}, then {of_alive:?}");
    loadgen(&[SHORT, &["--samples", file.to_str().unwrap()]].concat()).exits(0);
    assert!(of_alive.iter().all(|name| names().contains(name)), "{of_alive:?}, then {:?}", names());
    drop(alive);
}

#[test]
fn a_closed_stdout_does_not_end_the_run() {
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
fn words_that_cannot_be_written_to_stderr_change_nothing() {
    let simulated = ["--simulate", "--max-busy", "10", "--ops", "20", "--json", "-"];
    let compared = [&["compare", "--strategies", "aimd,none", "--repeats", "2"][..], &simulated].concat();
    for args in [&[SHORT, &["--json", "-"]].concat()[..], &simulated, &compared] {
        for redirection in ["2>/dev/full", "2>&-"] {
            let left = loadgen_redirected(redirection, args).exits(0);
            assert!(left.json().is_object(), "{redirection}");
        }
    }
}

#[test]
fn a_result_for_a_closed_stdout_is_refused_before_anything_runs() {
    for flag in ["--json", "--csv", "--hdr", "--html"] {
        let args = [SHORT, &[flag, "-"]].concat();
        let left = loadgen_redirected(">&-", &args).exits(74).says(&[flag, "stdout", "closed"]);
        assert!(!left.stderr.contains("embedded"), "nothing has run: {}", left.stderr);
    }
    // Without a result on stdout, only an unread summary is lost.
    loadgen_redirected(">&-", SHORT).exits(0);
    loadgen_redirected(">/dev/null", &[SHORT, &["--json", "-"]].concat()).exits(0);
}

#[test]
fn a_summary_that_cannot_be_shown_does_not_cost_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    loadgen_into(full(), &[SHORT, &["--json", file.to_str().unwrap()]].concat()).exits(74);
    let result: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(count(&result, "/ops/succeeded"), 20);
}

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

#[test]
fn two_outputs_to_one_file_are_refused_even_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("a"), folder.path().join("b"));
    std::os::unix::fs::symlink("a", &link).unwrap();
    let [file, link] = [&file, &link].map(|path| path.to_str().unwrap());
    let args = ["--simulate", "--ops", "3", "--json", file, "--csv", link];
    loadgen(&args).exits(2).says(&["named for two outputs"]);
}

/// Returns the peak memory of `loadgen`, in bytes, when it begins to write a document of so many runs.
fn memory_with(repeats: u32) -> f64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(["--simulate", "--strategy", "aimd", "--ops", "5", "--quiet", "--json", "-", "--repeats"])
        .arg(repeats.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // The rest of the document does not fit into the pipe, so the program waits.
    stdout.read_exact(&mut [0]).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB")).unwrap();
    copy(&mut stdout, &mut sink()).unwrap();
    assert!(child.wait().unwrap().success());
    1024.0 * peak.trim().parse::<f64>().unwrap()
}

#[test]
fn a_hundred_thousand_runs_take_less_than_600_mb() {
    let [few, many] = [5_000, 15_000].map(memory_with);
    let all = few + 95_000.0 / 10_000.0 * (many - few);
    assert!(all < 600e6, "{few} and {many} bytes, so {all}");
}
