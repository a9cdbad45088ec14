//! The simulator's code names no experiment, because scenarios are data.

use std::fs;
use std::path::Path;

fn scenarios(root: &Path) -> Vec<String> {
    let files = fs::read_dir(root.join("client/tools/reproduce/scenarios")).unwrap();
    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.map(|file| stem(&file.unwrap().path())).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[test]
fn no_scenario_is_named_in_the_simulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = scenarios(root);
    assert!(names.len() >= 5, "{names:?}");
    let mut folders = vec![root.join("client/sim/src")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { folders.push(entry) } else { sources.push(entry) }
        }
    }
    assert!(sources.len() >= 3, "{sources:?}");
    // Tests may use a strategy with the name of a scenario.
    for path in sources.into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = fs::read_to_string(&path).unwrap().to_lowercase();
        for name in &names {
            for word in [name.clone(), name.replace('-', "_"), name.replace('-', " ")] {
                assert!(!has_word(&text, &word), "{} names `{word}`", path.display());
            }
        }
    }
}

#[test]
fn words_end_where_letters_do() {
    assert!(has_word("// like occ, but", "occ") && has_word("occ", "occ"));
    assert!(!has_word("what occurs", "occ") && !has_word("soccer", "occ"));
}
