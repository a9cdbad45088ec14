//! How a command brings about runs of several strategies, shows them, and tells what they came to. What is planned before and
//! judged after is the command's.

use std::process::ExitCode;

use experiments::runs::blocks::{BlockRun, Blocks, Measured};
use experiments::runs::driver::Driver;
use experiments::runs::drivers::driver;
use experiments::runs::in_turn::InTurn;
use experiments::runs::stop::Stop as _;
use experiments::runs::stored::Stored;
use results::{Figure, Incomplete, Warning};
use serde::Serialize;
use tailback::StrategySpec;

use crate::args::SeveralArgs;
use crate::exit::{Exit, is_broken_pipe};
use crate::files::exports::{Exports, OnTheWay};
use crate::interrupt::Interrupt;
use crate::screen::board::Board;
use crate::screen::lanes::OnLanes;
use crate::screen::watch::Watch;
use crate::text::people::to_people;
use crate::text::stderr::to_stderr;
use crate::text::summary;
use crate::text::wrapping::wrapped;

/// What does the runs of a command, who stops them, and where people read of them.
pub(crate) struct Session {
    driver: Box<dyn Driver>,
    /// What does the runs that depend on what others came to.
    fresh: Fresh,
    /// What of the runs is missing, where they were done before.
    pub(crate) incomplete: Option<Incomplete>,
    /// How many runs go on at the same time.
    pub(crate) at_once: usize,
    interrupt: Interrupt,
    watch: Watch,
    quiet: bool,
    stdout_is_taken: bool,
}

/// Who does the runs that depend on what others came to.
enum Fresh {
    /// Whoever does the others.
    ByTheSame,
    /// The others were done before.
    By(Box<dyn Driver>),
    /// The others were done before, and no request is sent for these.
    ByNobody,
}

impl Session {
    /// Opens what was asked for, and is about to run. From here on, signals keep what was measured.
    ///
    /// # Errors
    /// When an output cannot be opened; nothing has run yet.
    pub(crate) fn begin(args: &SeveralArgs, exports: &mut Exports) -> anyhow::Result<Self> {
        Self::with(args, exports, None)
    }

    /// The same with runs that were done before, in shards. Others are done now where nobody is asked for them: in virtual time.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn of_stored(
        args: &SeveralArgs,
        exports: &mut Exports,
        stored: (Stored, Option<Incomplete>),
    ) -> anyhow::Result<Self> {
        Self::with(args, exports, Some(stored))
    }

    fn with(
        args: &SeveralArgs,
        exports: &mut Exports,
        stored: Option<(Stored, Option<Incomplete>)>,
    ) -> anyhow::Result<Self> {
        let interrupt = Interrupt::listen()?;
        exports.begin()?;
        let (live, at_once) = driver(args.simulate, args.output.threads)?;
        let (driver, fresh, incomplete): (Box<dyn Driver>, _, _) = match stored {
            None => (live, Fresh::ByTheSame, None),
            Some((stored, incomplete)) if args.simulate => (Box::new(stored), Fresh::By(live), incomplete),
            Some((stored, incomplete)) => (Box::new(stored), Fresh::ByNobody, incomplete),
        };
        let (quiet, stdout_is_taken) = (args.output.quiet, exports.take_stdout());
        let watch = Watch::wanted(quiet, args.screen, stdout_is_taken);
        Ok(Self { driver, fresh, incomplete, at_once, interrupt, watch, quiet, stdout_is_taken })
    }

    /// Says what is about to run, and what of it is hardly meant.
    pub(crate) fn announce<'a>(&self, text: &str, strategies: impl IntoIterator<Item = &'a StrategySpec>) {
        if !self.quiet {
            let lines = text.lines().map(|line| wrapped(line, "", "  ") + "\n");
            to_stderr(&lines.collect::<String>());
            summary::doubts(strategies);
        }
    }

    /// Warns of what holds for all runs.
    pub(crate) fn warn(&self, warning: &Warning) {
        if !self.quiet {
            to_stderr(&format!("{}\n", wrapped(&warning.to_string(), "warning: ", "         ")));
        }
    }

    /// Says what people must know beside the result.
    pub(crate) fn note(&self, words: &str) {
        if !self.quiet {
            to_stderr(&format!("{}\n", wrapped(words, "note: ", "      ")));
        }
    }

    /// Does the work while its runs are shown on the board.
    pub(crate) fn show<T: Send>(&self, board: &Board, work: impl FnOnce() -> T + Send) -> T {
        board.show(self.watch, &self.interrupt, work)
    }

    /// All strategies with all seeds; `name` is what these blocks are called where there are others. What a stop left of them is
    /// complete blocks, whose runs are passed on with what `files` say of them.
    pub(crate) fn run(
        &self,
        board: &Board,
        (blocks, name): (Blocks<'_>, &str),
        figures: &[&'static Figure],
        files: Option<&OnTheWay>,
        passed_on: &mut dyn FnMut(BlockRun),
    ) -> anyhow::Result<Measured> {
        let lanes = OnLanes::new(board, InTurn::new([blocks]), vec![name.to_owned()], files, Vec::new());
        blocks.run(&*self.driver, &self.interrupt, &lanes, figures, passed_on)
    }

    /// The same without files; nothing when that was cut off, for whom fewer blocks are another question.
    pub(crate) fn run_whole(
        &self,
        board: &Board,
        named: (Blocks<'_>, &str),
        figures: &[&'static Figure],
    ) -> anyhow::Result<Option<Measured>> {
        let measured = self.run(board, named, figures, None, &mut |_| ())?;
        let whole = self.interrupt.asked_by().is_none() && measured.blocks() == named.0.count();
        Ok(Some(measured).filter(|_| whole))
    }

    /// All strategies with all seeds at every point, one after the other; points have names. Those that are complete are passed on.
    pub(crate) fn run_in_turn(
        &self,
        lanes: &OnLanes<'_>,
        figures: &[&'static Figure],
        passed_on: &mut dyn FnMut(usize, &Measured, Vec<BlockRun>),
    ) -> anyhow::Result<()> {
        lanes.in_turn().run(&*self.driver, &self.interrupt, lanes, figures, passed_on)
    }

    /// The same of what only others' runs say that it is to be done.
    pub(crate) fn run_fresh(
        &self,
        lanes: &OnLanes<'_>,
        figures: &[&'static Figure],
        passed_on: &mut dyn FnMut(usize, &Measured, Vec<BlockRun>),
    ) -> anyhow::Result<()> {
        let driver = match &self.fresh {
            Fresh::ByTheSame => &self.driver,
            Fresh::By(driver) => driver,
            Fresh::ByNobody => return Ok(()),
        };
        lanes.in_turn().run(&**driver, &self.interrupt, lanes, figures, passed_on)
    }

    /// Whether anybody does.
    pub(crate) fn runs_fresh(&self) -> bool {
        !matches!(self.fresh, Fresh::ByNobody)
    }

    /// Who stopped the runs, if somebody did.
    pub(crate) fn stopped_by(&self) -> Option<&'static str> {
        self.interrupt.cause()
    }

    /// The exit code that a signal leads to, if one came, or that runs are missing.
    pub(crate) fn cut_off(&self) -> Option<Exit> {
        self.interrupt.exit().or(self.incomplete.as_ref().map(|_| Exit::Unmet))
    }

    /// The exit code of what has nothing to tell.
    pub(crate) fn nothing(&self, why: &str) -> ExitCode {
        if !self.quiet {
            to_stderr(why);
        }
        self.cut_off().map_or(ExitCode::SUCCESS, ExitCode::from)
    }

    /// Writes the document, and says the same to people: on stdout, or on stderr when stdout is taken.
    ///
    /// # Errors
    /// When an output cannot be written, which costs neither the others nor what people read.
    pub(crate) fn tell(
        &self,
        exports: Exports,
        document: Option<&impl Serialize>,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        // Without a document nothing that was there is overwritten.
        let written = document.map_or(Ok(()), |document| exports.finish(&results::sorted(document)?));
        if !self.quiet {
            to_people(&text(), self.stdout_is_taken).or_else(|error| {
                // Whoever closes the terminal stops the runs by that: it is for this that they end.
                if is_broken_pipe(&error) && self.cut_off().is_some() { Ok(()) } else { Err(error) }
            })?;
        }
        written
    }
}
