//! Retry delays as arithmetic expressions. An expression is compiled once and evaluated without allocation. Its results
//! have the same bits on every platform.
//!
//! Example: `min(cap, base*2^(k-1)) + u`. Numbers are in seconds. An expression has the operators `+ - * / ^`,
//! parentheses, and functions whose arguments are separated by commas or semicolons. There are no loops. The only names
//! are the [variables](Inputs) and the functions of this module.

mod parser;
mod program;

pub(crate) use parser::Formula;
pub(crate) use program::{Inputs, Program};
