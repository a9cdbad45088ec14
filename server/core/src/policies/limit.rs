//! Which of a policy's parameters says how much it lets pass: what is moved by hand while a run goes on.

/// A parameter that is a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Its key.
    pub(crate) key: &'static str,
    pub(crate) per: Per,
}

/// In how much time so much passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Per {
    /// That is part of the value, as in `20/s`, or has no meaning.
    Nothing,
    /// In a day.
    Day,
    /// In the time that the parameter with this key says.
    Parameter(&'static str),
}

impl Limit {
    /// A number of places, or a rate.
    pub(crate) const fn of(key: &'static str) -> Self {
        Self { key, per: Per::Nothing }
    }

    /// So much in a day.
    pub(crate) const fn a_day(key: &'static str) -> Self {
        Self { key, per: Per::Day }
    }

    /// So much in the time of another parameter.
    pub(crate) const fn within(key: &'static str, time: &'static str) -> Self {
        Self { key, per: Per::Parameter(time) }
    }
}
