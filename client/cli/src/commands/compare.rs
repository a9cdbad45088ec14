//! `loadgen compare`: several strategies in blocks of equal luck, ranked, with what the differences are worth.

pub(crate) mod args;
mod lanes;
mod pair;
mod ranked;
mod report;
mod sensitivity;

use std::fmt::Write as _;
use std::process::ExitCode;

use experiments::checks::Subject;
use experiments::record::config_record;
use experiments::runs::blocks::{Blocks, Measured, order};
use experiments::runs::driver::Driver;
use experiments::runs::one_run::Finished;
use experiments::runs::over_http::OverHttp;
use experiments::runs::stop::Stop;
use experiments::runs::virtual_time::VirtualTime;
use experiments::servers::opponent::Opponent;
use results::{Compared, MAKESPAN_OVER_BOUND, Mode, RunResult, Score, Standing};
use tailback::StrategySpec;

use crate::args::CheckArgs;
use crate::checks::Checks;
use crate::exit::{Exit, Fatal};
use crate::files::exporter::{ExportedRun, Layout, Source};
use crate::files::exports::Exports;
use crate::files::output::to_stdout;
use crate::interrupt::Interrupt;
use crate::screen::watch::Watch;
use crate::settings::{Settings, workload_text};
use crate::several::{configured, refuse_twice};
use crate::shortfall::Shortfalls;
use crate::text::stderr::to_stderr;
use crate::text::summary;
use crate::text::wrapping::wrapped;
use args::CompareArgs;
use pair::best_against_others;
use sensitivity::{Outcome, Variation, variations};

pub(crate) use lanes::{COLUMNS, OnLanes};
pub(crate) use pair::{Pair, every_pair};
pub(crate) use ranked::standings;

/// What was measured and what follows from it.
struct Comparison {
    by: Score,
    simulated: bool,
    opponent: Opponent,
    seed: u64,
    measured: Measured,
    standings: Vec<Standing>,
    /// Every two complete strategies, in the score.
    pairs: Vec<Pair>,
    /// The best against the others, in attempts or makespan: either alone is a trap.
    companion: Vec<Pair>,
    outcomes: Vec<Outcome>,
}

pub(crate) fn run(args: CompareArgs) -> anyhow::Result<ExitCode> {
    let CompareArgs { strategies, sensitivity, checks, exports, several } = args;
    let (by, simulated, screen) = (several.by, several.simulate, several.screen);
    let (quiet, threads) = (several.output.quiet, several.output.threads);
    let strategies: Vec<StrategySpec> = strategies.into_iter().flat_map(|list| list.0).collect();
    distinct(&strategies)?;
    let what = "the server of the comparison cannot be configured so";
    if sensitivity && several.target.target.is_some() {
        let words = "`--sensitivity` ranks against servers that differ a little, and the server of `--target` is as it is; leave \
                     out one or the other";
        return Err(Fatal::error(Exit::Usage, words));
    }
    let (mut settings, opponent) = configured(several, strategies, what, &mut None)?;
    let baseline = checks.save_baseline.as_ref().map(|name| name.0.as_path());
    let mut exports = Exports::prepare(&exports.asked, &Layout::default(), baseline)?;
    let checks = prepared(&checks, &settings, &opponent, simulated)?;
    for one in &mut settings {
        one.keep_latencies = exports.want(Source::Latencies);
    }
    let interrupt = Interrupt::listen()?;
    exports.begin()?;
    if !quiet {
        announce(&settings, &opponent, simulated);
        summary::doubts(settings.iter().map(|one| &one.strategy));
    }
    let others = opponent.model().filter(|_| sensitivity).map(variations).unwrap_or_default();
    let (driver, at_once) = driver(simulated, threads)?;
    let board = lanes::board(&settings, &opponent, 1 + others.len(), simulated.then_some(at_once));
    let comparison = board.show(Watch::wanted(quiet, screen, exports.take_stdout()), &interrupt, || {
        measured(&settings, &opponent, others, by, simulated, &interrupt, |opponent, name| {
            let blocks = Blocks { strategies: &settings, opponent };
            blocks.run(&*driver, &interrupt, &OnLanes::new(&board, blocks, name))
        })
    })?;
    let Some(comparison) = comparison else {
        if !quiet {
            to_stderr("no block was complete: there is nothing to compare\n");
        }
        return Ok(interrupt.exit().map_or(ExitCode::SUCCESS, ExitCode::from));
    };
    // One file that cannot be written costs neither the others nor what people read.
    for run in comparison.runs() {
        exports.on_run(&ExportedRun { result: &run.result, latencies: run.latencies.as_ref(), at: &[] });
    }
    let stdout_is_taken = exports.take_stdout();
    let written = exports.finish(&results::sorted(&comparison.document())?);
    if !quiet {
        let mut text = comparison.text();
        if let Some(cause) = interrupt.cause() {
            text.push_str(&report::cut_off(comparison.measured.blocks(), settings[0].repeats, cause));
        }
        if stdout_is_taken {
            to_stderr(&text);
        } else {
            to_stdout(text.as_bytes())?;
        }
    }
    written?;
    if let Some(exit) = interrupt.exit() {
        checks.left_out(quiet);
        return Ok(exit.into());
    }
    let short = Shortfalls::of(comparison.runs()).conclude();
    if short == Some(Exit::Unreachable) {
        checks.left_out(quiet);
        return Ok(Exit::Unreachable.into());
    }
    let failed = checks.conclude(&comparison.subjects(&settings), quiet)?;
    Ok(failed.or(short).map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// The checks, if they fit what will be compared.
fn prepared<'a>(
    args: &'a CheckArgs,
    settings: &[Settings],
    opponent: &Opponent,
    simulated: bool,
) -> anyhow::Result<Checks<'a>> {
    let names: Vec<String> = settings.iter().map(|one| one.strategy.to_string()).collect();
    let checks = Checks::prepare(args, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
    if let Some(first) = settings.first() {
        let record = opponent.record(simulated);
        let mode = if simulated { Mode::Simulated } else { Mode::Http };
        checks.same_experiment(mode, &config_record(first, &record, first.run.seed))?;
    }
    Ok(checks)
}

/// What does the runs, and how many at once.
pub(crate) fn driver(simulated: bool, threads: Option<u16>) -> anyhow::Result<(Box<dyn Driver>, usize)> {
    if !simulated {
        return Ok((Box::new(OverHttp::new()?), 1));
    }
    let driver = VirtualTime::on_threads(threads);
    let at_once = driver.threads;
    Ok((Box::new(driver), at_once))
}

/// Does all runs and compares them; nothing when no block is complete. `run` does the blocks against a server.
fn measured(
    settings: &[Settings],
    opponent: &Opponent,
    others: Vec<Variation>,
    by: Score,
    simulated: bool,
    stop: &dyn Stop,
    run: impl Fn(&Opponent, &str) -> anyhow::Result<Measured>,
) -> anyhow::Result<Option<Comparison>> {
    let name = if others.is_empty() { "" } else { "server as it is" };
    let measured = run(opponent, name)?;
    if measured.blocks() == 0 {
        return Ok(None);
    }
    let mut comparison = Comparison::new(settings, opponent.clone(), measured, by, simulated);
    for variation in others {
        let again = run(&Opponent::Own(Box::new(variation.server.clone())), &variation.name)?;
        if stop.asked_by().is_some() {
            // A ranking of fewer blocks is not the same question.
            break;
        }
        let standings = standings(settings, &again, by);
        let pairs = every_pair(&standings, by, comparison.seed);
        let outcome = Outcome::new(variation, standings, &pairs, &comparison.standings, &comparison.pairs);
        comparison.outcomes.push(outcome);
    }
    Ok(Some(comparison))
}

/// Refuses fewer than two strategies, and one that was named twice.
fn distinct(strategies: &[StrategySpec]) -> anyhow::Result<()> {
    if strategies.len() < 2 {
        let words = "`--strategies` names one strategy; name at least two, such as `aimd,full-jitter`";
        return Err(Fatal::error(Exit::Usage, words));
    }
    refuse_twice(strategies)
}

fn announce(settings: &[Settings], opponent: &Opponent, simulated: bool) {
    let [first, ..] = settings else { return };
    to_stderr(&format!(
        "{} strategies · {} blocks · {}\n{}\n",
        settings.len(),
        first.repeats,
        workload_text(first),
        opponent.described(simulated, "\n")
    ));
}

impl Comparison {
    fn new(
        settings: &[Settings],
        opponent: Opponent,
        measured: Measured,
        by: Score,
        simulated: bool,
    ) -> Self {
        let seed = settings.first().map_or(0, |first| first.run.seed);
        let standings = standings(settings, &measured, by);
        let pairs = every_pair(&standings, by, seed);
        let companion = best_against_others(&standings, by.companion(), seed);
        Self { by, simulated, opponent, seed, measured, standings, pairs, companion, outcomes: Vec::new() }
    }

    fn text(&self) -> String {
        let bound = self.standings.iter().any(|one| one.figure(MAKESPAN_OVER_BOUND).is_some());
        // What matters most comes last: it stays on the screen, however many strategies there are.
        let mut text = report::details(&self.standings, self.by);
        text.push_str(&report::notes(self.by, self.measured.blocks(), &self.over(), bound));
        text.push_str(&report::sensitivity(&self.outcomes));
        text.push_str(&report::sentences(&self.standings, &self.pairs, &self.companion));
        text.push_str(&report::ranking(&self.standings, self.by));
        if let Some(share) = self.standings.first().map(|best| best.share).filter(|share| *share < 1.0) {
            text.push_str(&report::nobody_completes(share));
        }
        for words in report::skewed(&self.standings, self.by) {
            let _ = writeln!(text, "{}", wrapped(&words, "warning: ", "         "));
        }
        if let Some(words) = self.opponent.changed() {
            let _ = writeln!(text, "{}", wrapped(&words, "warning: ", "         "));
        }
        let slow = self.runs().filter(|run| run.bottleneck).count();
        if slow > 0 {
            let words = format!(
                "the generator was the bottleneck in {slow} runs; try again with a larger `--time-scale`"
            );
            let _ = writeln!(text, "{}", wrapped(&words, "warning: ", "         "));
        }
        text
    }

    /// What intervals are over, for people.
    fn over(&self) -> String {
        let machine = if self.simulated || self.opponent.model().is_none() { "" } else { " and machine" };
        format!("{}{machine}", self.opponent.intervals())
    }

    /// The runs of every strategy, for checks.
    fn subjects(&self, settings: &[Settings]) -> Vec<Subject> {
        let strategies = settings.iter().zip(&self.measured.runs);
        strategies
            .map(|(one, runs)| Subject::new(&one.strategy.to_string(), runs.iter().map(|run| &run.result)))
            .collect()
    }

    fn runs(&self) -> impl Iterator<Item = &Finished> + Clone {
        self.measured.runs.iter().flatten()
    }

    fn document(&self) -> results::Comparison<&RunResult> {
        let orders = (0..self.measured.blocks() as u64)
            .map(|block| order(self.measured.runs.len(), self.seed.wrapping_add(block)));
        results::Comparison {
            runs: self.runs().map(|run| &run.result).collect(),
            comparison: Compared {
                by: self.by.path().to_owned(),
                blocks: self.measured.blocks() as u64,
                order: orders.collect(),
                intervals: self.opponent.intervals().to_owned(),
                strategies: self.standings.iter().zip(1..).map(|(one, rank)| one.record(rank)).collect(),
                pairs: self.pairs.iter().chain(&self.companion).map(Pair::record).collect(),
                sensitivity: self.outcomes.iter().map(Outcome::record).collect(),
            },
        }
    }
}
