//! Description of an output format for settings.

use crate::described::Described;

#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub name: &'static str,
    pub what: &'static str,
    /// Systems and presets whose strategies are printed in this format by default.
    pub(crate) used_by: &'static [&'static str],
    /// Strategy whose limits the library can express. It is offered if the given strategy would not wait at all without the limiter that
    /// the library lacks.
    pub(crate) nearest: &'static str,
    /// Prefix of comments in the format, or `None` if the format has no comments.
    pub comment: Option<&'static str>,
    pub(crate) write: fn(&mut Described) -> String,
}
