//! A plot that scenarios can ask for, as a program offers it.

use results::Basis;

/// A plot that there is, by name.
#[derive(Clone, Copy, Debug)]
pub struct Drawable {
    /// As scenarios ask for it.
    pub name: &'static str,
    /// What it is drawn from.
    pub basis: Basis,
}
