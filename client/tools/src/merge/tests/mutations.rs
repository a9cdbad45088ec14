//! A mutated document is merged or refused as bad usage, and never causes a panic.

use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use shell::Exit;

use crate::merge::tests::{Folder, merge_partly, shards, words};

/// Small shards of every command. The sweep has one strategy and one point, so that no sensitivities are estimated.
static SHARDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let commands = [
        "--simulate --strategy none --ops 3 --repeats 2 --in-flight 1",
        "compare --simulate --strategies none,immediate --ops 3 --repeats 2",
        "sweep --simulate --strategies none --vary ops=3 --repeats 2",
    ];
    let shard = |command: &str| {
        let folder = Folder::new();
        fs::read(&shards(&words(command), 1, &folder)[0]).unwrap()
    };
    commands.into_iter().map(shard).collect()
});

const PIECES: &[&[u8]] = &[
    b"",
    b"0",
    b"9",
    b"-",
    b".",
    b"e",
    b"null",
    b"true",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"aimd",
    b"1e300",
    b"18446744073709551615",
    b"\xff",
    b"{}",
    b"[]",
    b"\"\"",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_changed_document_is_merged_or_refused(
        which in any::<Index>(),
        changes in proptest::collection::vec((any::<Index>(), 0..12_usize, any::<Index>()), 1..4),
    ) {
        let mut bytes = which.get(&SHARDS).clone();
        for (at, length, piece) in changes {
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, piece.get(PIECES).iter().copied());
        }
        let folder = Folder::new();
        fs::write(folder.path("changed.json"), &bytes).unwrap();
        let outputs = [("--output", folder.path("merged.json")), ("--html", folder.path("merged.html"))];
        let outputs: Vec<_> = outputs.iter().map(|(flag, path)| (*flag, path.as_path())).collect();
        if let Err(error) = merge_partly(&[folder.path("changed.json")], &outputs) {
            prop_assert_eq!(shell::exit::report(&error), Exit::Usage.into());
            prop_assert_eq!(folder.names(), ["changed.json"]);
        }
    }
}
