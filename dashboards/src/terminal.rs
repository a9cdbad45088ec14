//! Live dashboard on a terminal: state of the view, keys, widgets and the screen.

mod arrangement;
mod chart;
mod keyboard;
mod keys;
mod lanes;
mod painter;
mod render;
mod screen;
mod state;
mod surface;
mod theme;
mod watch;
mod widgets;

#[cfg(test)]
mod tests;

pub use screen::{WatchError, restore};
pub use watch::{watch, watch_lanes};

use surface::{Segment, Surface, row_of};
use theme::{Role, Theme};
