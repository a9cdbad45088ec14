//! Views of a run in progress: the dashboard, one plain line per second, or nothing.

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use dashboards::{Action, Background, Frame, GeneratorState, Header, Liveness, PolicyName};
use experiments::runs::driver::RealRun;
use experiments::runs::one_run::Underway;
use experiments::servers::target::Server;
use experiments::words_of;
use loadgen_core::Snapshot;
use loadgen_http::{Command, MockServer, peak_rss_bytes, process_cpu};
use mockserver::core::{Config, Direction, FirstLimit};
use tokio::runtime::Runtime;
use wire::ConfigChange;

use crate::Interrupt;
use crate::args::{OutputArgs, ProgressFormat, ScreenArgs};
use crate::runner::experiment::workload_text;
use crate::text::progress::run_line;
use crate::text::styled::has_colours;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    Dashboard(Background),
    Lines,
    Ndjson,
    Silent,
}

impl Watch {
    pub fn choose(output: &OutputArgs, stdout_is_data: bool) -> Self {
        match output.progress {
            Some(ProgressFormat::Ndjson) => Self::Ndjson,
            None => Self::wanted(output.quiet, output.screen, stdout_is_data),
        }
    }

    pub fn wanted(quiet: bool, screen: ScreenArgs, stdout_is_data: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
        match () {
            () if quiet => Self::Silent,
            () if screen.no_tui || stdout_is_data || dumb || !terminal => Self::Lines,
            () if !has_colours(&io::stdout()) => Self::Dashboard(Background::Colourless),
            () => Self::Dashboard(screen.theme.into()),
        }
    }
}

/// Shows a run until it is over. Does not write the lines of [`Watch::Ndjson`], because their writer continues over several runs.
pub fn watch(mode: Watch, run: &RealRun<'_>, interrupt: &Interrupt) {
    match mode {
        Watch::Dashboard(background) => dashboard(background, run, interrupt),
        Watch::Lines => lines(run.underway),
        // A receive error means that the run's thread is gone. The error is ignored, because the end of the run reports it.
        Watch::Ndjson | Watch::Silent => drop(run.underway.over.recv().ok()),
    }
}

fn lines(underway: &Underway) {
    let mut snapshot = Snapshot::default();
    every_second(underway, || {
        underway.control.latest(&mut snapshot);
        underway.bound.tell(&mut snapshot);
        run_line(&snapshot);
    });
}

pub(super) fn every_second(underway: &Underway, mut look: impl FnMut()) {
    let mut next = Instant::now();
    loop {
        // A snapshot of the run is requested 50 ms before it is read, so that it is fresh.
        next += Duration::from_secs(1);
        let ask_in = next.saturating_duration_since(Instant::now()).saturating_sub(Duration::from_millis(50));
        if underway.over.recv_timeout(ask_in) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        underway.control.ask(Command::Snapshot);
        if underway.over.recv_timeout(Duration::from_millis(50)) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        look();
    }
}

fn dashboard(background: Background, run: &RealRun<'_>, interrupt: &Interrupt) {
    let RealRun { underway, experiment, server, runtime } = *run;
    let limit = RefCell::new(MovedLimit::new(server, runtime));
    let header = Header {
        strategy: experiment.strategy.to_string(),
        workload: workload_text(experiment),
        target: server.describe(),
        time_scale: experiment.time_scale.factor(),
        adjustable_limit: limit.borrow().name(),
    };
    let policies = policy_names(server);
    let mut meter = PlainProgress::start();
    let refresh = |frame: &mut Frame| {
        frame.policies.clone_from(&policies);
        underway.control.ask(Command::Snapshot);
        let (connections, over) = underway.control.latest(&mut frame.snapshot);
        let mut limit = limit.borrow_mut();
        limit.on_snapshot(&frame.snapshot);
        underway.bound.tell(&mut frame.snapshot);
        if limit.is_moved {
            // The lower bound on the makespan is removed, because it was proven for the server before its limit was changed.
            frame.snapshot.optimal_makespan = None;
        }
        frame.generator = meter.read(connections);
        if over || underway.is_over() { Liveness::Over } else { Liveness::Running }
    };
    let act = |action: Action| match action {
        Action::Quit => {
            interrupt.on_key();
            None
        }
        Action::LowerLimit => limit.borrow_mut().move_it(Direction::Down),
        Action::RaiseLimit => limit.borrow_mut().move_it(Direction::Up),
    };
    if let Err(error) = dashboards::watch(header, background, refresh, act) {
        interrupt.on_blind(&error);
        lines(underway);
    }
}

fn policy_names(server: &Server) -> Vec<PolicyName> {
    let Some(model) = &server.model else { return Vec::new() };
    let named = model.policy.labels().into_iter().zip(model.policy.iter());
    named.map(|(name, policy)| PolicyName { name, is_keyed: policy.counts_by_key() }).collect()
}

pub struct PlainProgress {
    at: Instant,
    cpu: Option<Duration>,
    state: GeneratorState,
}

impl PlainProgress {
    pub fn start() -> Self {
        Self { at: Instant::now(), cpu: process_cpu(), state: GeneratorState::default() }
    }

    pub fn read(&mut self, connections: u64) -> GeneratorState {
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

/// First limit of the mock server. Keys of the dashboard can change this limit while a run is watched.
struct MovedLimit<'a> {
    mock: Option<&'a MockServer>,
    runtime: &'a Runtime,
    config: Option<Config>,
    /// Concurrency cap of the server itself, not of one of its policies. This is the cap in the server's last report, or a cap that was
    /// requested after this report.
    cap: Option<u64>,
    reported_cap: Option<u64>,
    /// Time since the first op arrived. Server limits that follow a schedule depend on this time.
    elapsed: Duration,
    /// True if the user changed the limit. Lower bounds proven for the original server then no longer hold.
    is_moved: bool,
}

impl<'a> MovedLimit<'a> {
    fn new(server: &'a Server, runtime: &'a Runtime) -> Self {
        let (mock, config) = (server.mock.as_deref(), server.model.clone());
        let cap = config.as_ref().map(|config| u64::from(config.max_busy));
        Self { mock, runtime, config, cap, reported_cap: cap, elapsed: Duration::ZERO, is_moved: false }
    }

    fn name(&self) -> Option<String> {
        self.mock.and_then(|_| Some(self.now()?.name))
    }

    fn on_snapshot(&mut self, snapshot: &Snapshot) {
        self.elapsed = snapshot.first_arrival.map_or(Duration::ZERO, |first| snapshot.now.since(first));
        let reported = snapshot.server_cap;
        // The server reports a change of the cap in its responses, but only a moment after the change was requested. Until then, the
        // requested cap is used.
        if reported.is_some() && reported != self.reported_cap {
            (self.reported_cap, self.cap) = (reported, reported);
        }
    }

    fn move_it(&mut self, way: Direction) -> Option<String> {
        let (mock, before) = (self.mock?, self.now()?);
        let wanted = before.moved(way);
        let name = &before.name;
        if wanted == before {
            return Some(format!("{name} is {before}, its minimum"));
        }
        let change = match wanted.slots() {
            Some(max_busy) => ConfigChange::Cap { max_busy },
            None => ConfigChange::Parameter { set: wanted.setting() },
        };
        let changed = self.runtime.block_on(mock.change(&change));
        Some(match changed {
            Ok(config) => {
                self.config = serde_json::from_value(config).ok().or_else(|| self.config.take());
                self.cap = wanted.slots().or(self.cap);
                self.is_moved = true;
                format!("{name} {before} → {wanted}")
            }
            Err(error) => format!("{name} is still {before}: {}", words_of(&error)),
        })
    }

    fn now(&self) -> Option<FirstLimit> {
        let limit = self.config.as_ref()?.first_limit(self.elapsed)?;
        Some(match self.cap {
            Some(cap) => limit.with_slots(cap),
            None => limit,
        })
    }
}
