//! Tests of the registry: properties of every entry, and fixed names and defaults.
//!
//! Source: the project's design ("Names fixed so far, with defaults").

use std::collections::BTreeSet;

use super::*;
use crate::{Context, OracleSchedule, Part, PartKind, StrategySpec};

fn at_once() -> OracleSchedule {
    OracleSchedule::new(|_op, from| from)
}

#[test]
fn names_are_unique_and_kebab_case() {
    let names: BTreeSet<&str> = STRATEGIES.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), STRATEGIES.len());
    let keys = STRATEGIES.iter().flat_map(Entry::parameters).map(|parameter| parameter.key);
    for name in names.into_iter().chain(keys) {
        let words: Vec<&str> = name.split('-').collect();
        assert!(
            words.iter().all(|word| {
                word.starts_with(|c: char| c.is_ascii_lowercase())
                    && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            }),
            "{name}"
        );
    }
}

#[test]
fn keys_are_unique_among_own_and_common_parameters() {
    for entry in STRATEGIES {
        let mut keys: Vec<&str> = entry.parameters().iter().map(|parameter| parameter.key).collect();
        keys.extend(StrategySpec::common_parameters().iter().map(|parameter| parameter.key));
        let unique: BTreeSet<&str> = keys.iter().copied().collect();
        assert_eq!(unique.len(), keys.len(), "{}: {keys:?}", entry.name);
    }
}

#[test]
fn every_entry_has_a_summary_a_rule_and_a_source() {
    for Entry { name, summary, rule, source, .. } in STRATEGIES {
        for text in [summary, rule, source] {
            assert!(!text.is_empty() && !text.contains('\n') && !text.contains("  "), "{name}: {text}");
        }
        assert!(summary.len() <= 72 && !summary.ends_with('.'), "{name}: {summary}");
    }
    for parameter in STRATEGIES.iter().flat_map(Entry::parameters) {
        assert!(!parameter.about.is_empty() && !parameter.about.ends_with('.'), "{}", parameter.key);
    }
}

#[test]
fn entries_come_in_the_order_of_their_kinds() {
    let order = [PartKind::RetryPolicy, PartKind::Limiter, PartKind::Budget, PartKind::Hedging];
    let kinds = STRATEGIES.iter().map(|entry| order.iter().position(|kind| *kind == entry.kind));
    assert!(kinds.is_sorted());
}

#[test]
fn every_entry_starts_with_its_defaults_as_its_kind() {
    for entry in STRATEGIES {
        let mut context = Context { oracle_schedule: Some(at_once()), ..Context::default() };
        let kind = match entry.prepare(&[]).and_then(|part| part.start(&mut context)).unwrap() {
            Part::Limiter(_) => PartKind::Limiter,
            Part::RetryPolicy(_) | Part::BackOff(_) => PartKind::RetryPolicy,
            Part::Budget(_) => PartKind::Budget,
            Part::Hedging(_) => PartKind::Hedging,
        };
        assert_eq!(kind, entry.kind, "{}", entry.name);
    }
}

#[test]
fn every_default_is_accepted_as_it_is_shown() {
    for entry in STRATEGIES {
        let defaults = entry.parameters();
        let typed: Vec<(String, String)> =
            defaults.iter().map(|parameter| (parameter.key.to_owned(), parameter.value.clone())).collect();
        assert_eq!(entry.prepare(&typed).unwrap().config.parameters(), defaults, "{}", entry.name);
    }
    for parameter in StrategySpec::common_parameters() {
        let text = format!("none:{}={}", parameter.key, parameter.value);
        assert_eq!(
            text.parse::<StrategySpec>().unwrap().describe().pop().unwrap().1,
            StrategySpec::common_parameters()
        );
    }
}

#[test]
fn the_fixed_names_have_their_fixed_defaults() {
    let fixed: [(&str, &[(&str, &str)]); 14] = [
        ("none", &[]),
        ("immediate", &[]),
        ("constant", &[("delay", "1s")]),
        ("uniform", &[("max", "1s")]),
        ("linear", &[("base", "50ms"), ("cap", "30s")]),
        ("exponential", &[("base", "50ms"), ("cap", "30s"), ("jitter", "0")]),
        ("full-jitter", &[("base", "50ms"), ("cap", "30s")]),
        ("equal-jitter", &[("base", "50ms"), ("cap", "30s")]),
        ("decorrelated-jitter", &[("base", "50ms"), ("cap", "30s")]),
        ("thain", &[("base", "1s"), ("factor", "2"), ("cap", "1h")]),
        ("fixed-window", &[("window", "50")]),
        ("aimd", &[("variant", "reno"), ("beta", "0.9"), ("initial", "20"), ("ssthresh", "1024")]),
        (
            "tailback",
            &[
                ("initial", "20"),
                ("beta", "0.95"),
                ("longest-gap", "1m"),
                ("hold", "on"),
                ("hold-max", "1h"),
                ("quota", "on"),
            ],
        ),
        ("oracle", &[]),
    ];
    for (name, wanted) in fixed {
        let parameters = find(name).unwrap_or_else(|| panic!("no `{name}`")).parameters();
        let shown: Vec<(&str, &str)> =
            parameters.iter().map(|parameter| (parameter.key, parameter.value.as_str())).collect();
        // Parameters that were added later follow the fixed ones.
        assert!(shown.starts_with(wanted), "{name}: {shown:?}");
    }
    let common = StrategySpec::common_parameters();
    assert_eq!((common[0].key, common[0].value.as_str()), ("max-attempts", "unlimited"));
}

#[test]
fn the_budgets_have_these_defaults() {
    let shown = |name| {
        let parameters = find(name).unwrap().parameters();
        parameters
            .iter()
            .map(|parameter| format!("{}={}", parameter.key, parameter.value))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown("retry-budget"), ["max=10", "ratio=0.1", "on-empty=fail", "ask=retry"]);
    assert_eq!(shown("breaker"), ["failures=5", "open=1s", "factor=2", "cap=30s", "when-open=wait"]);
}
