//! Low limits of the system. On open files: the number of connections stays below it, they are reused, and the run reports the limit that
//! it needs. On processes and memory: fewer threads run, or the error names the limit.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::support::{Folder, MockServer, skipped};

fn limited(limits: &str) -> (Value, String) {
    limited_with(limits, "--reject-status 503")
}

fn limited_with(limits: &str, flags: &str) -> (Value, String) {
    let script = format!(
        "ulimit {limits}; exec {} --strategy aimd --ops 200 --time-scale 0.1 {flags} --no-tui --explain --json -",
        env!("CARGO_BIN_EXE_loadgen")
    );
    let left = Command::new("bash").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8(left.stderr).unwrap();
    assert!(left.status.success(), "{said}");
    let words: Vec<&str> = said.split_whitespace().collect();
    (serde_json::from_slice(&left.stdout).unwrap(), words.join(" "))
}

/// The run reports the limit that it needs, before it starts and in its warnings.
#[test]
fn under_64_open_files_connections_are_reused() {
    let (result, said) = limited("-n 64");
    assert_eq!(result["ops"]["succeeded"], 200);
    // No connection is opened beyond the limit, so nothing fails, and all available files are used.
    assert_eq!(result["attempts"]["failed"], 0);
    let connections = result["generator"]["connections"].as_u64().unwrap();
    assert!((8..=32).contains(&connections), "{connections}");
    // 200 ops on this number of connections take some 10 s. On a single connection they took minutes.
    assert!(result["makespan_s"].as_f64().unwrap() < 60.0, "{}", result["makespan_s"]);
    let before = said.find("this run may use 128 at once").expect("it warns before it runs");
    assert!(before < said.find("ops done in").unwrap(), "{said}");
    assert!(said.contains("the limit of 64 open files allows") && said.contains("run `ulimit -n"), "{said}");
    let warnings = result["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning.as_str().unwrap().contains("`ulimit -n")), "{warnings:?}");
}

/// Before the run it opens no more connections than there are files, so no attempt fails.
#[test]
fn under_64_open_files_a_burst_opens_few_connections() {
    let server = MockServer::start(&["--time-scale", "0.1"]);
    for flags in [
        "--arrivals burst --reject-status 503".to_owned(),
        format!("--arrivals burst --target {}", server.url()),
    ] {
        let (result, said) = limited_with("-n 64", &flags);
        assert_eq!(result["ops"]["succeeded"], 200, "{said}");
        assert_eq!(result["attempts"]["failed"], 0, "{said}");
    }
}

#[test]
fn a_soft_limit_is_raised_and_is_no_reason_to_warn() {
    let (result, said) = limited("-Sn 64");
    assert_eq!(result["ops"]["succeeded"], 200);
    assert!(!said.contains("open files"), "{said}");
}

#[test]
fn connections_that_faults_have_closed_are_not_in_use() {
    // Most of the 60 concurrent connections are closed again and again, so more are opened in total than may be open at once.
    let script = format!(
        "ulimit -n 256; exec {} --in-flight 60 --ops 300 -s constant:delay=10ms --fault close:70% --time-scale 0.2 --no-tui --json -",
        env!("CARGO_BIN_EXE_loadgen")
    );
    let left = Command::new("bash").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8(left.stderr).unwrap();
    let result: Value = serde_json::from_slice(&left.stdout).unwrap();
    let generator = |key: &str| result["generator"][key].as_u64().unwrap();
    assert!(generator("connections") > 256, "{}", result["generator"]);
    assert!(!said.contains("ulimit"), "60 were in flight, and there is room for 100: {said}");
}

#[test]
fn a_limit_that_leaves_room_for_no_run_at_all_is_named() {
    let script = format!("ulimit -n 10; exec {} --ops 20 --no-tui", env!("CARGO_BIN_EXE_loadgen"));
    let left = Command::new("bash").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8(left.stderr).unwrap();
    assert!(left.status.code() == Some(2) && said.contains("`ulimit -n 1024`"), "{said}");
}

const COMMANDS: [&str; 4] = [
    "--ops 20 --no-tui",
    "compare --simulate --strategies aimd,none --ops 20 --repeats 2",
    "compare --strategies none,aimd --ops 20 --time-scale 0.01",
    "judge --only 404 -- true {url}",
];

/// Runs each command within the limits. It completes, or it fails with a documented code and names the limit.
fn completes_or_names_the_limit(loadgen: &str, limits: &str, names: &str) {
    for command in COMMANDS {
        let script = format!("ulimit -c 0 {limits} && exec {loadgen} {command}");
        let left = Command::new("bash").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&left.stderr);
        let sent_nothing = left.status.code() == Some(1) && said.contains("no request reached");
        let is_named = matches!(left.status.code(), Some(2 | 69)) && said.contains(names);
        assert!(
            left.status.success() || sent_nothing || is_named,
            "{limits}, {command}: {}: {said}",
            left.status
        );
    }
}

#[test]
fn no_limit_on_open_files_ends_a_command_with_a_panic() {
    for files in 5..=16 {
        completes_or_names_the_limit(env!("CARGO_BIN_EXE_loadgen"), &format!("-n {files}"), "`ulimit -n");
        let script = format!(
            "ulimit -n {files}; exec timeout 0.3 {} --listen 127.0.0.1:0",
            env!("CARGO_BIN_EXE_mockserver")
        );
        let left = Command::new("bash").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&left.stderr);
        let is_named = left.status.code() == Some(2) && said.contains("`ulimit -n");
        assert!(left.status.code() == Some(124) || is_named, "{files}: {}: {said}", left.status);
    }
}

/// Only root can become a user without any other process. For other users, the limit counts the processes of the whole session.
#[test]
fn no_limit_on_processes_ends_a_command_with_a_panic() {
    if !rustix::process::geteuid().is_root() || Command::new("setpriv").arg("--version").output().is_err() {
        skipped("it needs root and setpriv");
        return;
    }
    let folder = Folder::new();
    let program = folder.path("loadgen");
    std::fs::copy(env!("CARGO_BIN_EXE_loadgen"), &program).unwrap();
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program.parent().unwrap(), readable).unwrap();
    let as_user = format!("setpriv --reuid 54321 --clear-groups {}", program.display());
    for processes in 1..=8 {
        completes_or_names_the_limit(&as_user, &format!("-u {processes}"), "`ulimit -u`");
    }
}

/// The memory has room for few of the 64 threads, so the others run the same jobs. Below 160 MB, it may lack room for the program itself.
#[test]
fn simulated_runs_need_no_more_threads_than_the_memory_has_room_for() {
    let result = |kibibytes: &str, threads: u8| {
        let script = format!(
            "ulimit -v {kibibytes}; exec {} compare --simulate --strategies aimd,none --ops 50 --repeats 20 --threads {threads} -q --json -",
            env!("CARGO_BIN_EXE_loadgen")
        );
        let left = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert!(left.status.success(), "{kibibytes}: {}", String::from_utf8_lossy(&left.stderr));
        left.stdout
    };
    let all = result("unlimited", 2);
    for kibibytes in ["200000", "300000", "500000"] {
        assert!(result(kibibytes, 64) == all, "{kibibytes}");
    }
}
