//! List of the figures of a result. Rankings, columns, checks, baselines, sums over seeds, claims and tables of reports look up figures in
//! this list by path. No other code depends on the place of a figure in a result.

pub(crate) mod columns;
mod figure;
mod list;
pub mod numbers;
pub(crate) mod over_runs;
pub(crate) mod run_figures;

pub use figure::{Direction, Figure, Kind, Ranked};
pub use list::{FIGURES, MAKESPAN_OVER_BOUND};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::run_leaves;

    #[test]
    fn figures_are_all_numbers_of_a_result_in_its_order() {
        let leaves = run_leaves();
        let numbers: Vec<&str> =
            leaves.iter().filter(|leaf| leaf.is_number).map(|leaf| leaf.path.as_str()).collect();
        let listed: Vec<&str> = FIGURES.iter().map(|figure| figure.path).collect();
        assert_eq!(listed, numbers);
    }

    /// Returns the paths of a page's tables. In `a.b`, `.c`, the second path is `a.c`; and `a.*` is every path below `a`.
    fn documented(page: &str) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        for row in page.lines().filter_map(|line| line.strip_prefix("| ")) {
            let mut parent = "";
            for name in row.split('`').skip(1).step_by(2) {
                let is_sibling = name.starts_with('.');
                if !is_sibling {
                    parent = name.rsplit_once('.').map_or("", |(parent, _)| parent);
                }
                paths.insert(if is_sibling { format!("{parent}{name}") } else { name.to_owned() });
            }
        }
        paths
    }

    #[test]
    fn the_documentation_has_every_figure() {
        let documented = documented(include_str!("../../../docs/figures.md"));
        for path in FIGURES.iter().map(|figure| figure.path) {
            let all = path.rsplit_once('.').map(|(parent, _)| format!("{parent}.*"));
            let is_there = documented.contains(path) || all.is_some_and(|all| documented.contains(&all));
            assert!(is_there, "docs/figures.md has no row with `{path}`");
        }
    }

    #[test]
    fn every_path_and_every_key_of_a_ranking_is_there_once() {
        let paths: BTreeSet<&str> = FIGURES.iter().map(|figure| figure.path).collect();
        assert_eq!(paths.len(), FIGURES.len());
        let keys: Vec<&str> = FIGURES.iter().filter_map(|figure| Some(figure.ranked?.key)).collect();
        assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len());
        for figure in FIGURES.iter().filter(|figure| figure.ranked.is_some()) {
            assert!(!figure.name.is_empty() && figure.better == Direction::Less, "{}", figure.path);
        }
    }
}
