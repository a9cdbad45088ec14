//! Decision of a simulation's observer: continue or stop.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steer {
    On,
    /// Sends nothing more, withdraws attempts in flight, and ends.
    Stop,
}
