//! `loadgen strategies --check`: replays recordings of real client libraries with the strategies that represent these libraries.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use experiments::runs::stop::Stop;
use experiments::runs::virtual_time::VirtualTime;
use loadgen_sim::side_by_side;
use recordings::{CheckOutcome, Difference, Map, MapError, Mapped, Pair, Recording};
use results::SchemaVersion;
use serde::Serialize;
use shell::args::ReportArgs;
use shell::args::exports::{ExportArgs, Recordings};
use shell::files::reading::{SMALL, text_of};
use shell::text::progress::Live;
use shell::text::to_people;
use shell::{Exit, Fatal, Interrupt, Output, usage, usage_because};
use tailback::presets;

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen strategies
      Lists all strategies.
  loadgen strategies aimd
      Explains one of them.
  loadgen strategies preset:urllib3-usual,max-attempts=5 --print-settings
      The same as urllib3's own configuration.
  loadgen strategies preset:openai --print-settings envoy
      In the format of another library.
  loadgen strategies --advice
      Which presets obey Retry-After, and in which forms.
  loadgen strategies --check tests/real_clients --map mine.toml
      Which recorded clients the strategies of mine.toml reproduce.

Every preset names its library, version and options (`loadgen strategies preset:curl`). `--map` names strategies for other recorded configurations; docs/recordings.md describes its format.

Exit codes: 0 no difference; 1 a difference, or nothing was checked; 2 bad usage or a file that is not a recording (a scenario that cannot be replayed is skipped and listed); 74 output cannot be written.";

/// Arguments of `loadgen strategies --check`: recordings to check, and the outputs.
#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    /// Replay recordings of real clients (files or folders), and list the recordings that are reproduced.
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "name", help_heading = "Check")]
    check: Vec<PathBuf>,

    /// Strategies for recorded configurations, in addition to those of presets (docs/recordings.md).
    #[arg(long, value_name = "FILE", requires = "check", help_heading = "Check")]
    map: Option<PathBuf>,

    #[command(flatten)]
    exports: ExportArgs<Recordings>,

    #[command(flatten)]
    output: ReportArgs,
}

impl CheckArgs {
    pub(super) fn is_asked(&self) -> bool {
        !self.check.is_empty()
    }

    /// Returns the flag of an output file that was given without `--check`. Such a file would never be written.
    pub(super) fn file_without_check(&self) -> Option<&'static str> {
        self.exports.asked.first().filter(|_| !self.is_asked()).map(|(format, _)| format.flag)
    }
}

struct File {
    name: String,
    recording: Recording,
}

struct Task<'a> {
    file: &'a File,
    pair: &'a Pair,
    mapped: Option<Mapped>,
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let output = args.exports.asked.first().map(|(format, path)| Output::prepare(path, format.flag));
    let output = output.transpose()?;
    let map = map(args)?;
    let mut files = Vec::new();
    for path in &args.check {
        for path in recordings_at(path)? {
            files.push(file(&path)?);
        }
    }
    if let Some(path) = &args.map {
        let recordings: Vec<_> = files.iter().map(|file| (file.name.as_str(), &file.recording)).collect();
        map.all_match(&recordings).map_err(|error| unusable(path, error))?;
    }
    let pairs = files.iter().flat_map(|file| file.recording.pairs.iter().map(move |pair| (file, pair)));
    let tasks: Vec<Task<'_>> = pairs
        .map(|(file, pair)| Task { file, pair, mapped: map.strategy(&file.name, &file.recording, pair) })
        .collect();
    let interrupt = Interrupt::listen()?;
    let Some(verdicts) = check_all(args, &tasks, &interrupt)? else {
        return Ok(interrupt.exit().unwrap_or(Exit::Interrupted).into());
    };
    let document = document(&files, &tasks, verdicts);
    if !args.output.quiet {
        to_people(&screen(&document), output.as_ref().is_some_and(Output::is_stdout))?;
    }
    if let Some(output) = output {
        output.write(format!("{}\n", results::sorted(&document)?).as_bytes())?;
    }
    // If no pair of a scenario and a configuration was checked, the exit code is an error, because success must mean that something was
    // checked.
    match nothing_checked(&document) {
        Some(why) => Err(Fatal::error(Exit::Unmet, format!("nothing was checked: {why}"))),
        None if document.differing == 0 => Ok(ExitCode::SUCCESS),
        None => Ok(Exit::Unmet.into()),
    }
}

fn nothing_checked(document: &RecordingsCheck) -> Option<&'static str> {
    if document.reproduced + document.differing > 0 {
        None
    } else if document.without_preset > 0 {
        Some(
            "no preset has a rule for these libraries, versions and options; name their strategies with `--map`",
        )
    } else if document.skipped > 0 {
        Some("no scenario can be replayed")
    } else {
        Some("the recordings have no scenarios")
    }
}

fn map(args: &CheckArgs) -> anyhow::Result<Map> {
    let mut map = Map::of_presets(presets());
    if let Some(path) = &args.map {
        let name = path.display();
        let text = text_of(path, SMALL)
            .map_err(|error| usage_because(format!("`--map {name}` cannot be read"), error))?;
        map.add_toml(&text).map_err(|error| unusable(path, error))?;
    }
    Ok(map)
}

fn unusable(map: &Path, error: MapError) -> anyhow::Error {
    usage_because(format!("`--map {}` cannot be used", map.display()), error)
}

fn recordings_at(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let refusal =
        |error: io::Error| usage_because(format!("`--check {}` cannot be read", path.display()), error);
    if !fs::metadata(path).map_err(refusal)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(refusal)? {
        let path = entry.map_err(refusal)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(usage(format!("`--check {}` has no recordings (*.json)", path.display())));
    }
    found.sort();
    Ok(found)
}

fn file(path: &Path) -> anyhow::Result<File> {
    let shown = path.display();
    let text =
        text_of(path, SMALL).map_err(|error| usage_because(format!("`{shown}` cannot be read"), error))?;
    let recording = recordings::read(&text)
        .map_err(|error| usage_because(format!("`{shown}` is not a recording"), error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(File { name, recording })
}

fn check_all(
    args: &CheckArgs,
    tasks: &[Task<'_>],
    stop: &dyn Stop,
) -> anyhow::Result<Option<Vec<CheckOutcome>>> {
    let mut live = Live::new(!args.output.quiet);
    let (mut verdicts, mut failed) = (Vec::with_capacity(tasks.len()), None);
    side_by_side(
        tasks.len(),
        VirtualTime::on_threads(args.output.threads).threads,
        |index| {
            let Task { pair, mapped, .. } = &tasks[index];
            recordings::check(pair, mapped.as_ref().map(|mapped| &mapped.strategy))
        },
        |over| {
            match over {
                Some(Ok(verdict)) => verdicts.push(verdict),
                Some(Err(error)) => failed = failed.take().or(Some(error)),
                None => {}
            }
            live.line(|| {
                let file = tasks.get(verdicts.len()).map_or("", |task| task.file.name.as_str());
                format!("{} of {} pairs checked  {file}", verdicts.len(), tasks.len())
            });
            failed.is_none() && stop.asked_by().is_none()
        },
    );
    if let Some(error) = failed {
        return Err(usage_because("a strategy cannot be started", error));
    }
    Ok((verdicts.len() == tasks.len()).then_some(verdicts))
}

fn document(files: &[File], tasks: &[Task<'_>], verdicts: Vec<CheckOutcome>) -> RecordingsCheck {
    let mut checked = tasks.iter().zip(verdicts).map(|(task, verdict)| checked(task, verdict));
    let recordings = files.iter().map(|file| CheckedRecording {
        file: file.name.clone(),
        library: format!("{} {}", file.recording.library, file.recording.version),
        pairs: checked.by_ref().take(file.recording.pairs.len()).collect(),
    });
    let recordings: Vec<CheckedRecording> = recordings.collect();
    let [reproduced, differing, without_preset, skipped] =
        counts(recordings.iter().flat_map(|recording| &recording.pairs));
    RecordingsCheck {
        schema_version: SchemaVersion::default(),
        recordings,
        reproduced,
        differing,
        without_preset,
        skipped,
    }
}

fn checked(task: &Task<'_>, verdict: CheckOutcome) -> CheckedPair {
    let (verdict, difference, skipped_because) = match verdict {
        CheckOutcome::Reproduced => (CheckVerdict::Reproduced, None, None),
        CheckOutcome::Differs(difference) => (CheckVerdict::Differs, Some(difference), None),
        CheckOutcome::NoPreset => (CheckVerdict::NoPreset, None, None),
        CheckOutcome::Skipped(why) => (CheckVerdict::Skipped, None, Some(why)),
    };
    CheckedPair {
        scenario: task.pair.id.clone(),
        config: task.pair.config.clone(),
        strategy: task.mapped.as_ref().map(|mapped| mapped.text.clone()),
        skipped_because,
        verdict,
        difference,
    }
}

fn screen(document: &RecordingsCheck) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for recording in &document.recordings {
        let _ = writeln!(text, "{} · {}", recording.file, recording.library);
        for pair in &recording.pairs {
            let word = match pair.verdict {
                CheckVerdict::Reproduced => "reproduced",
                CheckVerdict::Differs => "differs   ",
                CheckVerdict::NoPreset => "no preset ",
                CheckVerdict::Skipped => "skipped   ",
            };
            let _ = write!(text, "  {word}  {} · {}", pair.scenario, pair.config);
            if let Some(Difference { what, recorded, here }) = &pair.difference {
                let _ = write!(text, "\n              {what}: recorded {recorded}, here {here}");
            }
            if let Some(why) = &pair.skipped_because {
                let _ = write!(text, "\n              {why}");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "  {}\n", sum(counts(&recording.pairs)));
    }
    let RecordingsCheck { reproduced, differing, without_preset, skipped, .. } = *document;
    let _ = writeln!(text, "{}", sum([reproduced, differing, without_preset, skipped]));
    text
}

/// Returns how many pairs were reproduced, differ, have no preset and were skipped.
fn counts<'a>(pairs: impl IntoIterator<Item = &'a CheckedPair>) -> [u64; 4] {
    let mut counts = [0; 4];
    for pair in pairs {
        counts[pair.verdict as usize] += 1;
    }
    counts
}

fn sum([reproduced, differing, without_preset, skipped]: [u64; 4]) -> String {
    let pairs = reproduced + differing + without_preset + skipped;
    let share = if pairs == 0 { 0.0 } else { 100.0 * reproduced as f64 / pairs as f64 };
    let verb = if differing == 1 { "differs" } else { "differ" };
    let skipped = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
    format!(
        "{pairs} pairs: {reproduced} reproduced ({share:.1} %), {differing} {verb}, {without_preset} without a preset{skipped}"
    )
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct RecordingsCheck {
    #[serde(default)]
    schema_version: SchemaVersion,
    recordings: Vec<CheckedRecording>,
    reproduced: u64,
    differing: u64,
    without_preset: u64,
    #[serde(default)]
    skipped: u64,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CheckedRecording {
    file: String,
    library: String,
    pairs: Vec<CheckedPair>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CheckedPair {
    scenario: String,
    config: String,
    strategy: Option<String>,
    verdict: CheckVerdict,
    difference: Option<Difference>,
    #[serde(default)]
    skipped_because: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
// The order is that of the numbers that `counts` returns.
enum CheckVerdict {
    Reproduced,
    Differs,
    NoPreset,
    Skipped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_and_every_total_is_printed() {
        let pair = |config: &str, verdict, difference| CheckedPair {
            scenario: "503".to_owned(),
            config: config.to_owned(),
            strategy: None,
            verdict,
            difference,
            skipped_because: (verdict == CheckVerdict::Skipped).then(|| "`id` names it".to_owned()),
        };
        let difference =
            Difference { what: "delay 1".to_owned(), recorded: "1 s".to_owned(), here: "2 s".to_owned() };
        let document = RecordingsCheck {
            schema_version: SchemaVersion::default(),
            recordings: vec![CheckedRecording {
                file: "a.json".to_owned(),
                library: "a 1".to_owned(),
                pairs: vec![
                    pair("x", CheckVerdict::Reproduced, None),
                    pair("y", CheckVerdict::Differs, Some(difference)),
                    pair("z", CheckVerdict::NoPreset, None),
                    pair("s", CheckVerdict::Skipped, None),
                ],
            }],
            reproduced: 1,
            differing: 1,
            without_preset: 1,
            skipped: 1,
        };
        let sum = "4 pairs: 1 reproduced (25.0 %), 1 differs, 1 without a preset, 1 skipped";
        let expected = format!(
            "a.json · a 1\n  reproduced  503 · x\n  differs     503 · y\n              delay 1: recorded 1 s, here 2 s\n  \
             no preset   503 · z\n  skipped     503 · s\n              `id` names it\n  {sum}\n\n{sum}\n"
        );
        assert_eq!(screen(&document), expected);
        assert_eq!(nothing_checked(&document), None);
    }

    #[test]
    fn a_check_of_nothing_gives_the_reason() {
        let with = |without_preset, skipped| RecordingsCheck {
            schema_version: SchemaVersion::default(),
            recordings: Vec::new(),
            reproduced: 0,
            differing: 0,
            without_preset,
            skipped,
        };
        assert_eq!(nothing_checked(&with(0, 0)), Some("the recordings have no scenarios"));
        assert_eq!(nothing_checked(&with(0, 3)), Some("no scenario can be replayed"));
        assert!(nothing_checked(&with(2, 3)).is_some_and(|why| why.contains("`--map`")));
    }
}
