//! How runs are stopped from outside.

use std::sync::Arc;

use loadgen_http::Control;

/// Whether runs are to end before they are over.
pub trait Stop: Sync {
    /// Who asked for that, as results name it.
    fn asked_by(&self) -> Option<&'static str>;

    /// The run over HTTP that goes on now, for who passes on how urgent it is; then none.
    fn is_running(&self, _control: Option<Arc<Control>>) {}
}

/// Nobody stops anything.
pub struct Never;

impl Stop for Never {
    fn asked_by(&self) -> Option<&'static str> {
        None
    }
}
