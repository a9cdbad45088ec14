//! `loadgen report`: turns result files into one HTML report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use dashboards::report::html;
use shell::files::documents::read;
use shell::files::output::{refuse_other_format, write};
use shell::text::to_stderr;
use shell::usage;

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
        (None, _) => Err(usage("give the file of the report: --output report.html")),
    }
}
