//! Figures as SVG.

mod legend;
mod plot;
mod shapes;
mod stacked;

pub(super) use legend::swatch;
pub(super) use plot::{HEIGHT, WIDTH, plot};
pub use stacked::svg;
