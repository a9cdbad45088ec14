//! Pairing of results with a saved baseline. Rejects a baseline of another experiment, and finds the counterpart of each strategy in the
//! baseline.

use results::{Baseline, Conditions};

use crate::error::Error;

pub fn refuse_other(baseline: &Baseline, name: &str, experiment: &Conditions) -> Result<(), Error> {
    let differences = experiment.differences(&baseline.experiment);
    if differences.is_empty() {
        return Ok(());
    }
    let is_exact_there =
        differences.iter().any(|it| it.starts_with("delay_noise is") && it.ends_with("there null"));
    let hint =
        if is_exact_there { " (with `--delay-noise 0`, because that baseline has exact delays)" } else { "" };
    Err(Error::usage(format!(
        "`{name}` (--baseline) is of another experiment: {}; run the same{hint}, or save a new baseline",
        differences.join("; ")
    )))
}

pub fn refuse_foreign(baseline: &Baseline, name: &str, strategies: &[&str]) -> Result<(), Error> {
    if counterparts(baseline, strategies).iter().any(Option::is_some) {
        return Ok(());
    }
    let known: Vec<&str> = baseline.strategies.keys().map(String::as_str).collect();
    Err(Error::usage(format!(
        "`{name}` (--baseline) has the strategies {}, and this run has {}; none of them match, so save a new baseline",
        known.join(", "),
        strategies.join(", ")
    )))
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
        let parts = parts(strategies[*index]);
        let like: Vec<&str> = there.iter().copied().filter(|known| self::parts(known) == parts).collect();
        let is_only = here.iter().filter(|other| self::parts(strategies[**other]) == parts).count() == 1;
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
fn parts(strategy: &str) -> Vec<&str> {
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
