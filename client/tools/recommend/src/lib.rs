//! `loadgen recommend`: names one setting for a client, over all servers that are plausible.
//!
//! Users rarely know a server's limits exactly. A setting is therefore chosen over many servers: the nominal server, the ends and corners
//! of the ranges that the user is unsure about, and a few servers drawn at random. The best setting for the nominal server alone can leave
//! most of the work undone on another plausible one.
//!
//! The search and its candidates, servers and ranges are free of IO. `Bench` makes the runs that the search requests.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod answer;
mod args;
mod bench;
mod budget;
mod candidate;
mod decision;
mod flags;
mod fresh;
mod lines;
mod look_up;
mod observed;
mod page;
mod range;
mod recommendation;
mod search;
mod searched;
mod servers;
mod text;
mod unsure;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use answer::Recommender;
use args::ChangedPart;
use bench::Bench;
use clap::ArgMatches;
use clap::parser::ValueSource;
use experiments::workload::Arrivals;
use flags::{Flags, NETWORK};
use shell::exit::{Exit, Fatal};
use shell::files::exports::distinct;
use shell::files::output::{Output, refuse_other_format};
use shell::runner::interrupt::Interrupt;
use shell::text::progress::Live;
use shell::text::styled::to_people;

use crate::candidate::Candidates;
use crate::observed::Goal;

pub use args::{COMMON_FLAGS, EXAMPLES, RecommendArgs};
pub use recommendation::Recommendation;

/// Least deviation of a request's network time from its mean if the network is not known.
const USUAL_NETWORK_SPREAD: Duration = Duration::from_millis(20);

pub fn run(args: &RecommendArgs, typed: &[OsString]) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    distinct([&args.json, &args.html].into_iter().flatten().map(PathBuf::as_path))?;
    let output =
        |path: &Option<PathBuf>, flag| path.as_deref().map(|path| Output::prepare(path, flag)).transpose();
    let (json, html) = (output(&args.json, "--json")?, output(&args.html, "--html")?);
    if let Some(path) = &args.html {
        refuse_other_format(path, &["html", "htm"], "an HTML page")?;
    }
    let matches = RecommendArgs::matches(typed)?;
    let today = text_of_strategy(&matches, args);
    let goal = goal(args)?;
    let is_change_given = matches.value_source("change") == Some(ValueSource::CommandLine);
    check(args, (&today, is_change_given), goal)?;
    let flags = Flags::given(&matches)?;
    let (experiments, server) = flags.experiments([(&args.strategy, None)])?;
    let (nominal, model) = (&experiments[0], server.model().expect("a simulated server has a model"));
    let (ranges, are_assumed) = unsure::ranges(args, &flags, model)?;
    let is_named = flags.value(NETWORK).is_some() || ranges.iter().any(|range| range.key == NETWORK);
    let least = if is_named { Duration::ZERO } else { USUAL_NETWORK_SPREAD };
    let network = (!unsure::is_none(args)).then_some((model.network_delay, least));
    let live = Live::new(!args.output.quiet);
    let seed_and_threads = (nominal.run.seed, args.output.threads);
    let bench = Bench::new(flags, ranges, goal, network, seed_and_threads, &interrupt, live)?;
    let recommender = Recommender {
        bench,
        args,
        today: &today,
        are_assumed,
        changes: Candidates {
            library: args.may(ChangedPart::Library) && !is_layered(args),
            workers: args.may(ChangedPart::Workers) && goal == Goal::Finish,
            rate: args.may(ChangedPart::Rate),
        },
    };
    let answer = recommender.recommend()?;
    let lines = text::answer(&answer, &recommender);
    // The progress line is erased before the answer is printed.
    drop(recommender);
    if let Some(json) = &json {
        let mut bytes = serde_json::to_vec(&answer.document)?;
        bytes.push(b'\n');
        json.write(&bytes)?;
    }
    if let Some(html) = &html {
        let page = page::page(&answer.document, &lines);
        html.write(page.as_bytes())?;
    }
    if !args.output.quiet {
        let stdout_is_claimed = [&json, &html].into_iter().flatten().any(Output::is_stdout);
        let settings = answer.document.library_settings.as_deref();
        to_people(&lines::screen(&lines, settings), stdout_is_claimed)?;
    }
    Ok(interrupt.exit().map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn text_of_strategy(matches: &ArgMatches, args: &RecommendArgs) -> String {
    let raw = matches.get_raw("strategy").and_then(|mut values| values.next());
    raw.map_or_else(|| args.strategy.to_string(), |text| text.to_string_lossy().trim().to_owned())
}

fn goal(args: &RecommendArgs) -> anyhow::Result<Goal> {
    let workload = &args.workload.0;
    let is_burst = workload.arrivals == Some(Arrivals::Burst);
    let words = match (workload.in_flight, &workload.rate) {
        (Some(_), _) if workload.duration.is_some() => {
            "`--in-flight` with `--duration` does as many ops as fit, so no setting finishes sooner; give `--ops` instead of `--duration`"
        }
        (Some(_), _) => return Ok(Goal::Finish),
        (None, Some(rate)) if rate.steady().is_none() => {
            "`--rate` must be one rate here, because a setting is searched for a steady load; give the rate of the stage that matters most"
        }
        (None, Some(_)) if !is_burst && workload.within.is_some() => return Ok(Goal::InTime),
        (None, Some(_)) if !is_burst => {
            "`--rate` needs `--within`, because late ops decide which setting is best; add for example `--within 5s`"
        }
        _ => {
            "the load is missing; add `--in-flight N` for N workers, or `--rate R --within TIME` for ops that arrive at a rate"
        }
    };
    Err(Fatal::error(Exit::Usage, words))
}

/// True if the strategy has several layers. It then has several libraries, and it is unknown which one the user can change.
fn is_layered(args: &RecommendArgs) -> bool {
    args.strategy.describe().iter().filter(|(name, _)| name.is_empty()).count() > 1
}

fn check(args: &RecommendArgs, (today, is_change_given): (&str, bool), goal: Goal) -> anyhow::Result<()> {
    let refuse = |words: &str| Err(Fatal::error(Exit::Usage, words));
    if args.target.is_some() {
        return refuse(
            "`--target` has no effect, because nothing is measured on a real server; describe the server with `--preset` or other flags",
        );
    }
    if args.strategy.needs_foreknowledge() {
        return refuse(
            "`oracle` cannot be a client's setting, because it knows the server's schedule; choose another strategy",
        );
    }
    let library_is_given = is_change_given && args.may(ChangedPart::Library);
    if is_layered(args) && library_is_given {
        return refuse(&format!(
            "`{today}` has several layers, so `--change library` does not say which library changes; name one layer, or leave out `library`"
        ));
    }
    if args.change.iter().all(|part| *part == ChangedPart::Workers) && goal == Goal::InTime {
        return refuse(
            "`--change workers` needs `--in-flight`, because ops that arrive at a rate have no workers",
        );
    }
    Ok(())
}
