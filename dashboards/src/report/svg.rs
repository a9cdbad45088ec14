//! Rendering of plots as SVG.

mod area;
mod legend;
mod shapes;
mod stacked;

pub(super) use area::{Size, area};
pub(super) use legend::swatch;
pub use stacked::svg;
