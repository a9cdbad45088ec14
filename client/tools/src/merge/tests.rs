//! Tests: merged documents equal the whole byte for byte, and invalid documents are refused before anything is written.

mod equality;
mod mutations;
mod refusals;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::commands::of_arguments;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn changed(&self, from: &str, to: &str, what: &str, by: &str) {
        let text = self.read(from);
        assert!(text.contains(what), "there is no `{what}` in {from}");
        fs::write(self.path(to), text.replacen(what, by, 1)).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn loadgen(typed: &[String]) -> anyhow::Result<ExitCode> {
    let quiet = typed.iter().cloned().chain(["--quiet".to_owned()]).map(OsString::from);
    of_arguments(&std::iter::once("loadgen".into()).chain(quiet).collect::<Vec<_>>())
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

fn with(typed: &[String], more: &[(&str, &Path)]) -> Vec<String> {
    let more = more.iter().flat_map(|(flag, path)| [(*flag).to_owned(), path.display().to_string()]);
    typed.iter().cloned().chain(more).collect()
}

fn shards(typed: &[String], of: u32, folder: &Folder) -> Vec<PathBuf> {
    let shard = |index| {
        let path = folder.path(&format!("{index}.json"));
        let typed = with(typed, &[("--shard", Path::new(&format!("{index}/{of}"))), ("--json", &path)]);
        assert_eq!(loadgen(&typed).unwrap(), ExitCode::SUCCESS, "shard {index} of {of}: {typed:?}");
        path
    };
    (0..of).map(shard).collect()
}

fn merge(files: &[PathBuf], more: &[(&str, &Path)]) -> anyhow::Result<ExitCode> {
    merge_as(&["merge"], files, more)
}

fn merge_partly(files: &[PathBuf], more: &[(&str, &Path)]) -> anyhow::Result<ExitCode> {
    merge_as(&["merge", "--partial"], files, more)
}

fn merge_as(command: &[&str], files: &[PathBuf], more: &[(&str, &Path)]) -> anyhow::Result<ExitCode> {
    let command = command.iter().map(ToString::to_string);
    let files = files.iter().map(|path| path.display().to_string());
    loadgen(&with(&command.chain(files).collect::<Vec<_>>(), more))
}
