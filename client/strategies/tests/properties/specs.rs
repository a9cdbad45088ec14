//! Strategies under test: every entry with its defaults and at the ends of each parameter, and combinations.

use tailback::{PartKind, STRATEGIES, StrategySpec};

/// Combinations of parts that interact.
const COMBINATIONS: &[&str] = &[
    "aimd+full-jitter",
    "aimd+full-jitter+retry-budget",
    "aimd:initial=1,ssthresh=1+breaker",
    "aimd+breaker:failures=1+retry-budget:max=1",
    "aimd+breaker:failures=1,open=0,when-open=shed",
    "fixed-window:window=2+aimd+immediate",
    "fixed-window:window=1+breaker:failures=1+breaker:failures=2,when-open=shed",
    "decorrelated-jitter+breaker:failures=2,when-open=shed",
    "immediate+retry-budget:on-empty=back-off",
    "aimd+full-jitter+retry-budget:max=2,ask=failure",
    "constant+retry-budget:max=3,ratio=0.5,ask=failure+breaker:failures=2,when-open=shed",
    "none+breaker:failures=1,when-open=shed",
    "netflix-vegas:windowed=true+full-jitter",
    "netflix-gradient2+aimd:initial=1",
    "palantir+palantir:variant=endpoint+immediate",
    "vector-arc:initial=3+breaker:failures=1",
    "oracle+aimd:initial=1+constant:delay=10ms",
    "oracle+thain:max-attempts=3+breaker",
    "exponential:retry-after=exact,max-attempts=5+fixed-window:window=3",
    "linear:retry-after=ignore+breaker+breaker+breaker+retry-budget",
    "constant:delay=10ms+envoy-budget:least=1+breaker:failures=1,when-open=shed",
    "ethernet+constant:max-attempts=3+envoy-budget:least=2+aws-quota:capacity=20",
    "constant:delay=1s,max-attempts=2+envoy-budget:least=1 over ethernet+constant:max-attempts=2+envoy-budget",
    "full-jitter:max-attempts=3+failsafe-budget+tower-budget:reserve=0+finagle-budget:reserve=1",
    "constant:delay=10ms+ratio-breaker:least=2,ratio=0.5,open=1s,when-open=shed",
    "aimd+ratio-breaker:calls=4,trials=3,ratio=0.5,when-open=wait",
    "ethernet+constant:delay=10ms+ratio-breaker:least=1,open=1s,trials=2,when-open=wait",
    "constant:delay=10ms+success-rate-breaker:calls=3,success=0.9,open=1s,cap=4s,when-open=shed",
    "aimd+success-rate-breaker:average=exact,window=1s,least=1,in-a-row=0,open=100ms,spread=above",
    "ethernet+immediate+success-rate-breaker:in-a-row=1,open=500ms,row-of=transient+breaker:failures=3",
    "constant:delay=1s+go-zero-breaker:on-refusal=back-off,spare=0,timeout=1s",
    "none+go-zero-breaker:pass-every=10ms over constant:max-attempts=3+fixed-window:window=2",
    "full-jitter:max-attempts=4+sre-throttle:on-refusal=fail",
    "constant:delay=1s,max-time=1m+gax-breaker+gax-throttle",
];

pub(crate) fn all() -> Vec<String> {
    let mut specs: Vec<String> = COMBINATIONS.iter().map(|&text| text.to_owned()).collect();
    for entry in STRATEGIES {
        specs.push(entry.name.to_owned());
        let parameters = entry.parameters();
        let (mut lowest, mut highest) = (Vec::new(), Vec::new());
        for parameter in &parameters {
            let ends = ends(&parameter.accepted);
            for end in &ends {
                specs.push(format!("{}:{}={end}", entry.name, parameter.key));
            }
            lowest.push(format!("{}={}", parameter.key, ends[0]));
            highest.push(format!("{}={}", parameter.key, ends[ends.len() - 1]));
        }
        for extreme in [lowest, highest].map(|options| fitting(entry.name, &options)) {
            if entry.kind == PartKind::RetryPolicy {
                specs.push(format!("{extreme}+aimd"));
            } else {
                specs.push(format!("{extreme}+exponential:jitter=1"));
            }
            specs.push(extreme);
        }
    }
    specs
}

/// Returns the part with those options that are compatible with the preceding ones.
pub(crate) fn fitting(name: &str, options: &[String]) -> String {
    options.iter().fold(format!("{name}:"), |text, option| {
        let longer = format!("{text}{option},");
        if longer.parse::<StrategySpec>().is_ok() { longer } else { text }
    })
}

/// Returns the ends of a parameter's range, or all its words, parsed from its description.
pub(crate) fn ends(accepted: &str) -> Vec<String> {
    // A range may be followed by examples.
    let accepted =
        if accepted.contains(" from ") { accepted.split(", such as").next().unwrap() } else { accepted };
    if let Some((_, examples)) = accepted.split_once("such as ") {
        return examples.split(" or ").map(|example| example.trim_matches('`').to_owned()).collect();
    }
    match accepted.split_once(" from ") {
        Some((_, range)) => {
            let ends = range.split_once(" to ").or_else(|| range.split_once(" or ")).expect("two ends");
            [ends.0, ends.1].map(|end| end.trim_matches('`').to_owned()).to_vec()
        }
        None => accepted.split(" or ").map(str::to_owned).collect(),
    }
}

/// Returns whether ops may wait forever, or nearly so, by the rule itself. That holds for retries that back off until
/// successes earn new tokens, and for throttles whose rejections cause further rejections.
pub(crate) fn may_starve(spec: &str) -> bool {
    let starves = ["on-empty=back-off", "gax-breaker", "gax-throttle:factor=0", "sre-throttle", "most=0.999"];
    starves.iter().any(|starves| spec.contains(starves))
}
