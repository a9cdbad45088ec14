//! Widgets of the dashboard, one per file. Each widget draws a part of a frame into a rectangle.

pub(crate) mod attempts;
pub(crate) mod bar;
pub(crate) mod footer;
pub(crate) mod generator;
pub(crate) mod header;
pub(crate) mod help;
pub(crate) mod key_figures;
pub(crate) mod latency;
pub(crate) mod progress;
pub(crate) mod rates;
pub(crate) mod rule;
pub(crate) mod strategy;
pub(crate) mod time_axis;
pub(crate) mod window;
