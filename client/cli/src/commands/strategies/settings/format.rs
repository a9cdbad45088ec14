//! Description of an output format for settings.

use super::described::Described;

#[derive(Clone, Copy)]
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    /// Systems and presets that use this format by default.
    pub(super) used_by: &'static [&'static str],
    /// Strategy whose limits the library can express. It is offered if the given strategy would not wait at all without the limiter that
    /// the library lacks.
    pub(super) nearest: &'static str,
    /// Comment prefix, or `None` if the format has no comments.
    pub(super) comment: Option<&'static str>,
    pub(super) write: fn(&mut Described) -> String,
}
