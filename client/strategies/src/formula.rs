//! Delays as expressions: compiled once, evaluated without allocation, with the same bits on every platform.
//!
//! Example: `min(cap, base*2^(k-1)) + u`. Numbers are seconds. There are the operators `+ - * / ^`, parentheses, and
//! functions whose arguments are separated by commas or semicolons. There are no loops, and no names but the
//! [variables](Inputs) and functions here.

mod parser;
mod program;

pub(crate) use parser::Formula;
pub(crate) use program::{Inputs, Program};
