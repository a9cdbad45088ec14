//! Runs of bash scripts with both programs on the path.

use std::path::Path;
use std::process::{Command, Stdio};

use super::folder::Folder;
use super::program::Left;

/// Runs a script in this folder to its end. `words` are its path and its arguments. Variables override those of the test, and `PATH` also
/// the folder of both programs.
pub(crate) fn bash(folder: &Folder, words: &[&str], variables: &[(&str, &str)]) -> Left {
    let programs = Path::new(env!("CARGO_BIN_EXE_loadgen")).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.args(words).current_dir(folder.path("")).stdin(Stdio::null());
    let output = command.env("PATH", path).envs(variables.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Left { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
