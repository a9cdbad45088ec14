//! `loadgen reproduce`: runs scenarios and judges whether the claims of their published sources hold.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod args;
mod overview;
mod recording;
pub mod reproduction;
mod runs;
pub mod scenario;
mod source;
mod table;
mod tally;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use overview::overview;
use results::Document;
use shell::exit::Exit;
use shell::files::exports::Exports;
use shell::runner::interrupt::{Interrupt, by_whom};
use shell::text::figures::counted;
use shell::text::stderr::to_stderr;
use shell::text::styled::to_people;
use shell::text::wrapping::wrapped;
use table::{claims_table, experiment_table};
use tally::conclusion;

use crate::reproduction::{Changes, Reproduction, Tally, document};
use crate::scenario::{EMBEDDED, Judged, Scenario};

pub use args::{EXAMPLES, ReproduceArgs};
pub use source::{Source, load};

pub fn run(args: &ReproduceArgs) -> anyhow::Result<ExitCode> {
    if args.list {
        return list(args);
    }
    let exports = Exports::prepare(&args.exports.asked, &[])?;
    let mut reproductions = Vec::new();
    for source in sources(args) {
        let (scenario, cells) = load(source, &args.set)?;
        let changes = Changes { repeats: args.repeats, seed: args.seed };
        reproductions.push(Reproduction::new(scenario, cells, changes));
    }
    let interrupt = Interrupt::listen()?;
    let started_at = args.http.then(experiments::runs::one_run::now);
    let planned = runs::run_all(&mut reproductions, args, &interrupt)?;
    let documents = reproductions.len();
    let mut planned = planned.into_iter();
    if interrupt.cause().is_some() {
        reproductions.retain(|reproduction| planned.next() == Some(reproduction.data.finished()));
    }
    if exports.have_document() && !args.http && interrupt.exit().is_none() {
        runs::record_all(&mut reproductions, args, &interrupt)?;
    }
    let stopped = interrupt.cause().map(|cause| {
        let complete = reproductions.len();
        format!(
            "stopped by {}: {complete} of {} were complete",
            by_whom(cause),
            counted(documents as u64, "document")
        )
    });
    if let Some((exit, stopped)) = interrupt.exit().zip(stopped.as_ref()).filter(|_| reproductions.is_empty())
    {
        to_stderr(&format!("{stopped}: nothing to report\n"));
        return Ok(exit.into());
    }
    let mut judged = Vec::new();
    let mut tally = Tally::default();
    for reproduction in &reproductions {
        let claims = reproduction.judged(args.http);
        tally.add(&claims);
        judged.push((reproduction, claims));
    }
    let text = match judged.as_slice() {
        [(only, claims)] => in_words(only, claims) + &conclusion(&tally),
        several => overview(several, &tally, args.explain.explain),
    };
    let stdout_is_claimed = exports.claim_stdout();
    exports.finish(|_| Document::Reproduction(document(&judged, &tally, started_at)))?;
    if !args.output.quiet {
        let stopped = stopped.map(|words| format!("! {words}, and only those count\n")).unwrap_or_default();
        to_people(&(text + &stopped), stdout_is_claimed)?;
    }
    if let Some(exit) = interrupt.exit() {
        return Ok(exit.into());
    }
    Ok(if tally.is_as_expected() { ExitCode::SUCCESS } else { Exit::Unmet.into() })
}

fn sources(args: &ReproduceArgs) -> Vec<Source<'_>> {
    let files = args.scenario.iter().map(|path| Source::File(Path::new(path)));
    let names = args.names.iter().map(|name| Source::Name(name));
    let asked: Vec<Source<'_>> = names.chain(files).collect();
    if !asked.is_empty() {
        return asked;
    }
    EMBEDDED.iter().map(|(name, _)| Source::Name(name)).collect()
}

fn list(args: &ReproduceArgs) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for source in sources(args) {
        let (scenario, cells) = load(source, &args.set)?;
        let runs: u64 = cells.iter().map(|cell| u64::from(cell.settings.repeats)).sum();
        let Scenario { name, title, source, claim, .. } = &scenario;
        let ours = claim.iter().filter(|claim| claim.ours).count();
        let claims = match ours {
            0 => format!("{} claims", claim.len()),
            ours => format!("{} claims, and {ours} of this project", claim.len() - ours),
        };
        let _ = writeln!(text, "{name:<18} {title}\n{:<19}{source}; {claims}, {runs} runs", "");
    }
    to_people(&text, false)?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(reproduction: &Reproduction, judged: &[Judged<'_>]) -> String {
    let Reproduction { scenario, cells, data, .. } = reproduction;
    let Scenario { name, title, source, about, .. } = scenario;
    let mut text = format!("{name} · {title}\n");
    if !source.is_empty() {
        let _ = writeln!(text, "{}", wrapped(source, "", "  "));
    }
    if !about.is_empty() {
        let _ = writeln!(text, "\n{}", wrapped(about, "  ", "  "));
    }
    for (name, experiment) in &scenario.experiment {
        text.push_str(&experiment_table(scenario, name, experiment, cells, data));
    }
    text.push_str(&claims_table(judged));
    text
}
