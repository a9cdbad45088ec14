//! `loadgen plot`: one figure, as text or as SVG.

use std::fmt::Write as _;
use std::process::ExitCode;

use dashboards::report::{Entry, FIGURES, plain, svg};

use crate::args::PlotArgs;
use crate::exit::{Exit, Fatal};
use crate::output::to_stdout;
use crate::report::{read, write};

/// Columns of a figure as text.
const COLUMNS: u16 = 100;

pub(crate) fn run(args: &PlotArgs) -> anyhow::Result<ExitCode> {
    let entry = args.figure.as_deref().and_then(Entry::named);
    let Some(entry) = entry.filter(|_| !args.list) else {
        to_stdout(list().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let figures = (entry.draw)(&read(&args.files)?);
    if figures.is_empty() {
        let Entry { name, needs, .. } = entry;
        let told = format!("there is nothing to draw as `{name}` (--figure): it needs {needs}");
        return Err(Fatal::error(Exit::Usage, told));
    }
    match &args.output {
        Some(path) => write(path, svg(&figures).as_bytes())?,
        None => to_stdout(plain(&figures, COLUMNS).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> String {
    FIGURES.iter().fold(String::new(), |mut text, Entry { name, summary, needs, .. }| {
        let _ = writeln!(text, "{name:<12} {summary} (from {needs})");
        text
    })
}
