//! `loadgen compare`: runs several strategies with the same seeds and ranks them, with confidence intervals of their differences.

pub(crate) mod args;
mod explain;
mod screen;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use args::CompareArgs;
use dashboards::LanesHeader;
use experiments::Experiment;
use experiments::evaluation::comparison::Comparison;
use experiments::evaluation::sensitivity::{Variation, variations};
use experiments::record::config_record;
use experiments::runs::blocks::{BlockRun, Blocks};
use experiments::runs::one_run::Finished;
use experiments::runs::past::Past;
use experiments::runs::point::Point;
use experiments::servers::server_under_test::ServerUnderTest;
use results::{Document, Figure, Incomplete, Mode, RunFigures, RunResult, Score, names_remedy};
use shell::runner::experiment::workload_text;
use shell::runner::interrupt::by_whom;
use shell::runner::multi_strategy::{configured, refuse_twice};
use shell::screen::lanes;
use shell::text::{
    Column, LongNames, Styled, Table, at_least, counted, dash, seconds, terminal_width, thousands, wrapped,
};
use shell::{
    Board, CheckArgs, Checks, Exit, Exports, Failures, Merging, Output, Runner, exit_code, shards, usage,
};
use tailback::StrategySpec;

/// Circumstances of a comparison that determine its terminal output, such as the width of the terminal.
struct Setting<'a> {
    blocks: Blocks<'a>,
    mode: Mode,
    /// Number of runs in which the load generator was the bottleneck.
    bottlenecks: usize,
    /// Warning about a long wait that a server advised, with its strategy.
    long_wait: Option<String>,
    stopped_by: Option<&'a str>,
    explain: bool,
    /// Width of the terminal in columns.
    width: usize,
}

pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let shard = args.several.shard.shard;
    shards::refuse_conflicts(shard, &args.exports.asked, Some(&args.checks))?;
    if shard.is_some() && args.markdown.is_some() {
        return Err(usage("`--markdown` needs the runs of all shards; leave it out with `--shard`"));
    }
    if shard.is_some() && args.sensitivity && !args.several.simulate {
        return Err(usage(
            "`--sensitivity` is made again in virtual time when shards are merged; over HTTP, leave it out with `--shard`",
        ));
    }
    conduct(args, experiments(args)?, None)
}

/// Reports on the runs of merged documents. Rankings against changed servers (`--sensitivity`) are made again in virtual time.
pub(crate) fn merged(merging: Merging<'_>) -> anyhow::Result<ExitCode> {
    let mut args = CompareArgs::defaults();
    merging.set(&mut args.several)?;
    args.sensitivity = merging.merged.common.is_sensitive && merging.is_simulated();
    args.exports.asked = merging.args.asked();
    args.checks = merging.args.checks.clone();
    let (Point { experiments, server_under_test, .. }, past) = merging.point()?;
    conduct(&args, (experiments, server_under_test), Some(past))
}

/// Returns the variations of the server that `--sensitivity` adds to the comparison. The list is empty without this flag, or if the
/// server's configuration is unknown.
fn others(args: &CompareArgs, server_under_test: &ServerUnderTest) -> Vec<(Variation, ServerUnderTest)> {
    let variations =
        server_under_test.model().filter(|_| args.sensitivity).map(variations).unwrap_or_default();
    let against = |variation: Variation| {
        let server_under_test = ServerUnderTest::Own(Box::new(variation.server.clone()));
        (variation, server_under_test)
    };
    variations.into_iter().map(against).collect()
}

/// Executes the runs, or uses those of merged documents instead, and reports the results.
fn conduct(
    args: &CompareArgs,
    (mut experiments, server_under_test): (Vec<Experiment>, ServerUnderTest),
    past: Option<(Past, Option<Incomplete>)>,
) -> anyhow::Result<ExitCode> {
    let CompareArgs { checks, several, .. } = args;
    let (quiet, simulated) = (several.output.quiet, several.simulate);
    let besides: Vec<&Path> = checks.files().into_iter().chain(args.markdown.as_deref()).collect();
    let mut exports = Exports::prepare(&args.exports.asked, &besides)?;
    let markdown = args.markdown.as_ref().map(|path| Output::prepare(path, "--markdown")).transpose()?;
    let checks = prepared(checks, &experiments, &server_under_test, simulated)?;
    for experiment in &mut experiments {
        experiment.keep_latencies = exports.has_latencies;
    }
    let shard = several.shard.shard;
    let others = if shard.is_some() { Vec::new() } else { others(args, &server_under_test) };
    let blocks = Blocks { strategies: &experiments, server_under_test: &server_under_test };

    let session = Runner::begin(several, experiments.len(), &mut exports, past)?;
    session.announce(
        &announcement(blocks, simulated),
        experiments.iter().map(|experiment| &experiment.strategy),
        server_under_test.counts_unknown(),
    );
    let runs = shards::own(shard, (1 + others.len()) * blocks.count());
    let board = board(blocks, runs, simulated, session.at_once);
    let figures: Vec<_> = RunFigures::ranked(several.by).chain(checks.figures()).collect();
    let mut taken =
        RunSink { exports: &mut exports, short: Failures::default(), bottlenecks: 0, long_wait: None };
    let comparison = session
        .show(&board, || compared(&session, &board, blocks, (others, several.by), &figures, &mut taken))?;
    let RunSink { short, bottlenecks, long_wait, .. } = taken;
    if let Some(shard) = shard {
        let (document, done) = match &comparison {
            Ok(comparison) => (comparison.document(), comparison.measured.blocks()),
            Err(_) => (Comparison::unranked(blocks, several.by), 0),
        };
        let shard = shard.record(blocks.count());
        return session.tell_of_shard(exports, shard, done, &short, |shard, runs| {
            Document::Comparison(results::Comparison { shard: Some(shard), runs, ..document })
        });
    }
    let comparison = match comparison {
        Ok(comparison) => comparison,
        Err(runs) => {
            checks.left_out(quiet);
            return unranked(&session, exports, blocks, &runs, several.by);
        }
    };

    // If one output file cannot be written, the other files and the summary on the screen are still written.
    let mut document = comparison.document();
    document.comparison.incomplete.clone_from(&session.incomplete);
    let setting = Setting {
        blocks,
        mode: Mode::new(simulated),
        bottlenecks,
        long_wait,
        stopped_by: session.stopped_by(),
        explain: several.explain.explain,
        width: terminal_width(),
    };
    let written =
        markdown.map_or(Ok(()), |output| output.write(screen::markdown(&comparison, &setting).as_bytes()));
    let document = |runs| Document::Comparison(results::Comparison { runs, ..document });
    session.tell(exports, Some(document), || screen::screen(&comparison, &setting))?;
    written?;
    if let Some(exit) = session.cut_off() {
        checks.left_out(quiet);
        return Ok(exit.into());
    }
    let short = short.conclude();
    if short == Some(Exit::Unreachable) {
        checks.left_out(quiet);
        return Ok(Exit::Unreachable.into());
    }
    let failed = checks.conclude(&comparison.subjects(blocks), quiet)?;
    Ok(exit_code(failed.or(short)))
}

/// Writes and prints the completed runs if no block (one seed with every strategy) is complete. Without a complete block, the strategies
/// cannot be ranked.
fn unranked(
    session: &Runner,
    mut exports: Exports,
    blocks: Blocks<'_>,
    runs: &[BlockRun],
    by: Score,
) -> anyhow::Result<ExitCode> {
    let words = unranked_text(runs, blocks, session.stopped_by());
    if runs.is_empty() {
        return Ok(session.nothing(&words));
    }
    for run in runs {
        // Runs are exported in execution order, because no strategy is ranked.
        exports.on_run(0, &run.finished);
    }
    let mut document = Comparison::unranked(blocks, by);
    document.comparison.incomplete.clone_from(&session.incomplete);
    let document = |runs| Document::Comparison(results::Comparison { runs, ..document });
    session.tell(exports, Some(document), || Styled::from(words.as_str()))?;
    Ok(exit_code(session.cut_off()))
}

fn experiments(args: &CompareArgs) -> anyhow::Result<(Vec<Experiment>, ServerUnderTest)> {
    let strategies: Vec<StrategySpec> = args.strategies.iter().flat_map(|list| list.0.clone()).collect();
    if strategies.len() < 2 {
        return Err(usage(
            "`--strategies` names one strategy; name at least two, such as `aimd,full-jitter`",
        ));
    }
    refuse_twice(&strategies)?;
    if args.sensitivity && args.several.target.target.is_some() {
        return Err(usage(
            "`--sensitivity` changes the server slightly, and a server of `--target` cannot be changed; leave out one of them",
        ));
    }
    configured(&args.several, strategies, "the server cannot be configured for this comparison", &mut None)
}

fn prepared<'a>(
    args: &'a CheckArgs,
    experiments: &[Experiment],
    server_under_test: &ServerUnderTest,
    simulated: bool,
) -> anyhow::Result<Checks<'a>> {
    let names: Vec<String> = experiments.iter().map(|experiment| experiment.strategy.to_string()).collect();
    let checks = Checks::prepare(args, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
    if let Some(first) = experiments.first() {
        let record = server_under_test.record(simulated);
        checks.same_experiment(Mode::new(simulated), &config_record(first, &record, first.run.seed))?;
    }
    Ok(checks)
}

fn announcement(blocks: Blocks<'_>, simulated: bool) -> String {
    let strategies = blocks.strategies.len();
    let workload = blocks.strategies.first().map(workload_text).unwrap_or_default();
    let server = blocks.server_under_test.described(simulated, "\n");
    let unasked = blocks.server_under_test.unasked_words();
    let seeds = counted(blocks.count() as u64, "seed");
    let first = wrapped(&format!("{strategies} strategies · {seeds}{unasked} · {workload}"), "", "  ");
    format!("{first}\n{server}\n")
}

fn board(blocks: Blocks<'_>, runs: usize, simulated: bool, at_once: usize) -> Board {
    let first = blocks.strategies.first();
    let header = LanesHeader {
        title: format!("{} strategies, {}", blocks.strategies.len(), counted(blocks.count() as u64, "seed")),
        workload: first.map(workload_text).unwrap_or_default(),
        target: blocks.server_under_test.described(simulated, ", "),
        time_scale: first.map_or(1.0, |first| first.time_scale.factor()),
    };
    let names = blocks.strategies.iter().map(|experiment| experiment.strategy.to_string());
    lanes::board(header, names, runs, at_once)
}

/// Sink for the runs of complete blocks (one seed with every strategy). It keeps the runs for the output files, missed expectations and the
/// number of runs in which the load generator was the bottleneck.
struct RunSink<'a> {
    exports: &'a mut Exports,
    short: Failures,
    bottlenecks: usize,
    /// Warning of the first run in which an op waited long because a server advised it.
    long_wait: Option<String>,
}

impl RunSink<'_> {
    fn take(&mut self, BlockRun { strategy, finished }: &BlockRun) {
        self.exports.on_run(*strategy, finished);
        self.short.note([finished]);
        self.bottlenecks += usize::from(finished.bottleneck);
        let RunResult { strategy, warnings, .. } = &finished.result;
        let long_wait = warnings.iter().find(|warning| names_remedy(warning));
        self.long_wait =
            self.long_wait.take().or_else(|| long_wait.map(|warning| format!("{strategy}: {warning}")));
    }
}

/// Executes and compares all runs. The outer `Err` is the error of a run. The inner `Err` contains the completed runs, and is returned if
/// no block (one seed with every strategy) is complete.
fn compared(
    session: &Runner,
    board: &Board,
    blocks: Blocks<'_>,
    (others, by): (Vec<(Variation, ServerUnderTest)>, Score),
    figures: &[&'static Figure],
    taken: &mut RunSink<'_>,
) -> anyhow::Result<Result<Comparison, Vec<BlockRun>>> {
    let name = if others.is_empty() { "" } else { "server as it is" };
    let mut measured = session.run(board, (blocks, name), figures, &mut |run| taken.take(&run))?;
    let unpaired = std::mem::take(&mut measured.unpaired);
    let Some(mut comparison) = Comparison::new(blocks, measured, by) else { return Ok(Err(unpaired)) };
    for (variation, server_under_test) in others {
        let blocks = Blocks { server_under_test: &server_under_test, ..blocks };
        // If the runs against a variation of the server are incomplete, this variation and all later ones are dropped. A ranking over fewer
        // seeds would not be comparable.
        let Some(measured) = session.run_whole(board, (blocks, &variation.name), figures)? else { break };
        comparison.vary(&variation, blocks, &measured);
    }
    Ok(Ok(comparison))
}

/// Returns the terminal output of a comparison that was stopped before every strategy had run with the first seed.
fn unranked_text(runs: &[BlockRun], blocks: Blocks<'_>, stopped_by: Option<&str>) -> String {
    let stopped = stopped_by.map(|by| format!("stopped by {}: ", by_whom(by))).unwrap_or_default();
    let Some(first) = runs.first() else {
        return format!("{stopped}no run was complete, so there is nothing to compare or to write\n");
    };
    let mut table = Table::new(27, [12, 12, 12].map(Column::Right), LongNames::Broken);
    table.line("");
    table.titles(
        &format!("   complete, seed {}", first.finished.result.seed),
        ["makespan", "attempts", "done"],
    );
    for BlockRun { finished: Finished { result, .. }, .. } in runs {
        let makespan = result.makespan_s.filter(|_| result.makespan_complete);
        let cells = [
            makespan.map_or_else(dash, seconds),
            thousands(result.attempts.total),
            result.done_share.map_or_else(dash, |share| at_least(share, result.share_is_lower_bound)),
        ];
        table.row("   ", &result.strategy, &cells);
    }
    let mut text = table.into_text();
    let _ = writeln!(text, "\n{stopped}no strategy can be ranked: the first seed was not complete");
    let (runs, of) = (thousands(runs.len() as u64), counted(blocks.strategies.len() as u64, "run"));
    let _ = writeln!(text, "{runs} of the {of} of the first seed are complete and are in the output files");
    text
}
