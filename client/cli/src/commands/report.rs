//! `loadgen report`: turns result files into one HTML report.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use dashboards::report::{Document, html};

use crate::exit::{Exit, Fatal};
use crate::files::output::{Output, to_stdout};
use crate::files::reading::{LARGE, bytes, bytes_of};
use crate::text::stderr::to_stderr;

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen --simulate --strategy aimd --repeats 30 --json aimd.json
  loadgen --simulate --strategy full-jitter --repeats 30 --json jitter.json
  loadgen report aimd.json jitter.json -o report.html
      One page for any browser; it needs no network.
  loadgen reproduce --json all.json
  loadgen report all.json -o claims.html

Exit codes: 0 done; 2 a file cannot be read or is not a result; 74 output cannot be written.";

/// Arguments of `loadgen report`: result documents to show, and the output.
#[derive(Args, Debug)]
pub(crate) struct PageArgs {
    /// Documents of `loadgen --json` or `loadgen reproduce --json`; `-` is stdin.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// File of the HTML report, or `-` for stdout [default: the first FILE with the ending .html].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

pub(crate) fn run(args: &PageArgs) -> anyhow::Result<ExitCode> {
    let output = output(args)?;
    refuse_other_format(&output, &["html", "htm"], "an HTML report")?;
    let document = read(&args.files)?;
    write(&output, html(&document).as_bytes())?;
    if args.output.is_none() {
        to_stderr(&format!("wrote {}\n", output.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn output(args: &PageArgs) -> anyhow::Result<PathBuf> {
    match (&args.output, args.files.first()) {
        (Some(output), _) => Ok(output.clone()),
        (None, Some(file)) if file != Path::new("-") => Ok(file.with_extension("html")),
        (None, _) => Err(Fatal::error(Exit::Usage, "give the file of the report: --output report.html")),
    }
}

pub(crate) fn read(files: &[PathBuf]) -> anyhow::Result<Document> {
    let contents: Vec<(String, String)> = files.iter().map(|path| content(path)).collect::<Result<_, _>>()?;
    Document::read(&contents).map_err(|error| Fatal::error(Exit::Usage, error.to_string()))
}

fn content(path: &Path) -> anyhow::Result<(String, String)> {
    let (name, read) = if path == Path::new("-") {
        ("stdin".to_owned(), bytes(io::stdin().lock(), LARGE))
    } else {
        (path.display().to_string(), bytes_of(path, LARGE))
    };
    let bytes =
        read.map_err(|error| Fatal::because(Exit::Usage, format!("`{name}` cannot be read"), error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Fatal::error(
            Exit::Usage,
            format!("`{name}`, byte {place}: the file is not UTF-8 text, so it is not a result"),
        )
    })?;
    Ok((name, text))
}

pub(crate) fn refuse_other_format(path: &Path, ours: &[&str], what: &str) -> anyhow::Result<()> {
    const FORMATS: [&str; 20] = [
        "png", "jpg", "jpeg", "gif", "webp", "avif", "bmp", "tif", "tiff", "ico", "pdf", "ps", "eps", "svg",
        "html", "htm", "json", "csv", "md", "txt",
    ];
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let other = |extension: &str| FORMATS.contains(&extension) && !ours.contains(&extension);
    if !extension.as_deref().is_some_and(other) {
        return Ok(());
    }
    let words = format!(
        "`{}` (--output) would hold {what}; call it `{}`, or `-` for stdout",
        path.display(),
        path.with_extension(ours[0]).display()
    );
    Err(Fatal::error(Exit::Usage, words))
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let output = Output::prepare(path, "--output")?;
    if output.is_stdout() {
        return to_stdout(bytes);
    }
    let mut file = output.open()?;
    output.complete(file.write_all(bytes).map(|()| file))
}
