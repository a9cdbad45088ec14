//! Watching a run: the dashboard, one plain line a second, or nothing.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use dashboards::{Action, Background, Frame, GeneratorState, Header, Liveness};
use experiments::runs::driver::RealRun;
use experiments::runs::one_run::Underway;
use experiments::servers::target::Server;
use experiments::words_of;
use loadgen_core::Snapshot;
use loadgen_http::{Command, peak_rss_bytes, process_cpu};
use tokio::runtime::Runtime;

use crate::args::{OutputArgs, ScreenArgs};
use crate::experiment::workload_text;
use crate::interrupt::Interrupt;

/// How a run is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// On the dashboard, whose colours must be readable on this.
    Dashboard(Background),
    /// By a plain line a second on stderr.
    Lines,
    /// Not at all.
    Silent,
}

impl Watch {
    /// The dashboard when people look at a terminal that can show it.
    pub(crate) fn choose(output: &OutputArgs, stdout_is_data: bool) -> Self {
        Self::wanted(output.quiet, output.screen, stdout_is_data)
    }

    /// The same, by what was asked for.
    pub(crate) fn wanted(quiet: bool, screen: ScreenArgs, stdout_is_data: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
        match () {
            () if quiet => Self::Silent,
            () if screen.no_tui || stdout_is_data || dumb || !terminal => Self::Lines,
            () => Self::Dashboard(screen.theme.into()),
        }
    }
}

/// Watches a run until it is over.
pub(crate) fn watch(mode: Watch, run: &RealRun<'_>, interrupt: &Interrupt) {
    match mode {
        Watch::Dashboard(background) => dashboard(background, run, interrupt),
        Watch::Lines => lines(run.underway),
        // An error means that the run's thread is gone, which its end will tell.
        Watch::Silent => drop(run.underway.over.recv().ok()),
    }
}

fn lines(underway: &Underway) {
    let mut snapshot = Snapshot::default();
    let mut next = Instant::now();
    loop {
        // Asked a moment before it is printed, so that the line is fresh.
        next += Duration::from_secs(1);
        let ask_in = next.saturating_duration_since(Instant::now()).saturating_sub(Duration::from_millis(50));
        if underway.over.recv_timeout(ask_in) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        underway.control.ask(Command::Snapshot);
        if underway.over.recv_timeout(Duration::from_millis(50)) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        underway.control.latest(&mut snapshot);
        underway.bound.tell(&mut snapshot);
        let line = dashboards::progress_line(&snapshot, 120);
        // A closed stderr must not stop the run.
        drop(writeln!(io::stderr().lock(), "{line}"));
    }
}

fn dashboard(background: Background, run: &RealRun<'_>, interrupt: &Interrupt) {
    let RealRun { underway, experiment, server, runtime } = *run;
    let header = Header {
        strategy: experiment.strategy.to_string(),
        workload: workload_text(experiment),
        target: server.describe(),
        time_scale: experiment.time_scale.factor(),
        adjustable_cap: server.mock.is_some() && has_cap(server),
    };
    let planned_cap = server.model.as_ref().map(|model| u64::from(model.max_busy));
    let cap = RefCell::new(planned_cap.unwrap_or_default());
    let mut seen_before = planned_cap;
    let mut meter = Meter::start();
    let refresh = |frame: &mut Frame| {
        underway.control.ask(Command::Snapshot);
        let (connections, over) = underway.control.latest(&mut frame.snapshot);
        let seen = frame.snapshot.server_cap;
        // Answers tell of a change a moment after it was asked for: what was asked counts until they do.
        if seen.is_some() && seen != seen_before {
            seen_before = seen;
            *cap.borrow_mut() = seen.unwrap_or_default();
        }
        underway.bound.tell(&mut frame.snapshot);
        frame.generator = meter.read(connections);
        if over || underway.is_over() { Liveness::Over } else { Liveness::Running }
    };
    let act = |action: Action| match action {
        Action::Quit => {
            interrupt.on_key();
            None
        }
        Action::LowerCap => change_cap(&cap, server, runtime, |cap| cap.saturating_sub(step(cap)).max(1)),
        Action::RaiseCap => change_cap(&cap, server, runtime, |cap| cap + step(cap)),
    };
    if let Err(error) = dashboards::watch(header, background, refresh, act) {
        // The run goes on, and so does watching it.
        interrupt.on_blind(&error);
        lines(underway);
    }
}

/// Whether there is a cap that can be changed: other policies have none.
fn has_cap(server: &Server) -> bool {
    server.model.as_ref().is_some_and(mockserver::core::Config::has_cap)
}

/// A tenth of a cap, at least one slot.
fn step(cap: u64) -> u64 {
    (cap / 10).max(1)
}

/// Asks the mockserver for another cap, and says what came of it.
fn change_cap(
    cap: &RefCell<u64>,
    server: &Server,
    runtime: &Runtime,
    change: impl Fn(u64) -> u64,
) -> Option<String> {
    let mock = server.mock.as_ref()?;
    let before = *cap.borrow();
    let wanted = change(before);
    Some(match runtime.block_on(mock.change_cap(wanted)) {
        Ok(()) => {
            *cap.borrow_mut() = wanted;
            format!("the server's cap is {wanted} now, it was {before}")
        }
        Err(error) => format!("the cap is still {before}: {}", words_of(&error)),
    })
}

/// The program's own use of the machine between two looks.
pub(crate) struct Meter {
    at: Instant,
    cpu: Option<Duration>,
    state: GeneratorState,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { at: Instant::now(), cpu: process_cpu(), state: GeneratorState::default() }
    }

    pub(crate) fn read(&mut self, connections: u64) -> GeneratorState {
        let elapsed = self.at.elapsed();
        if elapsed >= Duration::from_millis(500) {
            let cpu = process_cpu();
            let used = cpu.zip(self.cpu).map(|(now, before)| now.saturating_sub(before)).unwrap_or_default();
            self.state.cpu_share = used.as_secs_f64() / elapsed.as_secs_f64();
            self.state.rss_bytes = peak_rss_bytes().unwrap_or_default();
            (self.at, self.cpu) = (Instant::now(), cpu);
        }
        GeneratorState { open_connections: connections, ..self.state }
    }
}
