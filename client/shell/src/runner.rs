//! Execution of commands with several strategies: driver, signals, live display and output. Planning the runs and judging their results are
//! the task of each command.

pub mod experiment;
pub mod failures;
pub mod interrupt;
pub mod multi_strategy;
pub mod process;
pub mod variance_warnings;

use std::process::ExitCode;

use experiments::runs::blocks::{BlockRun, Blocks, Measured};
use experiments::runs::driver::Driver;
use experiments::runs::drivers::driver;
use experiments::runs::in_turn::InTurn;
use experiments::runs::past::Past;
use experiments::runs::shard::of_shard;
use experiments::runs::stop::Stop as _;
use results::{Document, Figure, Incomplete, RunResult, ShardRecord, Warning};
use tailback::StrategySpec;

use crate::exit::is_broken_pipe;
use crate::screen::lanes::LaneWatcher;
use crate::screen::watch::Watch;
use crate::text::{Styled, labelled_to_stderr, summary, to_stderr, wrapped};
use crate::{Board, Exit, Exports, Failures, Interrupt, MultiArgs, exit_code};

pub struct Runner {
    driver: Box<dyn Driver>,
    fresh: Fresh,
    /// Runs that are missing from the merged documents; `None` if no run is missing.
    pub incomplete: Option<Incomplete>,
    pub at_once: usize,
    interrupt: Interrupt,
    watch: Watch,
    quiet: bool,
    stdout_is_claimed: bool,
}

/// Driver of dependent runs, which are runs that depend on the results of earlier runs. An example is the estimate of the best point with
/// fresh seeds.
enum Fresh {
    ByTheSame,
    /// Separate driver for the dependent runs, because the earlier runs come from merged documents.
    By(Box<dyn Driver>),
    /// No driver, because the merged runs are over HTTP, and a merge sends no requests. Dependent runs are left out.
    ByNobody,
}

impl Runner {
    /// Opens the outputs. After this call, a signal stops the runs and keeps what was measured. `past` has the runs of merged documents.
    /// Further runs that depend on them are executed only in virtual time, because merging sends no requests.
    ///
    /// # Errors
    /// Fails, before any run starts, if an output cannot be opened.
    pub fn begin(
        args: &MultiArgs,
        strategies: usize,
        exports: &mut Exports,
        past: Option<(Past, Option<Incomplete>)>,
    ) -> anyhow::Result<Self> {
        let interrupt = Interrupt::listen()?;
        exports.begin()?;
        let (live, at_once) = driver(args.simulate, args.output.threads)?;
        let (driver, fresh, incomplete): (Box<dyn Driver>, _, _) = match past {
            None => (of_shard(live, args.shard.shard, strategies), Fresh::ByTheSame, None),
            Some((past, incomplete)) if args.simulate => (Box::new(past), Fresh::By(live), incomplete),
            Some((past, incomplete)) => (Box::new(past), Fresh::ByNobody, incomplete),
        };
        let (quiet, stdout_is_claimed) = (args.output.quiet, exports.claim_stdout());
        let watch = Watch::wanted(quiet, args.screen, stdout_is_claimed);
        Ok(Self { driver, fresh, incomplete, at_once, interrupt, watch, quiet, stdout_is_claimed })
    }

    pub fn announce<'a>(
        &self,
        text: &str,
        strategies: impl IntoIterator<Item = &'a StrategySpec>,
        warning: Option<Warning>,
    ) {
        if !self.quiet {
            let lines = text.lines().map(|line| wrapped(line, "", "  ") + "\n");
            to_stderr(&lines.collect::<String>());
            summary::doubts(strategies);
            if let Some(warning) = warning {
                labelled_to_stderr("warning: ", &warning.to_string());
            }
        }
    }

    pub fn note(&self, words: &str) {
        if !self.quiet {
            labelled_to_stderr("note: ", words);
        }
    }

    pub fn show<T: Send>(
        &self,
        board: &Board,
        work: impl FnOnce() -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        board.show(self.watch, &self.interrupt, work)
    }

    /// Runs all strategies with all seeds. The live display shows `name`, which distinguishes the runs from other runs of the command.
    /// After an interrupt, only complete blocks (one seed with every strategy) are kept. Each run of a complete block is passed to
    /// `passed_on`.
    pub fn run(
        &self,
        board: &Board,
        (blocks, name): (Blocks<'_>, &str),
        figures: &[&'static Figure],
        passed_on: &mut dyn FnMut(BlockRun),
    ) -> anyhow::Result<Measured> {
        let lanes = LaneWatcher::new(board, InTurn::new([blocks]), vec![name.to_owned()]);
        blocks.run(&*self.driver, &self.interrupt, &lanes, figures, passed_on)
    }

    /// Runs all strategies with all seeds without writing files. Returns `None` if the runs were interrupted or are incomplete, because a
    /// ranking over fewer seeds is not comparable.
    pub fn run_whole(
        &self,
        board: &Board,
        named: (Blocks<'_>, &str),
        figures: &[&'static Figure],
    ) -> anyhow::Result<Option<Measured>> {
        let (blocks, name) = named;
        let lanes = LaneWatcher::new(board, InTurn::new([blocks]), vec![name.to_owned()]);
        let Some(driver) = self.fresh() else { return Ok(None) };
        let measured = blocks.run(driver, &self.interrupt, &lanes, figures, &mut |_| ())?;
        let whole = self.interrupt.asked_by().is_none() && measured.blocks() == named.0.count();
        Ok(Some(measured).filter(|_| whole))
    }

    /// Runs all strategies with all seeds by `driver`, one point after the other. Calls `passed_on` with each complete point.
    pub fn run_in_turn(
        &self,
        driver: &dyn Driver,
        lanes: &LaneWatcher<'_>,
        figures: &[&'static Figure],
        passed_on: &mut dyn FnMut(usize, &Measured, Vec<BlockRun>),
    ) -> anyhow::Result<()> {
        lanes.in_turn().run(driver, &self.interrupt, lanes, figures, passed_on)
    }

    pub fn driver(&self) -> &dyn Driver {
        &*self.driver
    }

    /// Returns the driver of runs that depend on the results of earlier runs. Returns `None` after a merge of runs over HTTP, because
    /// merging sends no requests.
    pub fn fresh(&self) -> Option<&dyn Driver> {
        match &self.fresh {
            Fresh::ByTheSame => Some(&*self.driver),
            Fresh::By(driver) => Some(&**driver),
            Fresh::ByNobody => None,
        }
    }

    pub fn stopped_by(&self) -> Option<&'static str> {
        self.interrupt.cause()
    }

    /// Returns the exit code of a received signal. Without a signal, returns `Exit::Unmet` if runs are missing.
    pub fn cut_off(&self) -> Option<Exit> {
        self.interrupt.exit().or(self.incomplete.as_ref().map(|_| Exit::Unmet))
    }

    pub fn nothing(&self, why: &str) -> ExitCode {
        if !self.quiet {
            to_stderr(why);
        }
        exit_code(self.cut_off())
    }

    /// Writes the document of a shard, and prints how many of its blocks are done. Missed expectations are not reported, because they are
    /// judged for all runs together.
    ///
    /// # Errors
    /// Fails if the document cannot be written.
    pub fn tell_of_shard(
        &self,
        exports: Exports,
        shard: ShardRecord,
        done: usize,
        short: &Failures,
        document: impl FnOnce(ShardRecord, Vec<RunResult>) -> Document,
    ) -> anyhow::Result<ExitCode> {
        // After an interrupt without a complete block, nothing is written, so that existing files are not overwritten.
        if done > 0 || self.interrupt.exit().is_none() {
            exports.finish(|runs| document(shard, runs))?;
        }
        if !self.quiet {
            crate::shards::report(&shard, done as u64);
        }
        if let Some(error) = short.unanswered() {
            crate::exit::report(&error);
            return Ok(Exit::Unreachable.into());
        }
        Ok(exit_code(self.interrupt.exit()))
    }

    /// Writes the document, and prints the result on stdout, or on stderr if stdout carries data.
    ///
    /// # Errors
    /// Fails if an output cannot be written. The other outputs and the printed result are not affected.
    pub fn tell(
        &self,
        exports: Exports,
        document: Option<impl FnOnce(Vec<RunResult>) -> Document>,
        text: impl FnOnce() -> Styled,
    ) -> anyhow::Result<()> {
        // If there is no document, nothing is written, so that existing files are not overwritten.
        let written = document.map_or(Ok(()), |document| exports.finish(document));
        if !self.quiet {
            text().print(self.stdout_is_claimed).or_else(|error| {
                // If the terminal was closed, the runs were stopped, too. The resulting broken pipe is therefore expected, and is not an
                // error.
                if is_broken_pipe(&error) && self.cut_off().is_some() { Ok(()) } else { Err(error) }
            })?;
        }
        written
    }
}
