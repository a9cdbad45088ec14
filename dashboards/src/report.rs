//! Finished runs as plots and reports. Plots are data, which is drawn as SVG, on the terminal, and in one HTML file.
//!
//! [`Document`] reads result files; [`PLOTS`] lists the plots; [`html()`] creates the whole report, and [`svg()`] and
//! [`plain()`] draw single plots. [`Rows`] writes runs as CSV.

mod cell;
mod document;
mod escaping;
mod experiment;
mod files;
mod html;
mod named;
mod number;
mod palette;
mod plain;
mod plot;
mod plots;
mod ranking;
mod registry;
mod rows;
mod run;
mod scenario_plot;
mod strategy;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;
mod ticks;
mod wrapping;

pub use document::Document;
pub use escaping::visible;
pub use files::Unreadable;
pub use html::{head, html};
pub use named::{exhibit_names, plots_named};
pub use palette::marker;
pub use plain::plain;
pub use plot::{Axis, Plot, Scale, Series, Shape};
pub use registry::{Entry, PLOTS};
pub use rows::Rows;
pub use svg::svg;
pub use ticks::Span;
pub use wrapping::lines;

use experiment::Scenario;
use number::number;
use palette::LOOKS;
use ranking::Ranking;
use run::Run;
use strategy::Strategy;
