//! Handling of SIGINT, SIGTERM and SIGHUP, which end the program. Duplicates of a signal are ignored.

use std::io;
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Time after a signal during which further signals count as duplicates of it. Duplicates occur because `timeout -s INT` signals the
/// program and then its group, and because Ctrl-C reaches both `timeout` and the program.
pub const TOGETHER: Duration = Duration::from_millis(300);

const HANG_UP: u8 = 1;
const INTERRUPT: u8 = 2;
const TERMINATE: u8 = 15;

pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Option<Signal>,
    at: Option<Instant>,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        let hang_up = (!is_ignored(i32::from(HANG_UP))).then(|| signal(SignalKind::hangup())).transpose()?;
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hang_up, at: None })
    }

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

/// Returns true if the signal was ignored when the program started. `nohup` makes programs ignore SIGHUP, so that the end of a terminal
/// does not end the program. Returns false on systems without `/proc`.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}
