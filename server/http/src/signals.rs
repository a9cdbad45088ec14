//! SIGINT, SIGTERM and SIGHUP: which of them ask a program to end, and which are the same request once more.

use std::io;
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that come so soon after another are the same request: `timeout -s INT` signals the program and then its group, and
/// who presses Ctrl-C is heard by both.
pub const TOGETHER: Duration = Duration::from_millis(300);

const HANG_UP: u8 = 1;
const INTERRUPT: u8 = 2;
const TERMINATE: u8 = 15;

/// What asks the server to end.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// None where it is ignored.
    hang_up: Option<Signal>,
    /// When the last one came that counted.
    at: Option<Instant>,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        let hang_up = (!is_ignored(i32::from(HANG_UP))).then(|| signal(SignalKind::hangup())).transpose()?;
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hang_up, at: None })
    }

    /// The number of the next one that asks for something new.
    pub(crate) async fn next(&mut self) -> u8 {
        loop {
            let number = self.any().await;
            if self.counts(Instant::now()) {
                return number;
            }
        }
    }

    async fn any(&mut self) -> u8 {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => INTERRUPT,
            _ = self.terminate.recv() => TERMINATE,
            _ = hang_up => HANG_UP,
        }
    }

    fn counts(&mut self, now: Instant) -> bool {
        let same = self.at.is_some_and(|at| now.duration_since(at) < TOGETHER);
        if !same {
            self.at = Some(now);
        }
        !same
    }
}

/// Whether a signal was ignored when the program began, as by `nohup`, which means that the end of a terminal is to change
/// nothing; no where the system does not tell.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}
