//! Conditions on figures of results, written `PATH OPERATOR VALUE` or `PATH of STRATEGY OPERATOR VALUE`.

use std::str::FromStr;

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
}
