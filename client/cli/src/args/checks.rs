//! Checks on results, made for CI: conditions that must not hold, and a baseline to compare with.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

/// What makes a run fail although it went well.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Checks")]
pub(crate) struct CheckArgs {
    /// Exit with 99 if this holds, such as `amplification > 1.2`; may be given several times.
    ///
    /// A condition is `PATH OPERATOR VALUE`: any figure of the result JSON by its path (see docs/figures.md), one of `>`,
    /// `>=`, `<`, `<=`, `==`, `!=`, and a number, a percentage (`90%`), `true` or `false`. Of several runs the mean counts,
    /// or what follows the path: `op_latency_ms.p99.max`, `makespan_s.p95` (mean, sd, min, p5, p25, p50, p75, p95, max).
    /// Of several strategies each must pass; `PATH of STRATEGY` means one of them: `amplification of aimd > 1.2`. A figure
    /// that a run does not have fails, too; only `stalled_at_s` is missing when all is well.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,

    /// Save the figures of all runs as a baseline, to compare later ones with: `tailback-baselines/NAME.json`, or a path.
    #[arg(long, value_name = "NAME")]
    pub(crate) save_baseline: Option<BaselineName>,

    /// Compare with a saved baseline, figure by figure; exit with 99 if any is worse.
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<BaselineName>,

    /// How much a figure may differ from the baseline before it counts as worse or better.
    #[arg(long, value_name = "SHARE", default_value = "5%", requires = "baseline")]
    pub(crate) noise: Share,
}

/// `PATH OPERATOR VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    /// As typed.
    pub(crate) text: String,
    pub(crate) path: String,
    /// The one strategy that it is about.
    pub(crate) strategy: Option<String>,
    pub(crate) operator: Operator,
    pub(crate) value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
    Unequal,
}

impl Operator {
    /// The longer before those that they begin with.
    const ALL: [(&'static str, Self); 6] = [
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        (">", Self::Above),
        ("<", Self::Below),
    ];

    /// Whether a figure stands so to a value.
    #[expect(clippy::float_cmp, reason = "whoever asks for equality gets it")]
    pub(crate) fn holds(self, figure: f64, value: f64) -> bool {
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
        // No strategy holds such a sign, so the first one is the comparison.
        let place = text.find(['<', '>', '!']).or_else(|| text.find("=="));
        let at = place.ok_or_else(|| {
            let words = if text.contains('=') { "; `=` alone compares nothing, `==` does" } else { "" };
            format!("there is no comparison in it{words}; {example}")
        })?;
        let (left, rest) = text.split_at(at);
        let (sign, operator) = Operator::ALL
            .into_iter()
            .find(|(sign, _)| rest.starts_with(sign))
            .ok_or_else(|| format!("`{rest}` begins with no comparison; {example}"))?;
        let (path, strategy) = match left.split_once(" of ") {
            Some((path, strategy)) => (path.trim(), Some(strategy.trim().to_owned())),
            None => (left.trim(), None),
        };
        if path.is_empty() {
            return Err(format!("there is no figure before `{sign}`; {example}"));
        }
        if path.chars().any(char::is_whitespace) {
            return Err(format!("`{path}` is no path: there is white space in it; {example}"));
        }
        let value = number(rest[sign.len()..].trim()).map_err(|error| format!("{error}; {example}"))?;
        Ok(Self { text: text.trim().to_owned(), path: path.to_owned(), strategy, operator, value })
    }
}

/// A number, a percentage, or a truth as 1 or 0.
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
            ": the path says the unit, so write the number alone"
        } else {
            ""
        };
        format!("`{text}` is no number{words}")
    })
}

/// A share of one, typed `5%` or `0.05`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let share = number(text.trim()).ok().filter(|share| (0.0..1.0).contains(share));
        share.map(Self).ok_or_else(|| "it must be from 0 to below 100 %, such as `5%` or `0.05`".to_owned())
    }
}

/// Where a baseline is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaselineName(pub(crate) PathBuf);

/// Where baselines are that are given by name alone.
pub(crate) const BASELINES: &str = "tailback-baselines";

impl FromStr for BaselineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().is_empty() || text.chars().all(|letter| letter == '.') {
            return Err("it must have a name, such as `main`".to_owned());
        }
        let typed = PathBuf::from(text);
        let is_path = text.contains(['/', '\\']) || typed.extension().is_some_and(|end| end == "json");
        Ok(Self(if is_path { typed } else { PathBuf::from(BASELINES).join(format!("{text}.json")) }))
    }
}

#[cfg(test)]
mod tests {
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
    fn what_is_no_condition_is_refused_with_what_to_write() {
        let error = |text: &str| text.parse::<Condition>().unwrap_err();
        assert!(error("amplification = 1").contains("`==` does"));
        assert!(error("amplification").contains("no comparison"));
        assert!(error("> 3").contains("no figure before"));
        assert!(error("p99 > 250ms").contains("write the number alone"));
        assert!(error("p99 > many").contains("`many` is no number"));
        assert!(error("p 99 > 1").contains("white space"));
        assert!(error("a ! 1").contains("begins with no comparison"));
        assert!("nan".parse::<Share>().is_err() && "120%".parse::<Share>().is_err());
    }

    #[test]
    fn a_baseline_is_a_name_or_a_path() {
        let path = |text: &str| text.parse::<BaselineName>().map(|name| name.0);
        assert_eq!(path("main"), Ok(PathBuf::from("tailback-baselines/main.json")));
        assert_eq!(path("ci/main.json"), Ok(PathBuf::from("ci/main.json")));
        assert!(path("..").is_err() && path(" ").is_err());
    }
}
