//! How a command brings about runs of several strategies, shows them, and tells what they came to. What is planned before and
//! judged after is the command's.

use std::process::ExitCode;

use experiments::runs::blocks::{BlockRun, Blocks, Measured};
use experiments::runs::driver::Driver;
use experiments::runs::drivers::driver;
use experiments::runs::in_turn::InTurn;
use experiments::runs::stop::Stop as _;
use results::Figure;
use serde::Serialize;
use tailback::StrategySpec;

use crate::args::SeveralArgs;
use crate::exit::{Exit, is_broken_pipe};
use crate::files::exports::{Exports, OnTheWay};
use crate::interrupt::Interrupt;
use crate::screen::board::Board;
use crate::screen::lanes::OnLanes;
use crate::screen::watch::Watch;
use crate::text::stderr::{to_people, to_stderr};
use crate::text::summary;

/// What does the runs of a command, who stops them, and where people read of them.
pub(crate) struct Session {
    driver: Box<dyn Driver>,
    /// How many runs go on at the same time.
    pub(crate) at_once: usize,
    interrupt: Interrupt,
    watch: Watch,
    quiet: bool,
    stdout_is_taken: bool,
}

impl Session {
    /// Opens what was asked for, and is about to run. From here on, signals keep what was measured.
    ///
    /// # Errors
    /// When an output cannot be opened; nothing has run yet.
    pub(crate) fn begin(args: &SeveralArgs, exports: &mut Exports) -> anyhow::Result<Self> {
        let interrupt = Interrupt::listen()?;
        exports.begin()?;
        let (driver, at_once) = driver(args.simulate, args.output.threads)?;
        let (quiet, stdout_is_taken) = (args.output.quiet, exports.take_stdout());
        let watch = Watch::wanted(quiet, args.screen, stdout_is_taken);
        Ok(Self { driver, at_once, interrupt, watch, quiet, stdout_is_taken })
    }

    /// Says what is about to run, and what of it is hardly meant.
    pub(crate) fn announce<'a>(&self, text: &str, strategies: impl IntoIterator<Item = &'a StrategySpec>) {
        if !self.quiet {
            to_stderr(text);
            summary::doubts(strategies);
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
        Ok(Some(measured).filter(|_| self.interrupt.asked_by().is_none()))
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

    /// Who stopped the runs, if somebody did.
    pub(crate) fn stopped_by(&self) -> Option<&'static str> {
        self.interrupt.cause()
    }

    /// The exit code that a signal leads to, if one came.
    pub(crate) fn cut_off(&self) -> Option<Exit> {
        self.interrupt.exit()
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
