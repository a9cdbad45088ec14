//! SIGINT and SIGTERM: the first stops the run and keeps its results, the second leaves at once.

use std::sync::{Arc, Mutex, PoisonError};

use loadgen_http::{Command, Control};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// Whether, and by what, the program was asked to end.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    by: Option<i32>,
    running: Option<Arc<Control>>,
}

impl Interrupt {
    /// Listens for signals from now on.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let heard = interrupt.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                heard.on_signal(signal);
            }
        })?;
        Ok(interrupt)
    }

    /// A signal came, or a key that means the same.
    pub(crate) fn on_signal(&self, signal: i32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.by.is_some() {
            dashboards::restore();
            crate::output::remove_unfinished();
            std::process::exit(exit_of(signal) as i32);
        }
        state.by = Some(signal);
        if let Some(control) = &state.running {
            control.ask(Command::Stop);
        }
    }

    /// The run that the first signal stops.
    pub(crate) fn watch(&self, control: Option<Arc<Control>>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(_), Some(control)) = (state.by, &control) {
            control.ask(Command::Stop);
        }
        state.running = control;
    }

    /// The exit code, if the program was asked to end.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).by.map(exit_of)
    }
}

fn exit_of(signal: i32) -> Exit {
    if signal == SIGTERM { Exit::Terminated } else { Exit::Interrupted }
}

impl Exit {
    /// The signal's name, when a signal leads to this code.
    pub(crate) fn signal_name(self) -> Option<&'static str> {
        match self {
            Self::Interrupted => Some("SIGINT"),
            Self::Terminated => Some("SIGTERM"),
            _ => None,
        }
    }
}
