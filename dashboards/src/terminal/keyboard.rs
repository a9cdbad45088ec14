//! Keyboard input from the terminal, until the terminal is closed.
//!
//! A blocking read of crossterm never returns after the terminal was closed, because crossterm treats the closing as a
//! pause between keys and reads again at once. So this module only polls crossterm for events while the terminal
//! exists, and does all waiting itself.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::screen::WatchError;

/// Returns the next terminal event before the instant `due`, if any. Fails with [`WatchError::HungUp`] as soon as the
/// terminal is closed.
pub(crate) fn next_event(due: Instant) -> Result<Option<Event>, WatchError> {
    // The first poll does not wait. If several keys were read together, the later ones are buffered in crossterm, where
    // the system call `poll` does not see them.
    for wait in [Duration::ZERO, due.saturating_duration_since(Instant::now())] {
        if state_within(wait).map_err(WatchError::Read)?.intersects(CLOSED) {
            return Err(WatchError::HungUp);
        }
        if event::poll(Duration::ZERO).map_err(WatchError::Read)? {
            return event::read().map(Some).map_err(WatchError::Read);
        }
    }
    // The input so far may be an incomplete event. Sleeping until `due` avoids polling the same input again at once.
    std::thread::sleep(due.saturating_duration_since(Instant::now()));
    Ok(None)
}

pub(crate) fn is_closed() -> bool {
    state_within(Duration::ZERO).is_ok_and(|state| state.intersects(CLOSED))
}

const CLOSED: PollFlags = PollFlags::HUP.union(PollFlags::ERR).union(PollFlags::NVAL);

/// Waits at most `wait` until the terminal has an event, and returns the state of the terminal. The state is empty if
/// there was no event.
fn state_within(wait: Duration) -> io::Result<PollFlags> {
    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    // The conversion of the waiting time succeeds, because callers wait for at most the time of a frame.
    let wait = Timespec::try_from(wait).map_err(|_| Errno::INVAL)?;
    match poll(&mut terminal, Some(&wait)) {
        // A signal interrupted the wait. The terminal's state is checked again later.
        Ok(_) | Err(Errno::INTR) => Ok(terminal[0].revents()),
        Err(error) => Err(error.into()),
    }
}
