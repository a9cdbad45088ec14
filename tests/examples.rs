//! The scripts of `examples/`. Each one must succeed, with both programs on the path.

use std::net::TcpListener;
use std::process::Command;

use crate::support::{Folder, bash, skipped};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

fn names(extension: &str) -> Vec<String> {
    let entries = std::fs::read_dir(EXAMPLES).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(extension)).collect()
}

#[test]
fn every_script_succeeds() {
    let has_curl = Command::new("curl").arg("--version").output().is_ok();
    let scripts = names(".sh");
    assert!(scripts.len() >= 7, "{scripts:?}");
    std::thread::scope(|scope| {
        for name in &scripts {
            let path = format!("{EXAMPLES}/{name}");
            if !has_curl && std::fs::read_to_string(&path).unwrap().contains("curl ") {
                skipped(&format!("{name} needs curl"));
                continue;
            }
            scope.spawn(move || {
                let left = bash(&Folder::new(), &[&path], &[("PORT", &free_port())]);
                assert_eq!(left.code, Some(0), "{name}: {left:?}");
                assert!(!left.stdout.is_empty(), "{name}");
            });
        }
    });
}

#[test]
fn the_readme_of_the_examples_lists_each_of_them() {
    let readme = std::fs::read_to_string(format!("{EXAMPLES}/README.md")).unwrap();
    for name in names(".sh").into_iter().chain(names(".yml")) {
        assert!(readme.contains(&format!("| [{name}]({name}) |")), "{name}");
    }
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}
