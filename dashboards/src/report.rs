//! Finished runs as pictures: figures as data, drawn as SVG, on the terminal, and on one HTML page.
//!
//! [`Document`] reads result files; [`FIGURES`] says what can be drawn of them; [`page()`] makes the whole report, and
//! [`svg()`] and [`plain()`] draw single figures. [`Rows`] writes runs as CSV.

mod adjustments;
mod cell;
mod document;
mod escaping;
mod exhibit;
mod experiment;
mod files;
mod html;
mod named;
mod number;
mod palette;
mod plain;
mod plot;
mod plots;
mod reading;
mod recorded;
mod registry;
mod resample;
mod rows;
mod run;
mod score;
mod strategy;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;
mod ticks;
mod wrapping;

pub use document::Document;
pub use files::Unreadable;
pub use html::page;
pub use named::{figures_named, plot_names};
pub use plain::plain;
pub use plot::{Axis, Figure, Scale, Series, Shape};
pub use registry::{Basis, Entry, FIGURES};
pub use rows::Rows;
pub use svg::svg;
