//! Description of an output format for settings, such as the configuration file of a client library.

use crate::described::Described;

#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub name: &'static str,
    pub what: &'static str,
    /// Names of systems and presets. Their strategies are printed in this format by default.
    pub(crate) used_by: &'static [&'static str],
    /// Alternative strategy whose limits the library can express. It is offered if the library lacks a limiter of the given strategy, and
    /// the strategy would not wait at all without this limiter.
    pub(crate) nearest: &'static str,
    /// Prefix of comments in the format, or `None` if the format has no comments.
    pub comment: Option<&'static str>,
    pub(crate) write: fn(&mut Described) -> String,
}
