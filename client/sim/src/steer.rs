//! Decision of a simulation's observer whether to continue or to stop.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steer {
    On,
    /// Decision to end the run: nothing more is sent, and the attempts in flight are withdrawn.
    Stop,
}
