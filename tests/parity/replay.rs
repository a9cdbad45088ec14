//! Replay of the logs of a real run in virtual time. Client and server are replayed separately. Each replay is compared with its log, up to
//! the first difference.
//!
//! The client's logged inputs pass through the event loop of the simulation. The server's logged inputs pass through the server core in the
//! same way as in the simulation. In both replays, every timer fires exactly at its instant. A successful replay therefore shows that the
//! real drivers made the same decisions as the simulated ones, however late sockets and timers woke. [`replay_between`] shows that the
//! client received what the server sent.

mod between;
mod client;
mod server;
mod tests;

use std::fmt::{self, Debug, Display};

pub(crate) use between::replay_between;
pub(crate) use client::replay_client;
pub(crate) use server::replay_server;

#[derive(Debug)]
pub(crate) struct Difference {
    what: &'static str,
    /// Position of the differing entry in its list, counted from 0.
    index: usize,
    expected: String,
    found: String,
}

impl Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, index, expected, found } = self;
        write!(f, "{what} {index} should be {expected}, but is {found}")
    }
}

impl Difference {
    fn first<T: PartialEq + Debug>(what: &'static str, expected: &[T], found: &[T]) -> Result<(), Self> {
        let common = expected.iter().zip(found).take_while(|(expected, found)| expected == found).count();
        Self::unless_equal(what, common, expected.get(common), found.get(common))
    }

    fn unless_equal<T: PartialEq + Debug>(
        what: &'static str,
        index: usize,
        expected: Option<T>,
        found: Option<T>,
    ) -> Result<(), Self> {
        if expected == found {
            return Ok(());
        }
        let text = |item: Option<T>| item.map_or("nothing".to_owned(), |item| format!("{item:?}"));
        Err(Self { what, index, expected: text(expected), found: text(found) })
    }
}
