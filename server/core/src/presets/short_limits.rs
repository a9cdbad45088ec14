//! Short descriptions of limits, for lists and start screens: `500 requests/min`, `5 000/h per user`, `100 at once`.

use vocabulary::thousands;

use super::preset::Limit;
use super::using::Expanded;
use crate::first_limit::{parameter, per_time};
use crate::policies::Per;
use crate::policy::Policy;
use crate::schedule::Quantity;

impl Expanded {
    /// Returns a short description of each limit of the preset, in the order of its policy stack. Stages without a limit of their own, such
    /// as penalties, are left out.
    pub fn short_limits(&self) -> Vec<String> {
        let limit = |policy: &Policy| {
            let limit = policy.label().and_then(|label| self.preset.limit(label))?;
            short(limit, policy)
        };
        self.policy.iter().filter_map(limit).collect()
    }
}

fn short(limit: &Limit, policy: &Policy) -> Option<String> {
    let config = policy.config();
    let figure = config.limit()?;
    // A limit that grows has several values during a run. The documented figure is its initial value, the parameter `start`.
    let amount = parameter(policy, if config.grows() { "start" } else { figure.key })?;
    let quantity = Quantity::read(amount)?;
    let per = match (&*quantity.unit, per_time(figure.per, policy)) {
        ("", per) if per.is_empty() => match parameter(policy, "per") {
            Some(_) => per_time(Per::Parameter("per"), policy),
            None => " at once".to_owned(),
        },
        ("", per) => per,
        (unit, _) => unit.to_owned(),
    };
    let whole = u64::try_from(quantity.millionths / Quantity::ONE).ok()?;
    let amount = if quantity.millionths % Quantity::ONE == 0 {
        thousands(whole)
    } else {
        Quantity { unit: String::new(), ..quantity }.to_string()
    };
    let word = |word: &Option<String>| word.as_ref().map_or_else(String::new, |word| format!(" {word}"));
    Some(format!("{amount}{}{per}{}", word(&limit.unit), word(&limit.scope)))
}

#[cfg(test)]
mod tests {
    use crate::presets::expand;

    fn limits(preset: &str, scale: Option<f64>) -> Vec<String> {
        expand(preset, scale).unwrap().short_limits()
    }

    #[test]
    fn short_limits_use_the_units_and_scopes_of_the_preset() {
        for (preset, expected) in [
            ("openai", &["500 requests/min", "30 000 tokens/min"][..]),
            (
                "github",
                &["5 000/h per user", "100 at once", "900 points/min per endpoint", "80 creations/min"],
            ),
            ("stripe", &["100/s per account", "25/s per endpoint", "100 at once"]),
            ("cloudflare-api", &["1 200 in 5m per user"]),
            ("ietf", &["100 requests/min", "1 000 requests/day"]),
            ("s3", &["5 500 reads/s", "3 500 writes/s"]),
            ("lambda", &["1 000 at once", "1 000 at once per function"]),
            ("nginx", &["10/s per address", "50 at once"]),
            ("busy", &["50 at once"]),
        ] {
            assert_eq!(limits(preset, None), expected, "{preset}");
        }
    }

    #[test]
    fn figures_are_scaled_and_limits_that_are_off_are_left_out() {
        assert_eq!(limits("openai", Some(0.02)), ["10 requests/min", "600 tokens/min"]);
        assert_eq!(
            limits("github:points=off,primary.limit=7,creations=off", None),
            ["7/h per user", "100 at once"]
        );
    }
}
