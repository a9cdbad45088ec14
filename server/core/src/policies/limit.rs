//! Description of the parameter by which users adjust a policy's limit during a run.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) key: &'static str,
    pub(crate) per: Per,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Per {
    /// The limit has no separate period. Its value contains the period, as in `20/s`, or no period applies.
    Nothing,
    Day,
    /// The period of the limit is the value of another parameter, which has this key.
    Parameter(&'static str),
}

impl Limit {
    pub(crate) const fn new(key: &'static str) -> Self {
        Self { key, per: Per::Nothing }
    }

    pub(crate) const fn a_day(key: &'static str) -> Self {
        Self { key, per: Per::Day }
    }

    pub(crate) const fn within(key: &'static str, time: &'static str) -> Self {
        Self { key, per: Per::Parameter(time) }
    }
}
