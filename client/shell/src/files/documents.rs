//! Reading of result files for reports and plots.

use std::io;
use std::path::{Path, PathBuf};

use dashboards::report::Document;

use crate::files::reading::{LARGE, bytes, bytes_of};
use crate::{usage, usage_because};

pub fn read(files: &[PathBuf]) -> anyhow::Result<Document> {
    let contents: Vec<(String, String)> = files.iter().map(|path| content(path)).collect::<Result<_, _>>()?;
    Document::read(&contents).map_err(usage)
}

fn content(path: &Path) -> anyhow::Result<(String, String)> {
    let (name, read) = if path == Path::new("-") {
        ("stdin".to_owned(), bytes(io::stdin().lock(), LARGE))
    } else {
        (path.display().to_string(), bytes_of(path, LARGE))
    };
    let bytes = read.map_err(|error| usage_because(format!("`{name}` cannot be read"), error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        usage(format!("`{name}`, byte {place}: the file is not UTF-8 text, so it is not a result"))
    })?;
    Ok((name, text))
}
