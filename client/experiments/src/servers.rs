//! The servers that runs meet: one of their own, one that was found, one that was named.

pub mod connection_room;
pub mod opponent;
pub mod target;
mod url;

pub use url::url;
