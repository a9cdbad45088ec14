//! What is typed, until the terminal is closed.
//!
//! crossterm takes the end of a terminal for a pause between keys: it reads again at once, and never returns. So it is only
//! asked for events while the terminal is there, and never waits for them itself.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::screen::WatchError;

/// The next event before an instant, if any.
///
/// # Errors
/// [`WatchError::HungUp`] as soon as the terminal is closed.
pub(crate) fn next_event(due: Instant) -> Result<Option<Event>, WatchError> {
    // What was read together with an earlier key comes first, and only crossterm knows of it.
    for wait in [Duration::ZERO, due.saturating_duration_since(Instant::now())] {
        if state_within(wait).map_err(WatchError::Read)?.intersects(CLOSED) {
            return Err(WatchError::HungUp);
        }
        if event::poll(Duration::ZERO).map_err(WatchError::Read)? {
            return event::read().map(Some).map_err(WatchError::Read);
        }
    }
    // Something may be there of which no event can be made yet.
    std::thread::sleep(due.saturating_duration_since(Instant::now()));
    Ok(None)
}

/// Whether the terminal is closed.
pub(crate) fn is_closed() -> bool {
    state_within(Duration::ZERO).is_ok_and(|state| state.intersects(CLOSED))
}

const CLOSED: PollFlags = PollFlags::HUP.union(PollFlags::ERR).union(PollFlags::NVAL);

/// What is to be known of the terminal, as soon as there is anything, or nothing after a while.
fn state_within(wait: Duration) -> io::Result<PollFlags> {
    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    // A frame's time at most.
    let wait = Timespec::try_from(wait).map_err(|_| Errno::INVAL)?;
    match poll(&mut terminal, Some(&wait)) {
        // A signal came: there is time to look again later.
        Ok(_) | Err(Errno::INTR) => Ok(terminal[0].revents()),
        Err(error) => Err(error.into()),
    }
}
