//! Delays as expressions: compiled once, evaluated without allocation, with the same bits on every platform.
//!
//! `min(cap, base*2^(k-1)) + u`: numbers are seconds; `+ - * / ^`, parentheses, and functions whose arguments are parted by
//! commas or semicolons. There are no loops and no names but the [variables](Inputs) and functions here.

mod parser;
mod program;

pub(crate) use parser::Formula;
pub(crate) use program::{Inputs, Program};
