//! `loadgen plot`: draws one plot of result files, as text or as SVG.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::StringValueParser;
use command_line::columns_of;
use dashboards::report::{Entry, PLOTS, Plot, exhibit_names, plain, plots_named, svg};
use shell::args::shell::{figures, suggesting};
use shell::files::documents::read;
use shell::files::output::{refuse_other_format, write};
use shell::text::to_people;
use shell::usage;
use vocabulary::did_you_mean;

const COLUMNS: usize = 100;

/// Arguments of `loadgen plot`: result documents, the plot to draw, and the output.
#[derive(Args, Debug)]
pub(crate) struct PlotArgs {
    /// Result documents, as for `loadgen report`.
    #[arg(required_unless_present = "list", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Name of the plot: one that `--list` shows, or one that the scenario defines.
    #[arg(short, long, value_name = "NAME", required_unless_present = "list",
          value_parser = suggesting(StringValueParser::new(), figures), hide_possible_values = true)]
    pub(crate) figure: Option<String>,

    /// Write the plot as SVG to a file, or to stdout with `-` [default: as text to stdout].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Text that precedes the title of the plot.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// List the available plots.
    #[arg(long)]
    pub(crate) list: bool,
}

pub(crate) fn run(args: &PlotArgs) -> anyhow::Result<ExitCode> {
    let Some(name) = args.figure.as_deref().filter(|_| !args.list) else {
        to_people(&list(), false)?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(path) = &args.output {
        refuse_other_format(
            path,
            &["svg"],
            "a plot in SVG, which other programs can convert to other formats",
        )?;
    }
    let document = read(&args.files)?;
    let mut plots = plots_named(&document, name);
    if plots.is_empty() {
        let own: Vec<&str> = exhibit_names(&document).collect();
        let known = || PLOTS.iter().map(|entry| entry.name).chain(own.iter().copied());
        let reason = match Entry::named(name) {
            Some(Entry { needs, .. }) => {
                format!("`{name}` (--figure) cannot be drawn: it needs {needs}")
            }
            None if own.contains(&name) => {
                format!("`{name}` (--figure) cannot be drawn, because the runs lack its data")
            }
            None => {
                let mut others: Vec<&str> =
                    own.iter().copied().filter(|own| Entry::named(own).is_none()).collect();
                others.dedup();
                let others = match others.join("`, `") {
                    none if none.is_empty() => String::new(),
                    some => format!(", and these files define `{some}`"),
                };
                let suggestion = did_you_mean(name, known());
                format!(
                    "unknown figure `{name}` (--figure){suggestion}; `loadgen plot --list` lists them{others}"
                )
            }
        };
        return Err(usage(reason));
    }
    for plot in &mut plots {
        entitle(plot, args.title.as_deref());
    }
    if let Some(path) = &args.output {
        write(path, svg(&plots).as_bytes())?;
    } else {
        let columns = columns_of(&io::stdout()).map_or(COLUMNS, |columns| columns.min(COLUMNS));
        to_people(&plain(&plots, u16::try_from(columns)?), false)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn entitle(plot: &mut Plot, title: Option<&str>) {
    let Some(title) = title else { return };
    let mut letters = plot.title.chars();
    let own: String = letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect();
    plot.title = format!("{title}: {own}");
}

fn list() -> String {
    PLOTS.iter().fold(String::new(), |mut text, Entry { name, summary, needs, .. }| {
        let _ = writeln!(text, "{name:<12} {summary} (from {needs})");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_words_precede_the_title() {
        let mut plot = Plot { title: "Ops done".to_owned(), ..Plot::default() };
        entitle(&mut plot, None);
        assert_eq!(plot.title, "Ops done");
        entitle(&mut plot, Some("GitHub"));
        assert_eq!(plot.title, "GitHub: ops done");
    }
}
