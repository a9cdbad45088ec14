//! Parity of real time and virtual time. The logs of short real runs are replayed to show exactly that both drivers
//! decide the same. Wide bands show that a real run has about the same figures.

mod advised;
mod asked;
mod bands;
mod faulty;
mod matrix;
mod policies;
mod presets;
mod real_run;
mod replay;
mod replayed;
