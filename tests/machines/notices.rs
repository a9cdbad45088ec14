//! Test of THIRD-PARTY-NOTICES.txt: it contains the texts that the licences of the crates in both programs require,
//! taken from the crates' sources.
//!
//! `WRITE_NOTICES=1 cargo test --test programs notices` writes it anew. `NOTICES_PLATFORM` selects another platform, for releases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/THIRD-PARTY-NOTICES.txt");

/// Platform of the file in the repository.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Beginnings of the names of licence files, in lower case.
const BEGINNINGS: &[&str] = &["licen", "copying", "copyright", "notice", "unlicense"];

/// Depth to which the folders of a crate are searched. Some contain the code of others, with its licence beside it.
const DEPTH: usize = 4;

/// Beginning of the text of Apache-2.0 in every crate.
const APACHE: &str = "Apache License Version 2.0, January 2004";

const RULE: &str = "================================================================================";

struct Package {
    name: String,
    version: String,
    licence: String,
    authors: String,
    source: PathBuf,
}

#[test]
fn the_notices_are_those_of_what_the_programs_are_made_of() {
    let notices = notices();
    if std::env::var_os("WRITE_NOTICES").is_some() {
        fs::write(FILE, &notices).unwrap();
    }
    let written = fs::read_to_string(FILE).unwrap_or_default();
    let listed = |text: &str| text.lines().filter(|line| line.starts_with("* ")).map(str::to_owned).collect();
    let (expected, found): (BTreeSet<String>, BTreeSet<String>) = (listed(&notices), listed(&written));
    let missing: Vec<_> = expected.difference(&found).collect();
    let gone: Vec<_> = found.difference(&expected).collect();
    assert!(
        notices == written,
        "THIRD-PARTY-NOTICES.txt is not current (missing: {missing:?}, gone: {gone:?}); \
         `WRITE_NOTICES=1 cargo test --test programs notices` writes it anew"
    );
}

fn notices() -> String {
    let platform = std::env::var("NOTICES_PLATFORM").unwrap_or_else(|_| PLATFORM.to_owned());
    let packages = packages(&platform);
    assert!(packages.len() > 100, "{}", packages.len());
    let mut text = format!(
        "`loadgen` and `mockserver`, built for {platform}, contain Rust's standard library (The Rust Project\n\
         Contributors, MIT OR Apache-2.0), and the crates below or what these make while they are compiled. After the\n\
         list come the texts that the crates bring; equal ones stand once.\n\n"
    );
    // Texts that differ only in white space are equal.
    let mut texts: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let mut bare: Vec<String> = Vec::new();
    for Package { name, version, licence, authors, source } in &packages {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "* {name} {version}: {licence}{authors}");
        let files = licence_files(source, DEPTH);
        if files.is_empty() {
            // The text of this licence is the same in all crates, so any copy of it will do.
            let offered = licence.split(" OR ").any(|offered| offered == "Apache-2.0");
            assert!(offered, "{name} {version} brings no text of its licence ({licence})");
            bare.push(format!("{name} {version}"));
        }
        for file in files {
            let content = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            let key = content.split_whitespace().collect::<Vec<_>>().join(" ");
            let inside = file.strip_prefix(source).unwrap().display();
            let (_, users) = texts.entry(key).or_insert_with(|| (content, Vec::new()));
            users.push(format!("{name} {version} ({inside})"));
        }
    }
    if !bare.is_empty() {
        let bare = bare.join(", ");
        let _ = write!(
            text,
            "\nWithout a text of their own, under Apache-2.0, whose text stands below: {bare}\n"
        );
        assert!(texts.keys().any(|text| text.starts_with(APACHE)), "no crate brings the text of Apache-2.0");
    }
    for (content, users) in texts.into_values() {
        let lines: Vec<_> = content.trim_matches(['\n', '\r']).lines().map(str::trim_end).collect();
        let _ = write!(text, "\n{RULE}\n{}\n{RULE}\n\n{}\n", users.join("\n"), lines.join("\n"));
    }
    text
}

fn packages(platform: &str) -> Vec<Package> {
    let tree = cargo(&["tree", "--edges", "normal", "--prefix", "none", "--target", platform]);
    // `name v1.2.3 (more)`
    let needed: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| line.split_once(" v"))
        .map(|(name, rest)| (name, rest.split(' ').next().unwrap()))
        .collect();
    let metadata = cargo(&["metadata", "--format-version", "1", "--filter-platform", platform]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let own = &metadata["workspace_members"];
    let is_own = |package: &Value| own.as_array().unwrap().contains(&package["id"]);
    let mut packages: Vec<Package> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| !is_own(package))
        .map(Package::read)
        .filter(|package| needed.contains(&(&package.name[..], &package.version[..])))
        .collect();
    packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    packages
}

impl Package {
    fn read(package: &Value) -> Self {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let authors: Vec<_> =
            package["authors"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        Self {
            name: text("name"),
            version: text("version"),
            licence: text("license"),
            authors: if authors.is_empty() { String::new() } else { format!("; {}", authors.join(", ")) },
            source: Path::new(&text("manifest_path")).parent().unwrap().to_owned(),
        }
    }
}

fn cargo(args: &[&str]) -> String {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(args)
        .args(["--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn licence_files(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().to_lowercase();
        if path.is_dir() {
            if depth > 0 && !["target", "tests"].contains(&&name[..]) {
                found.extend(licence_files(&path, depth - 1));
            }
        } else if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            && path.extension().is_none_or(|kind| kind != "rs")
        {
            found.push(path);
        }
    }
    found
}
