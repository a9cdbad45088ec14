//! A plot that scenarios can request by name.

use results::Basis;

#[derive(Clone, Copy, Debug)]
pub struct Drawable {
    pub name: &'static str,
    pub basis: Basis,
}
