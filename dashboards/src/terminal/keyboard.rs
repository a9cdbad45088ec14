//! Keyboard input from the terminal, until the terminal is closed.
//!
//! After the terminal was closed, a blocking read of crossterm never returns. The reason is that crossterm treats the
//! closing as a pause between keys, and reads again at once. Therefore this module does all waiting itself. It polls
//! crossterm without waiting, and only while the terminal exists.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::screen::WatchError;

/// Returns the next terminal event before the instant `due`, if any. Fails with [`WatchError::HungUp`] as soon as the
/// terminal is closed.
pub(crate) fn next_event(due: Instant) -> Result<Option<Event>, WatchError> {
    // The first pass does not wait, because crossterm may have buffered keys. If several keys were read together,
    // crossterm buffers the later ones, and the system call `poll` does not report them.
    for wait in [Duration::ZERO, due.saturating_duration_since(Instant::now())] {
        if state_within(wait).map_err(WatchError::Read)?.intersects(CLOSED) {
            return Err(WatchError::HungUp);
        }
        if event::poll(Duration::ZERO).map_err(WatchError::Read)? {
            return event::read().map(Some).map_err(WatchError::Read);
        }
    }
    // The terminal has sent no complete event so far. If it has sent the beginning of an event, polling again would
    // return at once. Sleeping until `due` avoids this.
    std::thread::sleep(due.saturating_duration_since(Instant::now()));
    Ok(None)
}

pub(crate) fn is_closed() -> bool {
    state_within(Duration::ZERO).is_ok_and(|state| state.intersects(CLOSED))
}

const CLOSED: PollFlags = PollFlags::HUP.union(PollFlags::ERR).union(PollFlags::NVAL);

/// Waits until the terminal has an event, but at most for `wait`. Returns the poll flags of the terminal, which are
/// empty if there was no event.
fn state_within(wait: Duration) -> io::Result<PollFlags> {
    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    // The conversion cannot fail, because callers wait at most for the time of one frame.
    let wait = Timespec::try_from(wait).map_err(|_| Errno::INVAL)?;
    match poll(&mut terminal, Some(&wait)) {
        // A signal that interrupts the wait is no error, because the terminal's state is checked again later.
        Ok(_) | Err(Errno::INTR) => Ok(terminal[0].revents()),
        Err(error) => Err(error.into()),
    }
}
