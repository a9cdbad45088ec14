//! Handling of SIGINT, SIGTERM and SIGHUP. The first signal stops the run and keeps its results. The second signal ends the wait for
//! in-flight attempts, and the third signal exits at once. If a command has no results to keep yet, its first signal also exits at once.
//! SIGQUIT restores the terminal, removes unfinished files and kills the program.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Context as _;
use dashboards::WatchError;
use experiments::runs::stop::Stop;
use experiments::words_of;
use loadgen_http::{Command, Control};
use mockserver::{TOGETHER, is_ignored};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::runner::process;
use crate::text::to_stderr;
use crate::{Exit, locked};

#[derive(Clone, Default)]
pub struct Interrupt {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    keeps_results: bool,
    by: Option<i32>,
    at: Option<Instant>,
    /// Number of counted signals. A signal is not counted if it arrives within the duration [`TOGETHER`] after the last counted signal.
    count: u32,
    /// True if the first request to stop came from a dashboard key instead of a signal.
    by_key: bool,
    running: Option<Arc<Control>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Same,
    Stop,
    Abort,
    Leave,
    LeaveEarly,
}

impl State {
    fn receive(&mut self, signal: i32, now: Instant) -> Request {
        if !self.keeps_results {
            return Request::LeaveEarly;
        }
        if self.at.is_some_and(|at| now.duration_since(at) < TOGETHER) {
            return Request::Same;
        }
        self.at = Some(now);
        self.by.get_or_insert(signal);
        self.count += 1;
        match self.count {
            1 => Request::Stop,
            2 => Request::Abort,
            _ => Request::Leave,
        }
    }

    fn pass_on(&self) {
        let Some(control) = &self.running else { return };
        match self.count {
            0 => {}
            1 => control.ask(Command::Stop),
            _ => control.ask(Command::Abort),
        }
    }
}

impl Interrupt {
    /// Returns the signal handler. From this call on, signals stop runs and keep their results. Before this call, a signal ends the
    /// program.
    pub fn listen() -> anyhow::Result<Self> {
        let interrupt = Self::install()?;
        locked(&interrupt.state).keeps_results = true;
        Ok(interrupt)
    }

    /// Installs the handler of signals. The program calls this function first, because an unhandled signal kills it without a message.
    /// Later calls return the same object.
    pub fn install() -> anyhow::Result<Self> {
        static INSTALLED: Mutex<Option<Interrupt>> = Mutex::new(None);
        let mut installed = locked(&INSTALLED);
        if let Some(interrupt) = &*installed {
            return Ok(interrupt.clone());
        }
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        // SIGHUP and SIGQUIT are not handled if they are ignored, because a program started with `nohup` must survive the end of its
        // terminal.
        for signal in [SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal)) {
            signals.add_signal(signal)?;
        }
        let received = interrupt.clone();
        let receiving = move || {
            for signal in signals.forever() {
                if signal == SIGQUIT {
                    clean_up();
                    drop(emulate_default_handler(signal));
                }
                received.on_signal(signal);
            }
        };
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(receiving);
        thread.context("the thread that receives signals could not be started")?;
        *installed = Some(interrupt.clone());
        Ok(interrupt)
    }

    pub fn on_key(&self) {
        let mut state = locked(&self.state);
        state.by_key |= state.by.is_none();
        drop(state);
        self.on_signal(SIGINT);
    }

    /// Treats the end of the dashboard's terminal like SIGHUP, because SIGHUP itself may not arrive. It is not sent to a process in a
    /// session of its own, and a parent program may not forward it.
    pub fn on_hang_up(&self) {
        // The end of the terminal counts as a signal only if no signal was counted before, such as the SIGHUP for the same event. It does
        // not count if the program ignores SIGHUP.
        if !is_ignored(SIGHUP) && locked(&self.state).by.is_none() {
            self.on_signal(SIGHUP);
        }
    }

    pub fn on_blind(&self, error: &WatchError) {
        match error {
            WatchError::HungUp => self.on_hang_up(),
            error => to_stderr(&format!("warning: {}\n", words_of(error))),
        }
    }

    pub fn on_signal(&self, signal: i32) {
        let mut state = locked(&self.state);
        match state.receive(signal, Instant::now()) {
            Request::Same => {}
            Request::Stop | Request::Abort => state.pass_on(),
            Request::Leave => leave(signal),
            Request::LeaveEarly => {
                let name = exit_of(signal).signal_name().unwrap_or_default();
                to_stderr(&format!("stopped by {name} before any run began\n"));
                leave(signal)
            }
        }
    }

    /// Returns the number of counted signals. A waiting caller gives up when this number grows.
    pub fn received(&self) -> u32 {
        locked(&self.state).count
    }

    pub fn exit(&self) -> Option<Exit> {
        locked(&self.state).by.map(exit_of)
    }

    pub fn cause(&self) -> Option<&'static str> {
        let state = locked(&self.state);
        let by = state.by?;
        if state.by_key { Some(USER) } else { exit_of(by).signal_name() }
    }
}

impl Stop for Interrupt {
    fn asked_by(&self) -> Option<&'static str> {
        self.cause()
    }

    fn times_asked(&self) -> u32 {
        self.received()
    }

    fn is_running(&self, control: Option<Arc<Control>>) {
        let mut state = locked(&self.state);
        state.running = control;
        state.pass_on();
    }
}

const USER: &str = "user";

pub fn by_whom(cause: &str) -> String {
    if cause == USER { "the user".to_owned() } else { cause.to_owned() }
}

fn leave(signal: i32) -> ! {
    clean_up();
    std::process::exit(exit_of(signal) as i32)
}

fn clean_up() {
    dashboards::restore();
    process::kill_all();
    crate::files::output::remove_unfinished();
}

fn exit_of(signal: i32) -> Exit {
    match signal {
        SIGTERM => Exit::Terminated,
        SIGHUP => Exit::HungUp,
        _ => Exit::Interrupted,
    }
}

pub fn exit_of_cause(cause: &str) -> Exit {
    let codes = [Exit::Terminated, Exit::HungUp];
    codes.into_iter().find(|code| code.signal_name() == Some(cause)).unwrap_or(Exit::Interrupted)
}

impl Exit {
    pub fn signal_name(self) -> Option<&'static str> {
        match self {
            Self::Interrupted => Some("SIGINT"),
            Self::Terminated => Some("SIGTERM"),
            Self::HungUp => Some("SIGHUP"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Signals within 300 ms count as one. Later ones stop, abort, then leave; the first one names the end.
    #[test]
    fn close_signals_count_once_and_later_ones_escalate() {
        let start = Instant::now();
        let mut state = State { keeps_results: true, ..State::default() };
        let mut receive = |millis, signal| state.receive(signal, start + Duration::from_millis(millis));
        assert_eq!(receive(0, SIGINT), Request::Stop);
        assert_eq!([receive(1, SIGINT), receive(299, SIGTERM)], [Request::Same; 2]);
        assert_eq!(receive(300, SIGTERM), Request::Abort);
        assert_eq!(receive(599, SIGTERM), Request::Same);
        assert_eq!(receive(900, SIGINT), Request::Leave);
        assert_eq!(state.by, Some(SIGINT), "the first names the end");
    }

    /// With results to keep, the first signal only stops the run.
    #[test]
    fn a_signal_exits_at_once_if_there_are_no_results_to_keep() {
        let mut state = State::default();
        assert_eq!(state.receive(SIGTERM, Instant::now()), Request::LeaveEarly);
        state.keeps_results = true;
        assert_eq!(state.receive(SIGTERM, Instant::now()), Request::Stop);
    }
}
