//! Checks on results that decide about the exit code: conditions that must not hold, and a baseline.

mod baseline;
mod condition;
mod verdict;

use std::fmt::Write as _;

use results::{ConfigRecord, RunResult};
use serde_json::Value;

use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::files::output::Output;
use crate::schema::scalar_paths;
use crate::text::figures::short;
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;
use baseline::Baseline;
use verdict::{JUDGED, Verdict};

/// The checks that were asked for.
pub(crate) struct Checks<'a> {
    args: &'a CheckArgs,
    baseline: Option<Baseline>,
    save: Option<Output>,
}

/// One strategy with its runs.
pub(crate) struct Subject {
    strategy: String,
    /// Results, without their series.
    runs: Vec<Value>,
}

impl Subject {
    /// The runs of one strategy.
    pub(crate) fn new<'a>(
        strategy: &str,
        runs: impl IntoIterator<Item = &'a RunResult>,
    ) -> anyhow::Result<Self> {
        let lean = |run: &RunResult| RunResult { series: Vec::new(), ..run.clone() };
        let runs = runs.into_iter().map(|run| serde_json::to_value(lean(run))).collect::<Result<_, _>>()?;
        Ok(Self { strategy: strategy.to_owned(), runs })
    }
}

impl<'a> Checks<'a> {
    /// Reads the baseline, and refuses what cannot be checked, before anything runs.
    pub(crate) fn prepare(args: &'a CheckArgs, strategies: &[&str]) -> anyhow::Result<Self> {
        if !args.fail_if.is_empty() {
            condition::refuse_unknown(&args.fail_if, &scalar_paths())?;
            condition::refuse_absent(&args.fail_if, strategies)?;
        }
        let baseline = args.baseline.as_ref().map(Baseline::read).transpose()?;
        if let Some((baseline, name)) = baseline.as_ref().zip(args.baseline.as_ref()) {
            baseline.refuse_foreign(name, strategies)?;
        }
        Ok(Self { args, baseline, save: args.save_baseline.as_ref().map(baseline::place).transpose()? })
    }

    /// Refuses a baseline of another experiment, before anything runs.
    pub(crate) fn same_experiment(&self, mode: &str, config: &ConfigRecord) -> anyhow::Result<()> {
        let Some((baseline, name)) = self.baseline.as_ref().zip(self.args.baseline.as_ref()) else {
            return Ok(());
        };
        let config = serde_json::to_value(config)?;
        baseline.refuse_other(name, &baseline::experiment(mode, &config))
    }

    /// Whether nothing was asked for.
    fn is_empty(&self) -> bool {
        self.args.fail_if.is_empty() && self.baseline.is_none() && self.save.is_none()
    }

    /// Says that nothing was checked, because the runs are not what they should be.
    pub(crate) fn left_out(&self, quiet: bool) {
        if !self.is_empty() && !quiet {
            to_stderr("nothing was checked and no baseline saved: this did not come to its end\n");
        }
    }

    /// Checks complete runs and saves the baseline. What failed is told on stderr, whoever wants quiet.
    pub(crate) fn conclude(&self, subjects: &[Subject], quiet: bool) -> anyhow::Result<Option<Exit>> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut failures = Vec::new();
        let mut text = self.conditions(subjects, &mut failures);
        text.push_str(&self.compared(subjects, &mut failures));
        if let Some((save, name)) = self.save.as_ref().zip(self.args.save_baseline.as_ref()) {
            let first = subjects.iter().find_map(|subject| subject.runs.first());
            if let Some(first) = first {
                let mode = first["mode"].as_str().unwrap_or_default();
                Baseline::of(baseline::experiment(mode, &first["config"]), subjects).write(save)?;
                let _ = writeln!(text, "baseline saved as `{}`", name.0.display());
            }
        }
        if !quiet {
            to_stderr(&text);
        }
        for failure in &failures {
            to_stderr(&format!("{}\n", wrapped(failure, "failed: ", "        ")));
        }
        Ok((!failures.is_empty()).then_some(Exit::Failed))
    }

    fn conditions(&self, subjects: &[Subject], failures: &mut Vec<String>) -> String {
        let findings = condition::judge(&self.args.fail_if, subjects);
        let mut text = String::new();
        for finding in &findings {
            let condition::Finding { condition, strategy, found, failed } = finding;
            let mark = if *failed { "FAIL" } else { "ok  " };
            let line = format!("{condition}   {strategy}: {found}");
            let _ = writeln!(text, "{}", wrapped(&line, &format!("  {mark} "), "       "));
            if *failed {
                failures.push(format!("`{condition}` with {strategy}: {found}"));
            }
        }
        if findings.is_empty() { text } else { format!("\nconditions that must not hold\n{text}") }
    }

    fn compared(&self, subjects: &[Subject], failures: &mut Vec<String>) -> String {
        let Some((baseline, name)) = self.baseline.as_ref().zip(self.args.baseline.as_ref()) else {
            return String::new();
        };
        let noise = self.args.noise.0;
        let mut text = format!(
            "\nagainst baseline `{}`, noise {}\n  {:<36}{:>11}{:>11}{:>9}  verdict\n",
            name.0.display(),
            crate::text::figures::percent(noise),
            "mean over runs",
            "then",
            "now",
            "change"
        );
        for subject in subjects {
            let _ = writeln!(text, "{}", wrapped(&subject.strategy, "  ", "    "));
            let Some(then) = baseline.strategies.get(&subject.strategy) else {
                text.push_str("    is not in the baseline\n");
                continue;
            };
            for judged in JUDGED {
                let now: Vec<Option<f64>> = subject
                    .runs
                    .iter()
                    .map(|run| condition::at(run, judged.path).and_then(condition::number))
                    .collect();
                let then = then.get(judged.path).map_or(&[][..], Vec::as_slice);
                let seed = subject.runs.first().and_then(|run| run["seed"].as_u64()).unwrap_or(0);
                let Some(change) = verdict::change(judged, &now, then, noise, seed) else { continue };
                let show = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), short);
                let off =
                    change.ratio.map_or_else(String::new, |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0));
                let _ = writeln!(
                    text,
                    "    {:<34}{:>11}{:>11}{off:>9}  {}",
                    judged.path,
                    show(change.then),
                    show(change.now),
                    change.verdict.words()
                );
                if change.verdict == Verdict::Worse {
                    let (then, now) = (show(change.then), show(change.now));
                    failures.push(format!(
                        "{} of {} is worse than the baseline's: {now}, there {then}",
                        judged.path, subject.strategy
                    ));
                }
            }
        }
        text
    }
}
