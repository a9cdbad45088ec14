//! Decision of a simulation's observer whether to continue or to stop.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steer {
    On,
    /// Send nothing more, withdraw the attempts in flight, and end the run.
    Stop,
}
