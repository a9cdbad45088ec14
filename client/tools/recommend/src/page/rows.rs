//! Settings that were tried, in the order in which the picture and the table show them.

use results::numbers::{counted, short};

use crate::recommendation::{Recommendation, TriedSetting};

pub(super) struct Row<'a> {
    pub setting: &'a TriedSetting,
    pub place: Place,
}

/// Group of a row. The groups are in the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// The setting that the search chose. It may be the setting that is used today.
    Chosen,
    Today,
    Complete,
    Dropped,
    ByCode,
}

/// Returns the rows. Within a group, the setting with the smallest worst excess is first.
pub(super) fn rows(document: &Recommendation) -> Vec<Row<'_>> {
    let row = |(index, setting)| Row { setting, place: place(document, index, setting) };
    let mut rows: Vec<Row<'_>> = document.candidates.iter().enumerate().map(row).collect();
    let worst = |row: &Row<'_>| row.known_worst().unwrap_or(f64::INFINITY);
    rows.sort_by(|one, other| one.place.cmp(&other.place).then(worst(one).total_cmp(&worst(other))));
    rows
}

fn place(document: &Recommendation, index: usize, setting: &TriedSetting) -> Place {
    if index == document.chosen {
        Place::Chosen
    } else if index == document.today {
        Place::Today
    } else if setting.by_code {
        Place::ByCode
    } else if setting.worst_excess_points.is_none() {
        Place::Dropped
    } else {
        Place::Complete
    }
}

impl Row<'_> {
    /// Returns words that distinguish the setting from other settings, such as `chosen`. May be empty.
    pub(super) fn marks(&self) -> String {
        let ran = self.known_excess().count();
        let dropped =
            format!("dropped after {ran} of {}", counted(self.setting.excess_points.len() as u64, "server"));
        let mut marks = Vec::new();
        if self.place == Place::Chosen {
            marks.push("chosen");
        }
        if self.setting.by_code {
            marks.push("needs code");
        } else if !self.setting.eligible {
            marks.push("too many rejections");
        }
        if ran == 0 {
            marks.push("did not run");
        } else if self.setting.worst_excess_points.is_none() {
            marks.push(&dropped);
        }
        marks.join(", ")
    }

    /// Formats the largest excess in points. For a setting that was dropped it is only a lower bound.
    pub(super) fn worst_text(&self) -> String {
        match (self.setting.worst_excess_points, self.known_worst()) {
            (Some(worst), _) => short(worst),
            (None, Some(worst)) => format!("≥ {}", short(worst)),
            (None, None) => "–".to_owned(),
        }
    }

    /// Returns the mean share of undone ops over the servers on which the setting ran.
    pub(super) fn mean_undone(&self) -> Option<f64> {
        let known: Vec<f64> = self.setting.undone.iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    pub(super) fn known_excess(&self) -> impl Iterator<Item = (usize, f64)> {
        let values = self.setting.excess_points.iter().enumerate();
        values.filter_map(|(server, excess)| excess.map(|excess| (server, excess)))
    }

    fn known_worst(&self) -> Option<f64> {
        let known = self.known_excess().map(|(_, excess)| excess).reduce(f64::max);
        self.setting.worst_excess_points.or(known)
    }
}
