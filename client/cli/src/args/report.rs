//! What `loadgen report` and `loadgen plot` can be told.

use std::path::PathBuf;

use clap::Args;
use clap::builder::StringValueParser;

use super::shell::{figures, suggesting};

pub(super) const EXAMPLES: &str = "\
Examples:
  loadgen --simulate --strategy aimd --repeats 30 --json aimd.json
  loadgen --simulate --strategy full-jitter --repeats 30 --json full-jitter.json
  loadgen report aimd.json full-jitter.json -o report.html
      one page that needs no network, for any browser
  loadgen reproduce --json all.json
  loadgen report all.json -o seeds.html

Exit codes: 0 done, 2 a file cannot be read or is no result, 74 output cannot be written.";

/// What is reported, and where to.
#[derive(Args, Debug)]
pub(crate) struct PageArgs {
    /// Results of `loadgen --json` or `loadgen reproduce --json`; `-` is stdin.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Where to write the page, or `-` for stdout.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Which figure is drawn, and where.
#[derive(Args, Debug)]
pub(crate) struct PlotArgs {
    /// Results, as for `loadgen report`.
    #[arg(required_unless_present = "list", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The figure's name: one of `--list`, or of a scenario's own figures.
    #[arg(short, long, value_name = "NAME", required_unless_present = "list",
          value_parser = suggesting(StringValueParser::new(), figures), hide_possible_values = true)]
    pub(crate) figure: Option<String>,

    /// Write it as SVG to a file, or to stdout with `-` [default: as text to stdout].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// List the figures.
    #[arg(long)]
    pub(crate) list: bool,
}
