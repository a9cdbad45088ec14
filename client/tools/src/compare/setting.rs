//! Circumstances of a comparison that determine its terminal output, such as the width of the terminal.

use experiments::runs::blocks::Blocks;
use results::Mode;

pub(super) struct Setting<'a> {
    pub(super) blocks: Blocks<'a>,
    pub(super) mode: Mode,
    /// Number of runs in which the load generator was the bottleneck.
    pub(super) bottlenecks: usize,
    /// Warning about a long wait that a server advised, with its strategy.
    pub(super) long_wait: Option<String>,
    pub(super) stopped_by: Option<&'a str>,
    pub(super) explain: bool,
    /// Width of the terminal in columns.
    pub(super) width: usize,
}
