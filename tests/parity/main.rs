//! Real time against virtual time. That both drivers decide the same is shown exactly, by playing the logs of short real runs
//! again; that a real run comes to about the same figures, with wide bands. `loadgen parity` compares closely, by explicit
//! command.

/// Answers in the words of vendors.
mod advised;
/// Ops of several kinds with several keys.
mod asked;
/// A short real run per server policy comes to about what the simulation says.
mod bands;
/// Faults on purpose.
mod faulty;
/// Every fault against every kind of strategy.
mod matrix;
/// Policies that make requests wait, lock them out, draw, slow down or grow.
mod policies;
/// Presets of servers, every one of them.
mod presets;
/// One run over HTTP in this process, with the logs of both sides.
mod real_run;
/// The logs of real runs, played again: every decision, verdict and instant.
mod replayed;
