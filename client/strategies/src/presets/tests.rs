//! Every preset is a strategy, and says where it is from.

use std::collections::BTreeSet;

use super::*;
use crate::StrategySpec;

fn error(text: &str) -> String {
    text.parse::<StrategySpec>().unwrap_err().to_string()
}

#[test]
fn every_preset_is_a_strategy_and_says_what_it_is_and_from_where() {
    for preset in presets() {
        let text = format!("preset:{}", preset.name);
        text.parse::<StrategySpec>().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(!preset.sources.is_empty() && !preset.summary.is_empty(), "{text}");
        assert!(preset.summary.len() <= 120 && !preset.summary.ends_with('.'), "{text}: {}", preset.summary);
        let is_date = preset.date.len() == 10 && preset.date.split('-').count() == 3;
        assert!(is_date, "{text}: {}", preset.date);
        for (key, parameter) in &preset.parameters {
            for word in parameter.choices.keys() {
                let text = format!("{text},{key}={word}");
                text.parse::<StrategySpec>().unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
        for recorded in &preset.recorded {
            recorded
                .text
                .parse::<StrategySpec>()
                .unwrap_or_else(|error| panic!("{text}, {recorded:?}: {error}"));
        }
    }
}

#[test]
fn names_are_unique_and_each_configuration_is_recorded_once() {
    let names: Vec<&str> = preset_names().collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    let recorded = presets().iter().flat_map(|preset| &preset.recorded);
    let pairs: Vec<(&str, &str)> = recorded.map(|it| (&*it.file, &*it.config)).collect();
    for (index, pair) in pairs.iter().enumerate() {
        assert!(!pairs[..index].contains(pair), "{pair:?} twice");
    }
}

#[test]
fn what_is_typed_behind_a_name_goes_over_the_preset() {
    let described = |text: &str| {
        let spec: StrategySpec = text.parse().unwrap();
        let parts = spec.describe();
        let all = parts.into_iter().flat_map(|(part, parameters)| {
            parameters.into_iter().map(move |it| format!("{part}:{}={}", it.key, it.value))
        });
        all.collect::<Vec<_>>()
    };
    let shown = described("preset:aws-2025,max-attempts=5,cap=3s+aimd:beta=0.5");
    for wanted in [":max-attempts=5", "aimd:beta=0.5"] {
        assert!(shown.contains(&wanted.to_owned()), "{wanted}: {shown:?}");
    }
    assert!(shown.iter().any(|line| line.ends_with(":cap=3s")), "{shown:?}");
    let spec: StrategySpec = "preset:aws-2025,max-attempts=5+aimd".parse().unwrap();
    assert_eq!(spec.to_string(), "preset:aws-2025,max-attempts=5+aimd", "the text is kept");
}

#[test]
fn mistakes_around_presets_are_answered() {
    assert!(error("preset:aws-2052").contains("unknown preset `aws-2052`; did you mean `aws-2025`?"));
    assert!(error("preset").contains("`preset` names no preset"));
    assert!(error("preset:max-attempts=5").contains("names no preset"));
    assert!(error("preset:aws-2025,cpa=5s").contains("no parameter `cpa`; did you mean `cap`?"));
    assert!(error("preset:aws-2025,cap").contains("`cap` of `preset:aws-2025` has no value"));
    assert!(error("preset:aws-2025,max-attempts=0").contains("`max-attempts=0` is not accepted"));
    assert!(error("preset:aws-2025,max-attempts=2,max-attempts=3").contains("twice"));
    assert!(error("preset:aws-2025+full-jitter").contains("two retry policies"));
}
