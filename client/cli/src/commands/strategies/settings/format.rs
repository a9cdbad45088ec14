//! What a format of settings is.

use super::described::Described;

/// The configuration of a library.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// As it is typed.
    pub(super) name: &'static str,
    /// Whose configuration it is, in a few words.
    pub(super) what: &'static str,
    /// The systems and presets whose settings it is unless another is asked for.
    pub(super) used_by: &'static [&'static str],
    /// A strategy whose limits the library can express: the nearest to one that has nothing but a limiter.
    pub(super) nearest: &'static str,
    /// What a comment begins with; `None` where there are none.
    pub(super) comment: Option<&'static str>,
    /// Writes what it can express, and notes the rest.
    pub(super) write: fn(&mut Described) -> String,
}
