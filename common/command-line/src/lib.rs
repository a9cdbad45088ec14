//! Shared parts of the command lines of `mockserver` and `loadgen`: parsing, help, completions, man pages.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod fitted;
mod help;
mod shell;
mod suggesting;
mod typed;

pub use fitted::fitted;
pub use help::{examples, man_page, most_used, pointer_to_all, with_first_examples};
pub use shell::{columns_of, completions, man, print, print_table};
pub use suggesting::{Suggesting, suggesting};
pub use typed::{address, argument, arguments, count, parsed, probability};
