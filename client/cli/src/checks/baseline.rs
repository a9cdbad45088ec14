//! Baseline files: reads an existing baseline, writes a new one, and prepares its path.

use std::fs::{self, File};
use std::io::Read;

use anyhow::anyhow;
use results::Baseline;

use crate::args::BaselineName;
use crate::exit::{Exit, Fatal};
use crate::files::output::Output;

/// Maximum size of a baseline file in bytes. Larger files are rejected, because a file given by mistake must not fill the memory.
const MAX_BYTES: u64 = 256 << 20;

pub(super) fn read(BaselineName(path): &BaselineName) -> anyhow::Result<Baseline> {
    let shown = path.display();
    let refuse = |why: anyhow::Error| {
        Fatal::because(Exit::Usage, format!("`{shown}` (--baseline) cannot be used"), why)
    };
    let file = File::open(path).map_err(|error| {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let why = if missing {
            anyhow!("the file does not exist; create it with `--save-baseline`")
        } else {
            error.into()
        };
        refuse(why)
    })?;
    // The size limit is enforced while reading, because a device file may have no length and no end.
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refuse(error.into()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse(anyhow!("the file is too large for a baseline")));
    }
    let text = String::from_utf8(bytes).map_err(|error| refuse(error.into()))?;
    Baseline::read(&text).map_err(|error| refuse(error.into()))
}

pub(super) fn write(baseline: &Baseline, output: &Output) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(baseline)?;
    text.push('\n');
    output.write(text.as_bytes())
}

pub(super) fn place(BaselineName(path): &BaselineName) -> anyhow::Result<Output> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| {
            let words = format!("`{}` (--save-baseline) cannot be created", folder.display());
            Fatal::because(Exit::Output, words, error)
        })?;
    }
    Output::prepare(path, "--save-baseline")
}
