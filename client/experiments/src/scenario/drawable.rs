//! A plot that the program offers to scenarios.

use results::Basis;

#[derive(Clone, Copy, Debug)]
pub struct Drawable {
    pub name: &'static str,
    /// Data that the plot is drawn from.
    pub basis: Basis,
}
