//! What each policy of a stack let pass and turned away, counted by its name: which policies there are may change, and what was counted stays.

use vocabulary::wire::PolicyCounts;

/// Names that are counted apart, of all the policies that were ever in force; those that come later share a count.
const NAMES: usize = 64;

/// The name of that count.
const OTHERS: &str = "others";

/// How far a request came in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// Policies that let it pass.
    pub(crate) passed: usize,
    /// Whether the next one turned it away.
    pub(crate) is_turned_away: bool,
}

/// The names of policies, in the order in which they came to be in force. Counts are in their order, as many of them as were needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    known: Vec<String>,
    /// Of each policy of the stack in force; empty when nothing is counted by policies.
    in_force: Vec<usize>,
}

impl Names {
    /// From now on these are the policies; a single one is counted with the server.
    pub(crate) fn set(&mut self, labels: Vec<String>) {
        self.in_force.clear();
        if labels.len() < 2 {
            return;
        }
        for label in labels {
            let index = self.index(label);
            self.in_force.push(index);
        }
    }

    /// Whether anything is counted.
    pub(crate) fn are_counted(&self) -> bool {
        !self.in_force.is_empty()
    }

    fn index(&mut self, label: String) -> usize {
        let label =
            if self.known.len() < NAMES || self.known.contains(&label) { label } else { OTHERS.into() };
        self.known.iter().position(|known| *known == label).unwrap_or_else(|| {
            self.known.push(label);
            self.known.len() - 1
        })
    }

    /// One more request.
    pub(crate) fn count(&self, counts: &mut Vec<PolicyCounts>, fate: Fate) {
        let missing = self.known.iter().skip(counts.len());
        counts.extend(missing.map(|name| PolicyCounts { name: name.clone(), ..PolicyCounts::default() }));
        for index in self.in_force.iter().take(fate.passed) {
            counts[*index].accepted += 1;
        }
        if let Some(index) = self.in_force.get(fate.passed).filter(|_| fate.is_turned_away) {
            counts[*index].rejected += 1;
        }
    }

    /// As they are told: of every policy in force, and of earlier ones if there is anything to tell.
    pub(crate) fn told(&self, counts: &[PolicyCounts]) -> Vec<PolicyCounts> {
        let named = self.known.iter().enumerate().map(|(index, name)| {
            let counted = counts.get(index).cloned();
            (index, counted.unwrap_or_else(|| PolicyCounts { name: name.clone(), ..PolicyCounts::default() }))
        });
        let is_told =
            |index: usize, counted: &PolicyCounts| counted.total() > 0 || self.in_force.contains(&index);
        named.filter(|(index, counted)| is_told(*index, counted)).map(|(_, counted)| counted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &mut Names, labels: &[&str]) {
        names.set(labels.iter().map(|label| (*label).to_owned()).collect());
    }

    fn told(names: &Names, counts: &[PolicyCounts]) -> Vec<(String, u64, u64)> {
        names.told(counts).into_iter().map(|counts| (counts.name, counts.accepted, counts.rejected)).collect()
    }

    #[test]
    fn who_passes_two_and_is_turned_away_by_the_third_counts_with_all_three() {
        let (mut names, mut counts) = (Names::default(), Vec::new());
        set(&mut names, &["a", "b", "c", "d"]);
        names.count(&mut counts, Fate { passed: 2, is_turned_away: true });
        names.count(&mut counts, Fate { passed: 4, is_turned_away: false });
        let expected = [("a", 2, 0), ("b", 2, 0), ("c", 1, 1), ("d", 1, 0)];
        assert_eq!(
            told(&names, &counts),
            expected.map(|(name, accepted, rejected)| (name.to_owned(), accepted, rejected))
        );
    }

    #[test]
    fn another_stack_goes_on_with_the_counts_of_the_names_it_shares() {
        let (mut names, mut counts) = (Names::default(), Vec::new());
        set(&mut names, &["a", "b"]);
        names.count(&mut counts, Fate { passed: 0, is_turned_away: true });
        set(&mut names, &["b", "c"]);
        names.count(&mut counts, Fate { passed: 1, is_turned_away: true });
        let expected = [("a", 0, 1), ("b", 1, 0), ("c", 0, 1)];
        assert_eq!(
            told(&names, &counts),
            expected.map(|(name, accepted, rejected)| (name.to_owned(), accepted, rejected))
        );
        // Of a run that came later, only what is in force is told.
        assert_eq!(told(&names, &[]), [("b".to_owned(), 0, 0), ("c".to_owned(), 0, 0)]);
        set(&mut names, &["c"]);
        assert!(!names.are_counted());
    }

    #[test]
    fn names_without_end_share_a_count() {
        let (mut names, mut counts) = (Names::default(), Vec::new());
        for number in 0..1000 {
            set(&mut names, &[&format!("a{number}"), "last"]);
            names.count(&mut counts, Fate { passed: 1, is_turned_away: true });
        }
        assert_eq!(counts.len(), NAMES + 1);
        assert_eq!(counts.last().map(|counts| (counts.name.as_str(), counts.accepted)), Some((OTHERS, 937)));
        assert_eq!(counts.iter().map(PolicyCounts::total).sum::<u64>(), 2000);
    }
}
