//! Groups of settings for which a survey reports separate figures, such as all rate limits.

use super::document::{Run, Surveyed};
use super::setting::{Limit, Setting};

pub struct Group {
    pub name: &'static str,
    /// True if the group contains all settings with one kind of limit, and not only some of them.
    pub is_whole: bool,
    /// True if the group is restricted to settings in which the reference strategy finishes all its runs.
    finished_by_reference: bool,
    contains: fn(&Setting) -> bool,
}

/// All groups of settings, in the order of the table that lists their figures.
pub const GROUPS: &[Group] = &[
    Group {
        name: "concurrency limits",
        is_whole: true,
        finished_by_reference: false,
        contains: |setting| setting.limit == Limit::Concurrency,
    },
    Group {
        name: "rate limits",
        is_whole: true,
        finished_by_reference: false,
        contains: |setting| setting.limit == Limit::Rate,
    },
    Group {
        name: "concurrency limits, one client",
        is_whole: false,
        finished_by_reference: false,
        contains: |setting| setting.limit == Limit::Concurrency && setting.clients == 1,
    },
    Group {
        name: "concurrency limits, four clients, at least 4 slots each",
        is_whole: false,
        finished_by_reference: false,
        contains: |setting| setting.clients > 1 && setting.slots >= 4 * setting.clients,
    },
    Group {
        name: "concurrency limits, four clients, fewer slots",
        is_whole: false,
        finished_by_reference: false,
        contains: |setting| (1..4 * setting.clients).contains(&setting.slots) && setting.clients > 1,
    },
    Group {
        name: "rate limits, where the reference finishes",
        is_whole: false,
        finished_by_reference: true,
        contains: |setting| setting.limit == Limit::Rate,
    },
    Group {
        name: "rate limits, four clients",
        is_whole: false,
        finished_by_reference: false,
        contains: |setting| setting.limit == Limit::Rate && setting.clients > 1,
    },
    Group {
        name: "rate limits, rejected requests count",
        is_whole: false,
        finished_by_reference: false,
        contains: |setting| setting.rejected_count,
    },
    Group {
        name: "rate limits, rejected requests are free",
        is_whole: false,
        finished_by_reference: false,
        contains: |setting| setting.limit == Limit::Rate && !setting.rejected_count,
    },
];

impl Group {
    /// Returns true if the setting belongs to the group. `reference` is the index of the reference strategy.
    pub fn contains(&self, surveyed: &Surveyed, reference: usize) -> bool {
        let finished = || surveyed.runs[reference].iter().all(Run::is_finished);
        (self.contains)(&surveyed.setting) && (!self.finished_by_reference || finished())
    }
}
