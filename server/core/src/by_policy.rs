//! Counts of passed and rejected requests for each policy of a stack, by the policy's name. The counts are kept when the stack changes.

use wire::PolicyCounts;

/// Maximum number of policy names with their own counts. All later names share one count.
const NAMES: usize = 64;

const OTHERS: &str = "others";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) passed: usize,
    /// True if a policy rejected the request. That policy is the one that follows the first `passed` policies of the stack.
    pub(crate) is_rejected: bool,
}

/// Names of all policies that the server has used so far, in the order of their first use. Lists of counts per policy have the same order.
/// A list of counts becomes longer when a later policy is first counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    known: Vec<String>,
    /// Index in `known` of each policy of the current stack. The list is empty if counts per policy are off.
    in_force: Vec<usize>,
}

impl Names {
    /// Sets the names of the current policies. A single policy gets no counts of its own, because they would equal the counts of the
    /// server.
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

    pub(crate) fn count(&self, counts: &mut Vec<PolicyCounts>, fate: Fate) {
        let missing = self.known.iter().skip(counts.len());
        counts.extend(missing.map(|name| PolicyCounts { name: name.clone(), ..PolicyCounts::default() }));
        for index in self.in_force.iter().take(fate.passed) {
            counts[*index].accepted += 1;
        }
        if let Some(index) = self.in_force.get(fate.passed).filter(|_| fate.is_rejected) {
            counts[*index].rejected += 1;
        }
    }

    /// Returns the counts per policy to report: all counts of current policies, and the counts of earlier policies that are not zero.
    pub(crate) fn reported(&self, counts: &[PolicyCounts]) -> Vec<PolicyCounts> {
        let named = self.known.iter().enumerate().map(|(index, name)| {
            let counted = counts.get(index).cloned();
            (index, counted.unwrap_or_else(|| PolicyCounts { name: name.clone(), ..PolicyCounts::default() }))
        });
        let is_recorded =
            |index: usize, counted: &PolicyCounts| counted.total() > 0 || self.in_force.contains(&index);
        named.filter(|(index, counted)| is_recorded(*index, counted)).map(|(_, counted)| counted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &mut Names, labels: &[&str]) {
        names.set(labels.iter().map(|label| (*label).to_owned()).collect());
    }

    fn reported(names: &Names, counts: &[PolicyCounts]) -> Vec<(String, u64, u64)> {
        names
            .reported(counts)
            .into_iter()
            .map(|counts| (counts.name, counts.accepted, counts.rejected))
            .collect()
    }

    #[test]
    fn a_request_rejected_by_the_third_policy_counts_with_all_three() {
        let (mut names, mut counts) = (Names::default(), Vec::new());
        set(&mut names, &["a", "b", "c", "d"]);
        names.count(&mut counts, Fate { passed: 2, is_rejected: true });
        names.count(&mut counts, Fate { passed: 4, is_rejected: false });
        let expected = [("a", 2, 0), ("b", 2, 0), ("c", 1, 1), ("d", 1, 0)];
        assert_eq!(
            reported(&names, &counts),
            expected.map(|(name, accepted, rejected)| (name.to_owned(), accepted, rejected))
        );
    }

    #[test]
    fn another_stack_goes_on_with_the_counts_of_the_names_it_shares() {
        let (mut names, mut counts) = (Names::default(), Vec::new());
        set(&mut names, &["a", "b"]);
        names.count(&mut counts, Fate { passed: 0, is_rejected: true });
        set(&mut names, &["b", "c"]);
        names.count(&mut counts, Fate { passed: 1, is_rejected: true });
        let expected = [("a", 0, 1), ("b", 1, 0), ("c", 0, 1)];
        assert_eq!(
            reported(&names, &counts),
            expected.map(|(name, accepted, rejected)| (name.to_owned(), accepted, rejected))
        );
        // A later run reports only the current policies.
        assert_eq!(reported(&names, &[]), [("b".to_owned(), 0, 0), ("c".to_owned(), 0, 0)]);
        set(&mut names, &["c"]);
        assert!(!names.are_counted());
    }

    #[test]
    fn names_without_end_share_a_count() {
        let (mut names, mut counts) = (Names::default(), Vec::new());
        for number in 0..1000 {
            set(&mut names, &[&format!("a{number}"), "last"]);
            names.count(&mut counts, Fate { passed: 1, is_rejected: true });
        }
        assert_eq!(counts.len(), NAMES + 1);
        assert_eq!(counts.last().map(|counts| (counts.name.as_str(), counts.accepted)), Some((OTHERS, 937)));
        assert_eq!(counts.iter().map(PolicyCounts::total).sum::<u64>(), 2000);
    }
}
