//! Checks of results: against conditions that must not hold, and against a saved baseline.

mod change;
mod finding;

use std::str::FromStr;

use results::{Baseline, Conditions, RunFigures};

use crate::error::refuse;

pub use change::{Change, ChangeKind, changes};
pub use finding::{Finding, asked_for, judge, refuse_absent, refuse_unknown};

/// Strategy whose results are checked against conditions and a baseline.
pub struct Subject<'a> {
    strategy: String,
    runs: &'a RunFigures,
}

impl<'a> Subject<'a> {
    /// Creates the subject of a check: a strategy and the figures of its runs. `runs` must contain every figure that the conditions and the
    /// baseline use.
    pub fn new(strategy: &str, runs: &'a RunFigures) -> Self {
        Self { strategy: strategy.to_owned(), runs }
    }

    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    pub fn runs(&self) -> &'a RunFigures {
        self.runs
    }
}

/// Conditions on figures of results, written `PATH OPERATOR VALUE` or `PATH of STRATEGY OPERATOR VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub text: String,
    pub path: String,
    pub strategy: Option<String>,
    pub operator: Operator,
    pub value: f64,
    pub is_truth: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
    Unequal,
}

impl Operator {
    /// Comparison operators and their spellings. Longer spellings come before their prefixes, because the first match is used.
    const ALL: [(&'static str, Self); 6] = [
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        (">", Self::Above),
        ("<", Self::Below),
    ];

    #[expect(clippy::float_cmp, reason = "a comparison for equality accepts only the exact value")]
    pub fn holds(self, figure: f64, value: f64) -> bool {
        match self {
            Self::Above => figure > value,
            Self::AtLeast => figure >= value,
            Self::Below => figure < value,
            Self::AtMost => figure <= value,
            Self::Equal => figure == value,
            Self::Unequal => figure != value,
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let example = "write it like `amplification > 1.2`";
        // The operator begins at the first `<`, `>` or `!` of the condition. If the condition has none of these characters, the operator
        // begins at the first `==`. The text before the operator cannot contain these characters, because no strategy contains them.
        let place = text.find(['<', '>', '!']).or_else(|| text.find("=="));
        let at = place.ok_or_else(|| {
            let words =
                if text.contains('=') { "; a single `=` is not a comparison, write `==`" } else { "" };
            format!("the condition has no comparison{words}; {example}")
        })?;
        let (left, rest) = text.split_at(at);
        let (sign, operator) = Operator::ALL
            .into_iter()
            .find(|(sign, _)| rest.starts_with(sign))
            .ok_or_else(|| format!("`{rest}` does not begin with a comparison; {example}"))?;
        let (path, strategy) = match left.split_once(" of ") {
            Some((path, strategy)) => (path.trim(), Some(strategy.trim().to_owned())),
            None => (left.trim(), None),
        };
        if path.is_empty() {
            return Err(format!("there is no figure before `{sign}`; {example}"));
        }
        if path.chars().any(char::is_whitespace) {
            return Err(format!("`{path}` is not a valid path: there is white space in it; {example}"));
        }
        let right = rest[sign.len()..].trim();
        let value = number(right).map_err(|error| format!("{error}; {example}"))?;
        let is_truth = ["true", "false"].contains(&right);
        Ok(Self { text: text.trim().to_owned(), path: path.to_owned(), strategy, operator, value, is_truth })
    }
}

fn number(text: &str) -> Result<f64, String> {
    let parsed = match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse().ok().map(|percent: f64| percent / 100.0),
            None => text.parse().ok(),
        },
    };
    parsed.filter(|value| value.is_finite()).ok_or_else(|| {
        let unit = text.trim_end_matches(char::is_alphabetic);
        let words = if unit != text && unit.parse::<f64>().is_ok() {
            ": the path already includes the unit, so write only the number"
        } else {
            ""
        };
        format!("`{text}` is not a number{words}")
    })
}

/// Share that is at least 0 and less than 1, given as `5%` or `0.05`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(f64);

impl Share {
    pub const fn of_one(self) -> f64 {
        self.0
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let share = number(text.trim()).ok().filter(|share| (0.0..1.0).contains(share));
        share
            .map(Self)
            .ok_or_else(|| "it must be at least 0 and below 100 %, such as `5%` or `0.05`".to_owned())
    }
}

/// Pairing of results with a saved baseline. Rejects a baseline of another experiment, and finds the counterpart of each strategy in the
/// baseline.
pub fn refuse_other(baseline: &Baseline, name: &str, experiment: &Conditions) -> anyhow::Result<()> {
    let differences = experiment.differences(&baseline.experiment);
    if differences.is_empty() {
        return Ok(());
    }
    let is_exact_there =
        differences.iter().any(|it| it.starts_with("delay_noise is") && it.ends_with("there null"));
    let hint =
        if is_exact_there { " (with `--delay-noise 0`, because that baseline has exact delays)" } else { "" };
    refuse(format!(
        "`{name}` (--baseline) is of another experiment: {}; run the same{hint}, or save a new baseline",
        differences.join("; ")
    ))
}

pub fn refuse_foreign(baseline: &Baseline, name: &str, strategies: &[&str]) -> anyhow::Result<()> {
    if counterparts(baseline, strategies).iter().any(Option::is_some) {
        return Ok(());
    }
    let known: Vec<&str> = baseline.strategies.keys().map(String::as_str).collect();
    refuse(format!(
        "`{name}` (--baseline) has the strategies {}, and this run has {}; none of them match, so save a new baseline",
        known.join(", "),
        strategies.join(", ")
    ))
}

/// Returns the counterpart of each strategy in the baseline, which is an identical strategy if there is one. Otherwise it is a strategy of
/// the same parts with other parameters, provided that each side has only one unpaired strategy of these parts. If exactly one strategy on
/// each side is still unpaired, these two strategies are counterparts.
pub fn counterparts<'a>(baseline: &'a Baseline, strategies: &[&str]) -> Vec<Option<&'a str>> {
    let known = || baseline.strategies.keys().map(String::as_str);
    let mut found: Vec<Option<&str>> =
        strategies.iter().map(|strategy| known().find(|known| known == strategy)).collect();
    let not_paired_before = |found: &[Option<&str>]| {
        known().filter(|known| !found.contains(&Some(*known))).collect::<Vec<&'a str>>()
    };
    let not_paired_now = |found: &[Option<&str>]| {
        (0..strategies.len()).filter(|index| found[*index].is_none()).collect::<Vec<usize>>()
    };
    let (there, here) = (not_paired_before(&found), not_paired_now(&found));
    for index in &here {
        let parts = parts_of(strategies[*index]);
        let like: Vec<&str> = there.iter().copied().filter(|known| parts_of(known) == parts).collect();
        let is_only = here.iter().filter(|other| parts_of(strategies[**other]) == parts).count() == 1;
        if let ([only], true) = (&like[..], is_only) {
            found[*index] = Some(only);
        }
    }
    if let ([only], [index]) = (&not_paired_before(&found)[..], &not_paired_now(&found)[..]) {
        found[*index] = Some(only);
    }
    found
}

/// Returns the names of a strategy's parts without their parameters. The name of a preset is kept, because presets differ by it.
fn parts_of(strategy: &str) -> Vec<&str> {
    strategy
        .split('+')
        .flat_map(|parts| parts.split(" over "))
        .map(|part| match part.trim().strip_prefix("preset:") {
            Some(preset) => preset.split(',').next().unwrap_or(preset),
            None => part.split(':').next().unwrap_or(part).trim(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use results::RunFigures;

    use super::*;

    fn read(text: &str) -> (String, Option<String>, Operator, f64) {
        let condition: Condition = text.parse().unwrap();
        (condition.path, condition.strategy, condition.operator, condition.value)
    }

    #[test]
    fn conditions_are_read() {
        assert_eq!(read("amplification > 1.2"), ("amplification".into(), None, Operator::Above, 1.2));
        assert_eq!(read("efficiency<90%"), ("efficiency".into(), None, Operator::Below, 0.9));
        let of_one = "op_latency_ms.p99 of aimd:beta=0.5,min=1 >= 250";
        let strategy = Some("aimd:beta=0.5,min=1".to_owned());
        assert_eq!(read(of_one), ("op_latency_ms.p99".into(), strategy, Operator::AtLeast, 250.0));
        assert_eq!(
            read("makespan_complete == false"),
            ("makespan_complete".into(), None, Operator::Equal, 0.0)
        );
        assert_eq!(read("ops.given_up != 0").2, Operator::Unequal);
    }

    #[test]
    fn invalid_conditions_are_refused_with_a_remedy() {
        let error = |text: &str| text.parse::<Condition>().unwrap_err();
        assert!(error("amplification = 1").contains("write `==`"));
        assert!(error("amplification").contains("no comparison"));
        assert!(error("> 3").contains("no figure before"));
        assert!(error("p99 > 250ms").contains("write only the number"));
        assert!(error("p99 > many").contains("`many` is not a number"));
        assert!(error("p 99 > 1").contains("white space"));
        assert!(error("a ! 1").contains("does not begin with a comparison"));
        assert!("nan".parse::<Share>().is_err() && "120%".parse::<Share>().is_err());
    }

    fn baseline(strategies: &[&str]) -> Baseline {
        let config = results::ConfigRecord::default();
        let runs = RunFigures::new([], []);
        let strategies = strategies.iter().map(|strategy| (*strategy, &runs));
        Baseline::new(&Conditions::new(&config, results::Mode::Simulated), strategies)
    }

    /// The counterpart is the strategy itself, else its former setting, else the only other one.
    #[test]
    fn a_strategy_is_matched_to_its_counterpart_in_the_baseline() {
        let found = |there: &[&str], here: &[&str]| {
            let baseline = baseline(there);
            counterparts(&baseline, here)
                .into_iter()
                .map(|found| found.unwrap_or("-").to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(found(&["aimd"], &["aimd"]), ["aimd"]);
        assert_eq!(found(&["aimd"], &["none"]), ["aimd"]);
        assert_eq!(found(&["aimd:beta=0.9", "none"], &["none", "aimd:beta=0.8"]), ["none", "aimd:beta=0.9"]);
        assert_eq!(
            found(
                &["preset:openai", "preset:anthropic", "aimd"],
                &["preset:anthropic,max-attempts=5", "preset:openai,max-attempts=5", "cubic"]
            ),
            ["preset:anthropic", "preset:openai", "aimd"]
        );
        assert_eq!(found(&["aimd", "none"], &["cubic", "bbr"]), ["-", "-"]);
        assert_eq!(found(&["aimd:beta=0.9"], &["aimd:beta=0.8", "aimd:beta=0.7"]), ["-", "-"]);
    }
}
