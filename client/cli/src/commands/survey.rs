//! `loadgen survey`: runs strategies against many servers drawn at random.

pub(crate) mod args;
mod plot;
mod rows;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args as _, Command, FromArgMatches as _};
use experiments::runs::blocks::BlockRun;
use experiments::runs::driver::Nobody;
use experiments::runs::in_turn::InTurn;
use experiments::runs::point::{Point, SweepPoint};
use experiments::runs::stop::Stop as _;
use experiments::runs::virtual_time::VirtualTime;
use experiments::survey::{MAX_ATTEMPTS_PER_OP, Run, Setting, Survey, Surveyed, settings};
use tailback::StrategySpec;

use super::compare;
use super::compare::args::CompareArgs;
use crate::commands::report::refuse_other_format;
use crate::exit::{Exit, Fatal};
use crate::files::exports::distinct;
use crate::files::output::Output;
use crate::runner::interrupt::Interrupt;
use crate::runner::multi_strategy::refuse_twice;
use crate::text::progress::Live;
use crate::text::styled::to_people;
use args::SurveyArgs;
use text::Judged;

pub(crate) fn run(args: &SurveyArgs) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    distinct([&args.json, &args.csv, &args.plot].into_iter().flatten().map(PathBuf::as_path))?;
    let output =
        |path: &Option<PathBuf>, flag| path.as_deref().map(|path| Output::prepare(path, flag)).transpose();
    let (json, csv, plot) =
        (output(&args.json, "--json")?, output(&args.csv, "--csv")?, output(&args.plot, "--plot")?);
    let outputs = [&json, &csv, &plot];
    if let Some(path) = &args.plot {
        refuse_other_format(path, &["svg"], "a plot in SVG")?;
    }
    let survey = match &args.from {
        Some(path) => read(path)?,
        None => conduct(args, &interrupt)?,
    };
    let judged = Judged::new(survey, &args.reference)?;
    if let Some(json) = &json {
        json.write(&rows::json(&judged)?)?;
    }
    if let Some(csv) = &csv {
        csv.write(&rows::csv(&judged)?)?;
    }
    if let Some(plot) = &plot {
        plot.write(plot::picture(&judged).as_bytes())?;
    }
    if !args.output.quiet {
        let stdout_is_claimed = outputs.into_iter().flatten().any(Output::is_stdout);
        to_people(&text::text(&judged, args.explain), stdout_is_claimed)?;
    }
    Ok(interrupt.exit().map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// Runs every strategy in every setting (a random server with a workload). After an interrupt, returns only the settings whose runs are all
/// complete.
fn conduct(args: &SurveyArgs, interrupt: &Interrupt) -> anyhow::Result<Survey> {
    let strategies: Vec<StrategySpec> = args.strategies.iter().flat_map(|list| list.0.clone()).collect();
    refuse_twice(&strategies)?;
    let names: Vec<String> = strategies.iter().map(ToString::to_string).collect();
    text::reference(&names, &args.reference)?;
    let drawn = drawn(args)?;
    let points = points(&drawn, &names, args.repeats)?;
    let driver = VirtualTime::on_threads(args.output.threads);
    let mut live = Live::new(!args.output.quiet);
    let mut settings = Vec::new();
    let in_turn = InTurn::new(points.iter().map(Point::blocks));
    in_turn.run(&driver, interrupt, &Nobody, &[], &mut |point, _, runs| {
        let setting = drawn[point].clone();
        settings.push(Surveyed { setting, runs: by_strategy(runs, names.len()) });
        live.line(|| format!("{} of {} settings", settings.len(), drawn.len()));
    })?;
    drop(live);
    if settings.is_empty() && interrupt.asked_by().is_some() {
        return Err(Fatal::error(
            interrupt.exit().unwrap_or(Exit::Usage),
            "interrupted before the first setting was complete",
        ));
    }
    let stopped_early = interrupt.asked_by().is_some();
    Ok(Survey { seed: args.seed, repeats: args.repeats, stopped_early, strategies: names, settings })
}

fn drawn(args: &SurveyArgs) -> anyhow::Result<Vec<Setting>> {
    let mut drawn = settings(args.seed, args.concurrency_limits, args.rate_limits);
    let refuse = |words: String| Err(Fatal::error(Exit::Usage, words));
    if drawn.is_empty() {
        return refuse(
            "`--concurrency-limits 0` and `--rate-limits 0` leave no setting; draw at least one".to_owned(),
        );
    }
    if let Some(unknown) = args.settings.iter().find(|number| **number >= drawn.len() as u64) {
        let last = drawn.len() - 1;
        return refuse(format!(
            "there is no setting number `{unknown}` (--settings); settings are numbered from 0 to {last}"
        ));
    }
    if !args.settings.is_empty() {
        drawn.retain(|setting| args.settings.contains(&setting.number));
    }
    Ok(drawn)
}

/// Returns one point for each drawn setting of a survey. The experiments of a point are those that `loadgen compare` would run with the
/// flags of the setting.
fn points(drawn: &[Setting], strategies: &[String], repeats: u32) -> anyhow::Result<Vec<Point>> {
    let mut command = CompareArgs::augment_args(Command::new("compare"));
    let (list, repeats) = (strategies.join(","), repeats.to_string());
    let common = ["compare", "--simulate", "--strategies", &list, "--repeats", &repeats];
    drawn
        .iter()
        .map(|setting| {
            let words = common.into_iter().chain(setting.words());
            let matches = command.try_get_matches_from_mut(words)?;
            let (mut experiments, server_under_test) =
                compare::experiments(&CompareArgs::from_arg_matches(&matches)?)?;
            for experiment in &mut experiments {
                experiment.run.max_attempts_per_op = Some(MAX_ATTEMPTS_PER_OP);
            }
            let (at, situation) = (Vec::new(), SweepPoint::default());
            Ok(Point { at, situation, experiments, server_under_test })
        })
        .collect()
}

fn by_strategy(runs: Vec<BlockRun>, strategies: usize) -> Vec<Vec<Run>> {
    let mut all = vec![Vec::new(); strategies];
    for run in runs {
        all[run.strategy].push(Run::new(&run.finished.result));
    }
    all
}

fn read(path: &Path) -> anyhow::Result<Survey> {
    let refuse = |why: String| {
        let words = format!(
            "`{}` (--from) is not a survey: {why}; `loadgen survey --json FILE` writes one",
            path.display()
        );
        Fatal::error(Exit::Usage, words)
    };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    let survey: Survey = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
    survey.validate().map_err(refuse)?;
    Ok(survey)
}
