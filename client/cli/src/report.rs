//! `loadgen report`: result files as one HTML page.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dashboards::report::{Document, page};

use crate::args::PageArgs;
use crate::exit::{Exit, Fatal};
use crate::output::{Output, to_stdout};

pub(crate) fn run(args: &PageArgs) -> anyhow::Result<ExitCode> {
    let document = read(&args.files)?;
    write(&args.output, page(&document).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the results, or says which file is none and where.
pub(crate) fn read(files: &[PathBuf]) -> anyhow::Result<Document> {
    let contents: Vec<(String, String)> = files.iter().map(|path| content(path)).collect::<Result<_, _>>()?;
    Document::read(&contents).map_err(|error| Fatal::error(Exit::Usage, error.to_string()))
}

fn content(path: &Path) -> anyhow::Result<(String, String)> {
    let mut bytes = Vec::new();
    let (name, read) = if path == Path::new("-") {
        ("stdin".to_owned(), io::stdin().lock().read_to_end(&mut bytes).map(drop))
    } else {
        (path.display().to_string(), fs::read(path).map(|there| bytes = there))
    };
    read.map_err(|error| Fatal::because(Exit::Usage, format!("`{name}` cannot be read"), error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Fatal::error(Exit::Usage, format!("`{name}`, byte {place}: it is no UTF-8 text, so no result"))
    })?;
    Ok((name, text))
}

/// Writes a picture or a page; what was there stays until all is written.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let output = Output::prepare(path, "--output")?;
    if output.is_stdout() {
        return to_stdout(bytes);
    }
    let mut file = output.open()?;
    output.complete(file.write_all(bytes).map(|()| file))
}
