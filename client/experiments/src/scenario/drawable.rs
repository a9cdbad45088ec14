//! A plot that the program offers to scenarios.

use results::Basis;

#[derive(Clone, Copy, Debug)]
pub struct Drawable {
    pub name: &'static str,
    pub basis: Basis,
}
