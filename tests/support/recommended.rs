//! Answers of `loadgen recommend`, each made once for all tests that read it.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use serde_json::Value;

use super::folder::Folder;

pub(crate) struct Recommended {
    pub(crate) text: String,
    pub(crate) document: Value,
}

/// Returns the answer to a command without its outputs, such as `["recommend", "--strategy", …]`.
pub(crate) fn recommended(words: &[&str]) -> &'static Recommended {
    static DONE: Mutex<BTreeMap<Vec<String>, &'static OnceLock<Recommended>>> = Mutex::new(BTreeMap::new());
    let key = words.iter().map(|word| (*word).to_owned()).collect();
    let answer = *DONE.lock().unwrap().entry(key).or_insert_with(|| Box::leak(Box::default()));
    answer.get_or_init(|| {
        let folder = Folder::new();
        let text = folder.loadgen_words(&[words, &["--json", "answer.json"]].concat()).exits(0).stdout;
        Recommended { text, document: serde_json::from_str(&folder.read("answer.json")).unwrap() }
    })
}
