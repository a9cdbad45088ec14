//! State of the dashboard of several strategies, such as whether it is paused or shows its help.

use crate::terminal::state::Notice;
use crate::{Lanes, LanesHeader};

pub(crate) struct LanesState {
    pub(crate) header: LanesHeader,
    pub(crate) help: bool,
    pub(crate) paused: Option<Box<Lanes>>,
    pub(crate) stopping: bool,
    /// Index of the lane at the top of the screen, if not all lanes fit. With `None`, the view follows the run in
    /// progress.
    pub(crate) top: Option<usize>,
    pub(crate) notice: Notice,
}

impl LanesState {
    pub(crate) fn new(header: LanesHeader) -> Self {
        Self { header, help: false, paused: None, stopping: false, top: None, notice: Notice::default() }
    }
}
