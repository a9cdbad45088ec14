//! Properties of every policy in the list.

pub(super) mod timelines;

use std::collections::BTreeSet;

use super::*;
use crate::Policy;

#[test]
fn names_and_keys_are_unique_and_kebab_case() {
    let names: BTreeSet<&str> = POLICIES.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), POLICIES.len());
    for entry in POLICIES {
        let parameters = entry.parameters();
        let keys: BTreeSet<&str> = parameters.iter().map(|parameter| parameter.key).collect();
        assert_eq!(keys.len(), parameters.len(), "{}", entry.name);
        for name in keys.into_iter().chain([entry.name]) {
            let mut words = name.split('-');
            let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
            assert!(words.all(is_word), "{name}");
        }
    }
}

#[test]
fn every_policy_has_a_summary_a_rule_and_a_source() {
    for PolicyEntry { name, summary, rule, source, .. } in POLICIES {
        for text in [summary, rule, source] {
            assert!(!text.is_empty() && !text.contains('\n') && !text.contains("  "), "{name}: {text}");
        }
        assert!(summary.len() <= 90 && !summary.ends_with('.'), "{name}: {summary}");
    }
    for parameter in POLICIES.iter().flat_map(PolicyEntry::parameters) {
        assert!(!parameter.about.is_empty() && !parameter.about.ends_with('.'), "{}", parameter.key);
    }
}

#[test]
fn every_default_is_accepted_as_it_is_shown() {
    for entry in POLICIES {
        let defaults = entry.parameters();
        let typed: Vec<(String, String)> =
            defaults.iter().map(|parameter| (parameter.key.to_owned(), parameter.value.clone())).collect();
        assert_eq!((entry.configure)(&typed).unwrap().parameters, defaults, "{}", entry.name);
    }
}

#[test]
fn the_documentation_has_every_policy_with_its_defaults() {
    let words: Vec<&str> = include_str!("../../../../docs/scenarios.md").split_whitespace().collect();
    let documented = words.join(" ");
    for entry in POLICIES {
        let policy: Policy = entry.name.parse().unwrap();
        assert!(documented.contains(&format!("- `{policy}`")), "docs/scenarios.md lacks `{policy}`");
        assert!(documented.contains(entry.summary), "docs/scenarios.md lacks: {}", entry.summary);
    }
}
