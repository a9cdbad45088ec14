//! The archives of a release, and the scripts of the actions that install and use them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Folder, Left, bash, count, request, skipped};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Path without the folder of both programs.
const SYSTEM: &str = "/usr/bin:/bin";

fn content(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

fn write_script(folder: &Folder, name: &str, text: &str) {
    folder.write(name, &format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(folder.path(name), PermissionsExt::from_mode(0o755)).unwrap();
}

/// Runs a script of the repository as a step of a job, with these variables on top.
fn step(folder: &Folder, script: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Left {
    let path = format!("{ROOT}/{script}");
    let place = |name| folder.path(name).into_os_string().into_string().unwrap();
    let runner = [
        ("RUNNER_TEMP", place("")),
        ("GITHUB_OUTPUT", place("output")),
        ("GITHUB_PATH", place("path")),
        ("GITHUB_STEP_SUMMARY", place("summary")),
        ("GITHUB_REPOSITORY", "owner/name".to_owned()),
    ];
    let runner = runner.iter().map(|(name, value)| (*name, &value[..]));
    bash(
        folder,
        &[&[&path[..]], arguments].concat(),
        &runner.chain(variables.iter().copied()).collect::<Vec<_>>(),
    )
}

fn this_target() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-gnu" };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// Packs an archive as release `v0.1.0` of `folder/releases`. Its programs only start those of the test, which are large.
fn release(folder: &Folder) -> String {
    std::fs::create_dir(folder.path("programs")).unwrap();
    write_script(folder, "programs/loadgen", &format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_loadgen")));
    write_script(
        folder,
        "programs/mockserver",
        &format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_mockserver")),
    );
    let (target, tag) = (this_target(), concat!("v", env!("CARGO_PKG_VERSION")));
    step(folder, ".ci/package", &[&target, "programs", &format!("releases/{tag}")], &[]).exits(0);
    format!("releases/{tag}/tailback-{}-{target}.tar.gz", &tag[1..])
}

fn install(folder: &Folder, tag: &str) -> Left {
    let releases = format!("file://{}", folder.path("releases").display());
    step(folder, "actions/install", &[tag, &releases], &[("PATH", SYSTEM)])
}

#[test]
fn the_archive_of_a_release_is_installed_by_the_action() {
    let folder = Folder::new();
    release(&folder);
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    install(&folder, tag).exits(0);
    let installed = folder.read("path");
    let installed = Path::new(installed.trim_end());
    for name in ["loadgen", "mockserver"] {
        let started = bash(&folder, &["-c", "\"$0\" --version", installed.join(name).to_str().unwrap()], &[]);
        assert_eq!(started.exits(0).stdout, format!("{name} {}\n", &tag[1..]));
    }
    for name in [
        "completions/loadgen.bash",
        "completions/mockserver.zsh",
        "man/loadgen-compare.1",
        "man/mockserver.1",
        "README.md",
        "THIRD-PARTY-NOTICES.txt",
    ] {
        assert!(installed.join(name).is_file(), "{name}");
    }
}

#[test]
fn an_archive_with_another_checksum_is_not_installed() {
    let folder = Folder::new();
    let archive = release(&folder);
    std::fs::copy(folder.path("programs/loadgen"), folder.path(&archive)).unwrap();
    let left = install(&folder, concat!("v", env!("CARGO_PKG_VERSION")));
    assert_ne!(left.code, Some(0), "{left:?}");
    assert!(!folder.files().contains(&"path".to_owned()));
}

#[test]
fn programs_on_the_path_are_not_installed_again() {
    let folder = Folder::new();
    let left = step(&folder, "actions/install", &["v0.0.0", "file:///nowhere"], &[]).exits(0);
    assert_eq!(left.stdout, "loadgen and mockserver are already on the path\n");
}

#[test]
fn one_program_on_the_path_does_not_stand_for_both() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("bin")).unwrap();
    write_script(&folder, "bin/loadgen", "exit 0");
    let path = format!("{}:{SYSTEM}", folder.path("bin").display());
    let left = step(&folder, "actions/install", &["v0.0.0", "file:///nowhere"], &[("PATH", &path)]);
    assert_ne!(left.code, Some(0), "{left:?}");
}

#[test]
fn the_action_starts_a_mockserver_that_outlives_its_step() {
    let folder = Folder::new();
    let flags = "--scale 0.02\n--service-time 'uniform(1ms, 2ms)'";
    step(&folder, "actions/start", &["127.0.0.1:0", "openai", flags], &[]).exits(0);
    let output = folder.read("output");
    let value = |key: &str| output.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    let address = value("url=http://").parse().unwrap();
    let served = request(address, "POST", "/v1/chat/completions", r#"{"max_tokens":1}"#);
    let stats = request(address, "GET", "/_mock/stats", "").json();
    kill_process(Pid::from_raw(value("process=").parse().unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(served.status, 200);
    assert_eq!(count(&stats, "/received"), 1);
    assert!(std::fs::read_to_string(value("log=")).unwrap().contains("openai (scale 0.02)"));
}

#[test]
fn a_mockserver_that_does_not_start_fails_the_step() {
    let left = step(&Folder::new(), "actions/start", &["127.0.0.1:0", "opnai", ""], &[]).exits(1);
    assert!(left.stdout.contains("did you mean `openai`?"), "{left:?}");
    left.says(&["mockserver does not listen"]);
    let quiet = step(&Folder::new(), "actions/start", &["127.0.0.1:0", "openai", "--quiet"], &[]).exits(2);
    quiet.says(&["leave out --quiet"]);
}

const FLAGS: &str = "--simulate --strategies full-jitter,aimd --ops 50 --repeats 2 --quiet";

/// Replaces `gh`: prints the content of `comments` for queries, and appends all arguments to `calls`.
fn compare(folder: &Folder, pull_request: &str, flags: &str) -> Left {
    compare_as(folder, "retries", pull_request, flags)
}

fn compare_as(folder: &Folder, name: &str, pull_request: &str, flags: &str) -> Left {
    acted(folder, "actions/compare/run", &[name, pull_request, flags])
}

fn acted(folder: &Folder, action: &str, words: &[&str]) -> Left {
    let gh = "case \"$*\" in *graphql*) cat comments ;; *) echo \"$@\" >> calls ;; esac";
    std::fs::create_dir(folder.path("bin")).unwrap();
    write_script(folder, "bin/gh", gh);
    let programs = Path::new(env!("CARGO_BIN_EXE_loadgen")).parent().unwrap().display();
    let path = format!("{}:{programs}:{SYSTEM}", folder.path("bin").display());
    step(folder, action, words, &[("PATH", &path)])
}

/// Returns a page of comments as GitHub answers the query. Each has its number, its text, and whether the token's user wrote it.
fn page(comments: &[(u64, &str, bool)]) -> String {
    let node = |(id, body, is_own): &(u64, &str, bool)| serde_json::json!({ "databaseId": id, "body": body, "viewerDidAuthor": is_own });
    let nodes: Vec<_> = comments.iter().map(node).collect();
    let comments = serde_json::json!({ "nodes": nodes, "pageInfo": { "hasNextPage": false } });
    serde_json::json!({ "data": { "repository": { "pullRequest": { "comments": comments } } } }).to_string()
}

fn has_jq() -> bool {
    let has_jq = std::process::Command::new("/usr/bin/jq").arg("--version").output().is_ok();
    if !has_jq {
        skipped("there is no jq");
    }
    has_jq
}

const NEW: &str = "api --method POST repos/owner/name/issues/7/comments --field body=@";

#[test]
fn the_table_is_commented_once_and_then_replaced() {
    const OWN: &str = "<!-- tailback: retries -->\n\nold table";
    const OTHER: &str = "<!-- tailback: retries of another -->";
    if !has_jq() {
        return;
    }
    let replaced = "api --method PATCH repos/owner/name/issues/comments/41 --field body=@";
    for (comments, call) in [
        (page(&[]), NEW),
        (
            page(&[(39, OTHER, true), (40, "hello", true)]) + &page(&[(41, OWN, true), (42, OWN, true)]),
            replaced,
        ),
    ] {
        let folder = Folder::new();
        folder.write("comments", &comments);
        compare(&folder, "7", FLAGS).exits(0);
        assert!(folder.read("summary").contains("| `aimd` |"));
        let calls = folder.read("calls");
        let (_, body) = calls.split_once(call).unwrap_or_else(|| panic!("{calls}"));
        let body = std::fs::read_to_string(body.trim_end()).unwrap();
        assert!(body.starts_with("<!-- tailback: retries -->\n\n"), "{body}");
        assert!(body.ends_with(&folder.read("summary")));
    }
}

/// A stranger's comment may begin with the marker, and quotes in the name are no part of the program that selects comments.
#[test]
fn no_comment_of_a_stranger_is_replaced_whatever_the_name() {
    if !has_jq() {
        return;
    }
    for name in ["retries", "\")) or true or (.body | contains(\"", "a\\b", "$marker"] {
        let folder = Folder::new();
        folder
            .write("comments", &page(&[(41, &format!("<!-- tailback: {name} -->"), false), (42, "", true)]));
        compare_as(&folder, name, "7", FLAGS).exits(0);
        assert!(folder.read("calls").starts_with(NEW), "{name}: {}", folder.read("calls"));
    }
}

#[test]
fn a_failed_check_fails_the_step_after_the_table() {
    let folder = Folder::new();
    compare(&folder, "", &format!("{FLAGS} --fail-if 'amplification > 0'")).exits(99);
    for text in ["| `aimd` |", "exited with 99"] {
        assert!(folder.read("summary").contains(text), "{text}");
    }
    assert!(!folder.files().contains(&"calls".to_owned()));
}

#[test]
fn a_comment_that_cannot_be_written_is_a_warning() {
    let folder = Folder::new();
    // Without the file `comments`, the replacement of `gh` fails.
    let left = compare(&folder, "7", FLAGS).exits(0);
    assert!(left.stdout.contains("::warning::the table is only in the summary"), "{left:?}");
}

#[test]
fn findings_of_a_judged_client_are_annotations_and_a_table() {
    if !has_jq() {
        return;
    }
    let folder = Folder::new();
    folder.write("comments", &page(&[]));
    // It retries 404, and asks for another percentage of the same call after it.
    folder.write("client.sh", "curl --silent \"$1/a?x=%25\" \"$1/a?x=%25\"");
    let client = folder.path("client.sh");
    let flags =
        format!("--quiet --only 404,400 --allow final-retried@400 -- bash '{}' {{url}}", client.display());
    let left = acted(&folder, "actions/judge/run", &["retries", "7", &flags]).exits(99);
    let line = "::error title=final-retried in 404::404: 404 was retried after ";
    assert!(left.stdout.contains(line) && !left.stdout.contains("in 400"), "{left:?}");
    let summary = folder.read("summary");
    assert!(summary.contains("1 failed, 0 warned, 0 passed, 0 skipped"), "{summary}");
    for row in ["| `404` | 404 | **FAIL** 404 was retried", "| `400` | 400 | allowed: 400 was retried"] {
        assert!(summary.contains(row), "{summary}");
    }
    assert!(folder.read("calls").starts_with(NEW));
    acted(&Folder::new(), "actions/judge/run", &["retries", "", "--only 404 -- true"]).exits(1);
}

#[test]
fn the_changelog_has_this_version_and_its_date() {
    let changes = step(&Folder::new(), ".ci/changes", &[env!("CARGO_PKG_VERSION")], &[]).exits(0);
    assert!(changes.stdout.contains("### Added"));
    let changelog = content("CHANGELOG.md");
    let heading = concat!("\n## [", env!("CARGO_PKG_VERSION"), "] - ");
    let (before, date) = changelog.split_once(heading).unwrap();
    assert!(before.contains("\n## [Unreleased]\n"));
    assert!(date.starts_with(|first: char| first.is_ascii_digit()));
    step(&Folder::new(), ".ci/changes", &["9.9.9"], &[]).exits(1).says(&["no section about 9.9.9"]);
    let linked =
        step(&Folder::new(), ".ci/changes", &[env!("CARGO_PKG_VERSION"), "https://x/y"], &[]).exits(0);
    assert!(linked.stdout.contains("](https://x/y/docs/judge.md)"), "{}", linked.stdout);
}

#[test]
fn the_image_is_built_with_the_toolchain_of_the_repository() {
    let toolchain = content("rust-toolchain.toml");
    let (_, channel) = toolchain.split_once("channel = \"").unwrap();
    let (channel, _) = channel.split_once('"').unwrap();
    assert!(content("Dockerfile").contains(&format!("\nFROM rust:{channel}-slim-bookworm AS build\n")));
}

#[test]
fn workflows_use_no_secrets_and_only_official_actions() {
    let workflows = std::fs::read_dir(format!("{ROOT}/.github/workflows")).unwrap();
    let workflows = workflows.map(|entry| entry.unwrap().path());
    let others = [
        "action.yml",
        "actions/compare/action.yml",
        "actions/judge/action.yml",
        "examples/github-actions.yml",
    ];
    for path in workflows.chain(others.iter().map(|name| Path::new(ROOT).join(name))) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("secrets"), "{}", path.display());
        for (_, used) in text.lines().filter_map(|line| line.split_once("uses: ")) {
            let official = used.strip_prefix("actions/").and_then(|rest| rest.split_once("@v"));
            let pinned = official.is_some_and(|(_, version)| version.parse::<u32>().is_ok());
            assert!(pinned || used.starts_with("./") || used.starts_with("OWNER/tailback"), "{used}");
        }
    }
}

#[test]
fn the_minimum_rust_of_the_workflow_is_that_of_the_packages() {
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(content(".github/workflows/ci.yml").contains(&format!("cargo +{version} check ")));
}
