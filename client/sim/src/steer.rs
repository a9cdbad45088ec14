//! How whoever looks at a simulation tells it to go on or to end.

/// What whoever looks at a simulation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steer {
    /// Go on.
    On,
    /// Send nothing more, withdraw what is in flight, and end.
    Stop,
}
