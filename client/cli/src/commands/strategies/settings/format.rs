//! Type of the formats that settings are printed in.

use super::described::Described;

#[derive(Clone, Copy)]
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    /// Systems and presets that use this format by default.
    pub(super) used_by: &'static [&'static str],
    /// Strategy with limits that the library can express, offered instead of a strategy with only a limiter.
    pub(super) nearest: &'static str,
    /// Comment prefix, or `None` if the format has no comments.
    pub(super) comment: Option<&'static str>,
    pub(super) write: fn(&mut Described) -> String,
}
