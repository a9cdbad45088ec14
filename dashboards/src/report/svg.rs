//! Figures as SVG.

mod area;
mod legend;
mod shapes;
mod stacked;

pub(super) use area::{HEIGHT, WIDTH, plot};
pub(super) use legend::swatch;
pub use stacked::svg;
