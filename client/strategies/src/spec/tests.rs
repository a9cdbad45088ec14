//! Tests of parsing `name:key=value+name`, and of its error messages.
//!
//! Source: the project's design ("A strategy is written as …", "Manners").

use super::*;

fn error(text: &str) -> String {
    text.parse::<StrategySpec>().unwrap_err().to_string()
}

fn shown(text: &str) -> Vec<String> {
    let spec: StrategySpec = text.parse().unwrap();
    spec.describe()
        .into_iter()
        .flat_map(|(part, parameters)| {
            parameters
                .into_iter()
                .map(move |parameter| format!("{part}:{}={}", parameter.key, parameter.value))
        })
        .collect()
}

#[test]
fn parts_and_their_parameters_are_read_and_the_text_is_kept() {
    let spec: StrategySpec = " aimd:beta=0.5, initial=20 + full-jitter:base=10ms ".parse().unwrap();
    assert_eq!(spec.to_string(), "aimd:beta=0.5, initial=20 + full-jitter:base=10ms");
    assert_eq!(spec.names().collect::<Vec<_>>(), ["aimd", "full-jitter"]);
    assert!(!spec.needs_foreknowledge());
    let shown = shown("aimd:beta=0.5+full-jitter:base=10ms");
    assert_eq!(
        shown[..10],
        [
            "aimd:variant=reno",
            "aimd:beta=0.5",
            "aimd:initial=20",
            "aimd:ssthresh=1024",
            "full-jitter:base=10ms",
            "full-jitter:cap=30s",
            "full-jitter:min=0s",
            "full-jitter:grid=0s",
            ":max-attempts=unlimited",
            ":retry-after=floor",
        ]
    );
}

#[test]
fn common_parameters_are_accepted_on_any_part() {
    for text in ["aimd:max-attempts=7+immediate", "aimd+immediate:max-attempts=7"] {
        assert!(shown(text).contains(&":max-attempts=7".to_owned()), "{text}");
    }
    let unlimited: StrategySpec = "none:max-attempts=unlimited".parse().unwrap();
    assert_eq!(unlimited.describe().pop().unwrap().1[0].value, "unlimited");
    let limited = unlimited.with_max_attempts(3).with_max_attempts(9);
    assert_eq!(limited.describe().pop().unwrap().1[0].value, "3");
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_one() {
    assert_eq!(
        error("ful-jitter"),
        "unknown strategy `ful-jitter` (did you mean `full-jitter`?); run `loadgen strategies` to list all strategies"
    );
    assert_eq!(
        error("huggingface"),
        "unknown strategy `huggingface` (did you mean `preset:huggingface-hub`?); run `loadgen strategies` to list all strategies"
    );
    assert_eq!(
        error("zzzzzzzz"),
        "unknown strategy `zzzzzzzz`; run `loadgen strategies` to list all strategies"
    );
    assert_eq!(
        error("openai"),
        "unknown strategy `openai` (did you mean `preset:openai`?); run `loadgen strategies` to list all strategies"
    );
    assert!(error("aimd+").starts_with("unknown strategy ``"));
    assert!(error("").starts_with("unknown strategy ``"));
    assert!(error("AIMD").starts_with("unknown strategy `AIMD`"));
}

/// The error also lists the known parameters.
#[test]
fn an_unknown_parameter_error_suggests_the_nearest_one() {
    let keys = StrategySpec::common_parameters().into_iter().map(|parameter| format!("`{}`", parameter.key));
    let common = keys.filter(|key| !key.starts_with("`advice-")).chain(["`advice-…`".to_owned()]);
    let common = common.collect::<Vec<_>>().join(", ");
    assert_eq!(
        error("aimd:bta=0.5"),
        format!(
            "`aimd` has no parameter `bta` (did you mean `beta`?); its parameters are `variant`, `beta`, `initial`, \
             `ssthresh`, {common}"
        )
    );
    assert_eq!(
        error("immediate:delay=1s"),
        format!("`immediate` has no parameter `delay`; its parameters are {common}")
    );
}

#[test]
fn a_value_out_of_range_is_answered_with_what_is_accepted() {
    assert_eq!(
        error("fixed-window:window=0"),
        "in `fixed-window`: `window=0` is not accepted; `window` takes a whole number from 1 or `unlimited`"
    );
    assert_eq!(
        error("aimd+exponential:jitter=1.5"),
        "in `exponential`: `jitter=1.5` is not accepted; `jitter` takes a number from 0 to 1"
    );
    assert_eq!(
        error("none:retry-after=never"),
        "in `none`: `retry-after=never` is not accepted; `retry-after` takes floor or exact or add or ignore"
    );
    assert!(error("none:max-attempts=0").contains("a whole number from 1 or `unlimited`"));
}

#[test]
fn what_is_no_number_is_refused_everywhere() {
    for entry in STRATEGIES {
        let common = StrategySpec::common_parameters();
        for parameter in entry.parameters().iter().chain(&common) {
            for value in
                ["nan", "NaN", "inf", "-inf", "-1", "-1s", "1e400", "9e99s", "99999999999999999999", ""]
            {
                let text = format!("{}:{}={value}", entry.name, parameter.key);
                let error = error(&text);
                assert!(error.contains(&parameter.accepted), "{text}: {error}");
            }
        }
    }
}

#[test]
fn a_parameter_without_a_value_is_refused() {
    assert_eq!(error("aimd:beta"), "`beta` of `aimd` has no value; write `aimd:key=value,key=value`");
}

#[test]
fn two_retry_policies_or_too_many_budgets_are_refused() {
    assert_eq!(
        error("immediate+aimd+full-jitter"),
        "`immediate+aimd+full-jitter` has two retry policies, but `+` can join only one with limiters and budgets; keep one, \
         or put one around the other: `A over B`"
    );
    // The error must not be that both set the same option.
    for (text, words) in [
        ("", "(a name is missing)"),
        ("full-jitter,max-attempts=6", "(did you mean `full-jitter:max-attempts=6`?)"),
        ("hold full-jitter", "(did you mean `hold+full-jitter`?)"),
    ] {
        assert!(error(text).contains(words), "{}", error(text));
    }
    let presets = error("preset:openai+preset:envoy");
    assert!(presets.contains("two retry policies") && presets.ends_with("`A over B`"), "{presets}");
    assert!("breaker+breaker+breaker+breaker".parse::<StrategySpec>().is_ok());
    assert!(error("breaker+breaker+breaker+breaker+breaker").contains("keep at most 4"));
}

#[test]
fn one_part_of_the_innermost_layer_may_hedge() {
    assert!("constant over none+hedging:delay=1s".parse::<StrategySpec>().is_ok());
    assert_eq!(
        error("hedging+aimd+hedging:delay=1s"),
        "`hedging+aimd+hedging:delay=1s` has two hedgers, `hedging` and `hedging`; keep one of them"
    );
    assert!(error("constant+hedging over none").starts_with("`hedging` is not in the innermost layer, "));
    assert!(error("none+hedging+ethernet").ends_with("whether an attempt starts; leave one of them out"));
    assert!(
        error("ethernet+constant over none+hedging")
            .starts_with("`hedging` cannot be combined with `ethernet`, ")
    );
    assert_eq!(
        error("hedging:copies=5"),
        "in `hedging`: `copies=5` is not accepted; `copies` takes a whole number from 1 to 4"
    );
}

#[test]
fn the_oracle_does_not_start_without_foreknowledge() {
    let spec: StrategySpec = "oracle".parse().unwrap();
    assert!(spec.needs_foreknowledge());
    assert_eq!(spec.build(1, None).unwrap_err(), SpecError::NoForeknowledge);
}

#[test]
fn a_parameter_of_a_part_can_be_set_later() {
    let spec: StrategySpec = "aimd:beta=0.5, initial=20 + full-jitter".parse().unwrap();
    let with = |part, key, value| spec.with(part, key, value).map(|found| found.map(|spec| spec.to_string()));
    let set = with("aimd", "beta", "0.9").unwrap();
    assert_eq!(set.as_deref(), Some("aimd:initial=20,beta=0.9+full-jitter"));
    let set = with("full-jitter", "cap", "2s").unwrap();
    assert_eq!(set.as_deref(), Some("aimd:beta=0.5, initial=20+full-jitter:cap=2s"));
    assert_eq!(with("none", "cap", "2s").unwrap(), None);
    assert!(with("aimd", "beta", "7").is_err() && with("aimd", "bta", "0.5").is_err());
    assert!(spec.sets("aimd", "initial") && spec.sets("aimd", "beta"));
    assert!(!spec.sets("aimd", "variant") && !spec.sets("full-jitter", "beta"));
}

#[test]
fn a_parameter_of_a_presets_part_is_set_as_if_it_were_given() {
    let with = |text: &str, part, key, value| {
        let spec: StrategySpec = text.parse().unwrap();
        assert!(spec.has_part(part), "{text}: {part}");
        spec.with(part, key, value).map(|found| found.unwrap().to_string())
    };
    for (text, part, key, expected) in [
        ("preset:openai", "backoff", "base", "preset:openai,backoff.base=9s"),
        (
            "preset:openai, max-time=1m+aimd",
            "backoff",
            "base",
            "preset:openai,max-time=1m,backoff.base=9s+aimd",
        ),
        ("aimd+preset:openai,backoff.base=1s", "backoff", "base", "aimd+preset:openai,backoff.base=9s"),
        ("preset:openai,base=1s", "openai", "base", "preset:openai,base=9s"),
        ("preset:openai", "preset:openai", "max-time", "preset:openai,max-time=9s"),
        ("preset:openai", "backoff", "max-time", "preset:openai,max-time=9s"),
        ("preset:openai over preset:envoy", "envoy", "cap", "preset:openai over preset:envoy,cap=9s"),
        ("preset:octokit", "preset:octokit", "outer.max-time", "preset:octokit,outer.max-time=9s"),
    ] {
        assert_eq!(with(text, part, key, "9s").as_deref(), Ok(expected), "{text}: {part}.{key}");
    }
    for (text, part, key) in [
        ("preset:openai", "backoff", "nonsense"),
        ("preset:openai", "openai", "nonsense"),
        ("preset:openai+aimd", "backoff", "beta"),
    ] {
        assert!(with(text, part, key, "1").is_err(), "{text}: {part}.{key}");
    }
    let spec: StrategySpec = "preset:aws-2026,max-attempts=5".parse().unwrap();
    assert!(spec.sets("aws-2026", "max-attempts") && spec.sets("backoff", "max-attempts"));
    assert!(!spec.sets("backoff", "base") && !spec.has_part("openai") && !spec.has_part("aimd"));
    assert_eq!(spec.with("aimd", "beta", "0.5").map(|found| found.is_none()), Ok(true));
}

#[test]
fn a_limit_that_is_looser_than_the_strategy_s_own_is_doubted() {
    let spec: StrategySpec = "preset:aws-2026".parse().unwrap();
    let [doubt] = &spec.clone().with_max_attempts(10).doubts()[..] else { panic!("one doubt") };
    assert!(doubt.contains("stops after 3 attempts") && doubt.contains("write `max-attempts=10`"), "{doubt}");
    assert_eq!(spec.with_max_attempts(2).doubts(), [""; 0]);
}

#[test]
fn what_is_hardly_meant_is_doubted() {
    let doubts = |text: &str| text.parse::<StrategySpec>().unwrap().doubts();
    for text in [
        "aimd",
        "aimd+full-jitter",
        "full-jitter:base=1s,cap=1s",
        "aimd+fixed-window",
        "retry-budget+breaker",
    ] {
        assert_eq!(doubts(text), [""; 0], "{text}");
    }
    let [twice] = &doubts("aimd+aimd:beta=0.5+aimd")[..] else { panic!("one doubt") };
    assert!(twice.contains("has `aimd` more than once"), "{twice}");
    for name in ["exponential", "full-jitter", "equal-jitter", "decorrelated-jitter", "linear", "thain"] {
        let [cut] = &doubts(&format!("{name}:base=1h,cap=1s"))[..] else { panic!("one doubt about {name}") };
        assert!(cut.contains("`cap=1s` is below `base=1h`"), "{cut}");
    }
}

#[test]
fn layers_are_joined_by_over_and_each_decides_about_retries() {
    let spec: StrategySpec = "constant:max-attempts=3+aimd over full-jitter:base=1ms".parse().unwrap();
    assert_eq!(spec.names().collect::<Vec<_>>(), ["constant", "aimd", "full-jitter"]);
    assert!(error("aimd over constant").contains("`aimd` has no retry policy"));
    assert!(error("constant over aimd").contains("`aimd` has no retry policy"));
    assert!(error("constant over constant over constant over constant").contains("keep at most 3"));
    for (text, shown) in
        [("preset:openai over", "preset:openai over"), (" over constant ", "over constant"), ("over", "over")]
    {
        assert_eq!(
            error(text),
            format!(
                "`{shown}` has nothing on one side of `over`; write `A over B`, where B is the inner strategy"
            )
        );
    }
}

#[test]
fn a_gate_is_doubted_alone_and_if_it_waits_longer_than_the_rejected_op() {
    let doubts = |text: &str| text.parse::<StrategySpec>().unwrap().doubts();
    for text in [
        "hold+aimd",
        "hold+full-jitter",
        "hold+none",
        "hold:blind=1s",
        "preset:openai+hold:max=2m",
        "tailback",
        "hold+tailback:hold=off",
    ] {
        assert_eq!(doubts(text), [""; 0], "{text}");
    }
    for (text, words) in [
        ("hold", "in `hold`, `hold` alone decides when attempts are sent"),
        ("hold+immediate", "in `hold+immediate`, `hold` alone decides when attempts are sent"),
        ("hold:max=0+aimd", "in `hold:max=0+aimd`, `max=0` makes `hold` hold nothing"),
        (
            "full-jitter+tailback over constant",
            "in `full-jitter+tailback over constant`, `tailback` is not in the innermost layer",
        ),
        ("hold+tailback", "in `hold+tailback`, `tailback` already holds all ops as the server advises"),
        (
            "tailback:advice-limit=30s",
            "in `tailback:advice-limit=30s`, a rejected op follows advice up to 30s (`advice-limit`), but `tailback` lets all other ops wait \
             up to 1h; `tailback:hold-max=30s` treats all alike",
        ),
        (
            "preset:openai+hold",
            "in `preset:openai+hold`, a rejected op follows advice up to 2m (`advice-limit`), but `hold` lets all other ops wait up to \
             1h; `hold:max=2m` treats all alike",
        ),
    ] {
        let [doubt] = &doubts(text)[..] else { panic!("one doubt about `{text}`: {:?}", doubts(text)) };
        assert!(doubt.starts_with(words), "{doubt}");
    }
    assert_eq!(
        error("aimd+hold+full-jitter over full-jitter"),
        "`hold` is not in the innermost layer, so it would not hold the attempts inside a try; write `hold` behind the last `over`"
    );
}
