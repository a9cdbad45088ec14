//! What the user has chosen to see of the lanes.

use crate::terminal::notice::Notice;
use crate::{Lanes, LanesHeader};

/// What the user has chosen to see.
pub(crate) struct LanesState {
    pub(crate) header: LanesHeader,
    /// Whether the help lies over the lanes.
    pub(crate) help: bool,
    /// The lanes that are shown while the view is paused.
    pub(crate) paused: Option<Box<Lanes>>,
    /// Whether all was asked to end.
    pub(crate) stopping: bool,
    /// The lane at the top where they do not all fit; `None` follows the run that goes on.
    pub(crate) top: Option<usize>,
    /// What the bottom line says instead of the keys.
    pub(crate) notice: Notice,
}

impl LanesState {
    /// What is shown at first.
    pub(crate) fn new(header: LanesHeader) -> Self {
        Self { header, help: false, paused: None, stopping: false, top: None, notice: Notice::default() }
    }
}
