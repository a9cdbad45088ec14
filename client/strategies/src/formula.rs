//! Delays as expressions. They are compiled once and evaluated without allocation. The results have the same bits on
//! every platform.
//!
//! Example: `min(cap, base*2^(k-1)) + u`. Numbers are seconds. There are the operators `+ - * / ^`, parentheses, and
//! functions whose arguments are separated by commas or semicolons. There are no loops. The only names are the
//! [variables](Inputs) and the functions of this module.

mod parser;
mod program;

pub(crate) use parser::Formula;
pub(crate) use program::{Inputs, Program};
