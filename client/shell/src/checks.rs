//! Checks of run results, by `--fail-if` conditions and by comparison with a saved baseline. A failed check determines the exit code.

pub mod junit;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};

use anyhow::{anyhow, bail};
use experiments::checks::{
    ChangeKind, Finding, Subject, asked_for, changes, counterparts, judge, refuse_absent, refuse_foreign,
    refuse_other, refuse_unknown,
};
use results::numbers::{dash, percent, short};
use results::{Baseline, Conditions, ConfigRecord, Figure, Mode, judged};

use crate::args::BaselineName;
use crate::text::{Column, LongNames, Table, to_stderr, wrapped};
use crate::{CheckArgs, Exit, Fatal, Output, usage, usage_because};

pub use junit::{Case, Outcome};

pub struct Checks<'a> {
    args: &'a CheckArgs,
    /// Baseline to compare with, and the path of its file.
    baseline: Option<(Baseline, String)>,
    save: Option<Output>,
    junit: Option<Output>,
}

impl<'a> Checks<'a> {
    /// Reads the baseline file, and rejects invalid `--fail-if` conditions and baselines before any run starts.
    pub fn prepare(args: &'a CheckArgs, strategies: &[&str]) -> anyhow::Result<Self> {
        if !args.fail_if.is_empty() {
            refuse_unknown(&args.fail_if)?;
            refuse_absent(&args.fail_if, strategies)?;
        }
        let baseline = args.baseline.as_ref().map(read_baseline).transpose()?;
        if let Some((baseline, name)) = &baseline {
            refuse_foreign(baseline, name, strategies)?;
        }
        if args.junit.is_some() && args.fail_if.is_empty() && args.baseline.is_none() {
            return Err(usage("`--junit` writes the results of checks; add `--fail-if` or `--baseline`"));
        }
        Ok(Self {
            args,
            baseline,
            save: args.save_baseline.as_ref().map(prepare_baseline).transpose()?,
            junit: args.junit.as_ref().map(|path| Output::prepare(path, "--junit")).transpose()?,
        })
    }

    /// Rejects a baseline that was saved for a different experiment, before any run starts.
    pub fn same_experiment(&self, mode: Mode, config: &ConfigRecord) -> anyhow::Result<()> {
        let Some((baseline, name)) = &self.baseline else { return Ok(()) };
        refuse_other(baseline, name, &Conditions::new(config, mode))
    }

    pub fn figures(&self) -> impl Iterator<Item = &'static Figure> {
        let against_baseline = self.baseline.is_some() || self.save.is_some();
        asked_for(&self.args.fail_if).chain(judged().filter(move |_| against_baseline))
    }

    fn is_empty(&self) -> bool {
        self.args.fail_if.is_empty() && self.baseline.is_none() && self.save.is_none()
    }

    /// Reports that the checks were skipped, because not all runs were complete. Writes the report to the `JUnit` file, and also to stderr
    /// unless `quiet` is set.
    pub fn left_out(&self, quiet: bool) {
        if let Some(Err(error)) = self.junit.as_ref().map(junit::write_incomplete) {
            crate::exit::report(&error);
        }
        if !self.is_empty() && !quiet {
            to_stderr("the command was stopped: nothing was checked, and no baseline was saved\n");
        }
    }

    /// Checks the results of complete runs, and saves the baseline unless a check failed. Prints failed checks even with `quiet`.
    pub fn conclude(&self, subjects: &[Subject<'_>], quiet: bool) -> anyhow::Result<Option<Exit>> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut cases = Vec::new();
        let mut text = self.conditions(subjects, &mut cases);
        text.push_str(&self.compared(subjects, &mut cases));
        if let Some(output) = &self.junit {
            junit::write(&cases, output)?;
        }
        let failures = cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed(_))).count();
        let first = subjects.iter().find_map(|subject| subject.runs().first());
        if let (Some(save), Some(name), Some(first)) = (&self.save, &self.args.save_baseline, first) {
            let name = name.0.display();
            let _ = if failures == 0 {
                let runs = subjects.iter().map(|subject| (subject.strategy(), subject.runs()));
                write_baseline(&Baseline::new(&Conditions::from_run(first), runs), save)?;
                writeln!(text, "baseline saved as `{name}`")
            } else {
                writeln!(text, "baseline `{name}` not saved, because a check failed")
            };
        }
        if !quiet {
            to_stderr(&text);
        }
        // Each failed check is printed in one line, so that users can search a log for it.
        for case in &cases {
            match &case.outcome {
                Outcome::Passed => {}
                Outcome::Failed(message) => to_stderr(&format!("failed: {message}\n")),
                Outcome::Skipped(message) => to_stderr(&format!("warning: {message}\n")),
            }
        }
        Ok((failures > 0).then_some(Exit::Failed))
    }

    fn conditions(&self, subjects: &[Subject<'_>], cases: &mut Vec<Case>) -> String {
        let findings = judge(&self.args.fail_if, subjects);
        let mut text = String::new();
        for finding in &findings {
            let Finding { condition, strategy, found, failed } = finding;
            let mark = if *failed { "FAIL" } else { "ok  " };
            let line = format!("{strategy}: {found} (fails if {condition})");
            let _ = writeln!(text, "{}", wrapped(&line, &format!("  {mark} "), "       "));
            let outcome = if *failed {
                Outcome::Failed(format!("`{condition}` with {strategy}: {found}"))
            } else {
                Outcome::Passed
            };
            cases.push(Case { group: strategy.clone(), name: format!("fails if {condition}"), outcome });
        }
        if findings.is_empty() { text } else { format!("\nchecks (--fail-if)\n{text}") }
    }

    fn compared(&self, subjects: &[Subject<'_>], cases: &mut Vec<Case>) -> String {
        let Some((baseline, name)) = &self.baseline else { return String::new() };
        let noise = self.args.noise;
        let columns = [Column::Right(11), Column::Right(11), Column::Right(9), Column::Left(0)];
        let mut table = Table::new(38, columns, LongNames::Shift);
        table.titles("  mean over runs", ["then", "now", "change", "verdict"]);
        let names: Vec<&str> = subjects.iter().map(Subject::strategy).collect();
        for (subject, counterpart) in subjects.iter().zip(counterparts(baseline, &names)) {
            let strategy = subject.strategy();
            let mut case = |name, outcome| cases.push(Case { group: strategy.to_owned(), name, outcome });
            let then = counterpart.and_then(|name| Some((name, baseline.strategies.get(name)?)));
            let Some((other, then)) = then else {
                table.line(&wrapped(strategy, "  ", "    "));
                table.line("    is not in the baseline");
                let message =
                    format!("{strategy} was not checked, because the baseline `{name}` does not contain it");
                case("against the baseline".to_owned(), Outcome::Skipped(message));
                continue;
            };
            let other = Some(other).filter(|other| *other != strategy);
            let against =
                other.map(|other| format!(" (compared with {other} of the baseline)")).unwrap_or_default();
            table.line(&wrapped(&format!("{strategy}{against}"), "  ", "    "));
            for (figure, change) in changes(subject, then, noise) {
                let [then, now] = [change.then, change.now].map(|value| value.map_or_else(dash, short));
                let off =
                    change.ratio.map_or_else(String::new, |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0));
                let outcome = if change.verdict == ChangeKind::Worse {
                    let of_other = other.map(|other| format!(" of {other}")).unwrap_or_default();
                    Outcome::Failed(format!(
                        "{figure} of {strategy} is worse than the baseline's{of_other}: {now}, was {then}"
                    ))
                } else {
                    Outcome::Passed
                };
                table.row("    ", figure, &[then, now, off, change.verdict.words().to_owned()]);
                case(format!("{figure} against the baseline"), outcome);
            }
        }
        format!("\nagainst baseline `{name}`, noise {}\n{}", percent(noise.of_one()), table.into_text())
    }
}

/// Maximum size of a baseline file in bytes. Larger files are rejected, because a file given by mistake must not fill the memory.
const MAX_BASELINE_BYTES: u64 = 256 << 20;

fn read_baseline(BaselineName(path): &BaselineName) -> anyhow::Result<(Baseline, String)> {
    let name = path.display().to_string();
    let read = || -> anyhow::Result<Baseline> {
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => anyhow!("the file does not exist; create it with `--save-baseline`"),
            _ => error.into(),
        })?;
        // The size limit is enforced while reading, because a device file may have no length and no end.
        let mut bytes = Vec::new();
        file.take(MAX_BASELINE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BASELINE_BYTES {
            bail!("the file is too large for a baseline");
        }
        Ok(Baseline::read(&String::from_utf8(bytes)?)?)
    };
    match read() {
        Ok(baseline) => Ok((baseline, name)),
        Err(why) => Err(usage_because(format!("`{name}` (--baseline) cannot be used"), why)),
    }
}

fn write_baseline(baseline: &Baseline, output: &Output) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(baseline)?;
    text.push('\n');
    output.write(text.as_bytes())
}

fn prepare_baseline(BaselineName(path): &BaselineName) -> anyhow::Result<Output> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| {
            let words = format!("`{}` (--save-baseline) cannot be created", folder.display());
            Fatal::because(Exit::Output, words, error)
        })?;
    }
    Output::prepare(path, "--save-baseline")
}
