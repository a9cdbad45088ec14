//! Plays the log of a real run again in virtual time, each side for itself, and tells the first thing that is not as it was.
//!
//! What the client was told goes through the loop of the simulation, what reached the server through the server core as the
//! simulation calls it: every timer fires at its own instant. So a log that plays shows that the real drivers decided what
//! the simulated ones do, however late sockets and timers woke; and [`replay_between`] shows that what the server said is what
//! the client heard.

mod between;
mod client;
mod server;

use std::fmt::Debug;

pub use between::replay_between;
pub use client::replay_client;
pub use server::replay_server;

/// The first place where something is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {index} should be {expected} and is {found}")]
pub struct Difference {
    /// What differs.
    pub what: &'static str,
    /// Which one, from 0.
    pub index: usize,
    /// As it was logged.
    pub expected: String,
    /// As it is in the replay.
    pub found: String,
}

impl Difference {
    /// The first one between two lists.
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
