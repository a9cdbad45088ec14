//! Retry delays as arithmetic expressions. An expression is compiled once and evaluated without allocation. Its results
//! have the same bits on every platform.
//!
//! Example: `min(cap, base*2^(k-1)) + u`. Numbers that are times are in seconds. An expression may contain the
//! operators `+ - * / ^`, parentheses, and functions whose arguments are separated by commas or semicolons. Expressions
//! have no loops. They may use only the [variables](Inputs) and functions that this module defines.

mod parser;
mod program;

pub(crate) use parser::Formula;
pub(crate) use program::{Inputs, Program};
