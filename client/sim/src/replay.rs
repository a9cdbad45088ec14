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

use std::fmt::Debug;

pub use between::replay_between;
pub use client::replay_client;
pub use server::replay_server;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {index} should be {expected}, but is {found}")]
pub struct Difference {
    pub what: &'static str,
    /// Position of the differing entry in its list, counted from 0.
    pub index: usize,
    pub expected: String,
    pub found: String,
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

#[cfg(test)]
mod tests;
