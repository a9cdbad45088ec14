//! `loadgen strategies TEXT --print-settings`: prints a strategy as the library's own configuration, and lists the rules that it cannot
//! express.

mod aws;
mod described;
mod envoy;
mod format;
mod grpc;
mod part;
mod polly;
mod resilience4j;
mod retried;
mod short_forms;
mod tailback;
#[cfg(test)]
mod testing;
mod urllib3;

use ::tailback::{PartKind, Preset, StrategySpec, find, preset};
use vocabulary::{did_you_mean, split_outside};

use self::described::Described;
use self::format::Format;
use crate::exit::{Exit, Fatal};
use crate::text::people::to_people;
use crate::text::stderr::to_stderr;
use crate::text::wrapping::{labelled, wrapped};

const FORMATS: &[Format] = &[
    urllib3::FORMAT,
    envoy::FORMAT,
    grpc::FORMAT,
    aws::FORMAT,
    polly::FORMAT,
    resilience4j::FORMAT,
    tailback::FORMAT,
];

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name)
}

const IMMEDIATE: &str = "immediate";

#[derive(Debug)]
struct Printed {
    settings: String,
    left_out: Vec<String>,
}

pub(super) fn print(text: &str, format: Option<&str>) -> anyhow::Result<()> {
    let spec = text.parse::<StrategySpec>().map_err(|error| Fatal::error(Exit::Usage, error.to_string()))?;
    let format = chosen(text, format)?;
    let printed = printed(text, spec, format)?;
    let notes = notes(text, format, &printed.left_out);
    // Settings come first. In formats without comments, differences are printed on stderr, so that stdout contains only settings.
    if format.comment.is_some() {
        return to_people(&(printed.settings + &notes), false);
    }
    to_people(&printed.settings, false)?;
    to_stderr(&notes);
    Ok(())
}

fn printed(text: &str, spec: StrategySpec, format: &Format) -> anyhow::Result<Printed> {
    let layers = spec.describe().iter().filter(|(name, _)| name.is_empty()).count();
    if layers > 1 && format.name != tailback::FORMAT.name {
        return Err(Fatal::error(
            Exit::Usage,
            format!(
                "`{text}` has {layers} layers, each the settings of a client of its own; print those of one, or all as `--print-settings {}`",
                tailback::FORMAT.name
            ),
        ));
    }
    let mut described = Described::of(spec, preset_of(text));
    let settings = (format.write)(&mut described);
    let lost = described.lost_limiters();
    if !lost.is_empty() {
        return Err(without_limiter(text, &described.spec, format, &lost));
    }
    Ok(Printed { settings, left_out: described.left_out(format.name) })
}

/// Returns the error for a format that lacks the strategy's limiter. Settings without the limiter would send attempts that the strategy
/// delays.
fn without_limiter(text: &str, spec: &StrategySpec, format: &Format, lost: &[String]) -> anyhow::Error {
    let name = format.name;
    let limiters = lost.join("` and `");
    let nearest = nearest(text, spec, format, lost);
    Fatal::error(
        Exit::Usage,
        format!(
            "{name} has no limiter like `{limiters}`; nearest: `loadgen strategies '{nearest}' --print-settings {name}`"
        ),
    )
}

/// Returns the nearest strategy that the format can express. It is the strategy without the limiters that the format lacks, if it still
/// waits before retries. Otherwise it is the format's own alternative.
fn nearest(text: &str, spec: &StrategySpec, format: &Format, lost: &[String]) -> String {
    let waits =
        |name: &str| name != IMMEDIATE && find(name).is_some_and(|entry| entry.kind == PartKind::RetryPolicy);
    if !spec.names().any(waits) {
        return format.nearest.to_owned();
    }
    let whole = tailback::whole(spec, lost);
    let is_lost = |part: &&str| lost.iter().any(|name| part.split(':').next() == Some(name));
    let typed: Vec<&str> = split_outside(text, '+').filter(|part| !is_lost(part)).collect();
    let typed = typed.join("+");
    // The text as given, without the removed parts, is shorter. It is not equivalent if a removed part carried parameters common to the
    // whole layer.
    let is_same = |spec: StrategySpec| tailback::whole(&spec, &[]) == whole;
    if typed.parse().is_ok_and(is_same) { typed } else { whole }
}

fn chosen(text: &str, asked: Option<&str>) -> anyhow::Result<&'static Format> {
    if let Some(asked) = asked {
        return FORMATS.iter().find(|format| format.name == asked).ok_or_else(|| {
            let suggestion = did_you_mean(asked, names());
            Fatal::error(
                Exit::Usage,
                format!("unknown format of settings `{asked}`{suggestion}; there are:\n{}", list()),
            )
        });
    }
    let preset = preset_of(text);
    let is_used = |format: &&Format| {
        preset.is_some_and(|preset| {
            format.used_by.iter().any(|name| *name == preset.system || *name == preset.name)
        })
    };
    FORMATS.iter().find(is_used).ok_or_else(|| {
        let whose = match preset {
            Some(preset) => format!("no format of settings is known for `preset:{}`", preset.name),
            None => format!("`{text}` does not begin with a preset, so nothing says whose settings it is"),
        };
        Fatal::error(Exit::Usage, format!("{whose}; name one after `--print-settings`:\n{}", list()))
    })
}

fn preset_of(text: &str) -> Option<&'static Preset> {
    let options = text.trim().strip_prefix("preset:")?;
    preset(options.split([',', '+', ' ']).next().unwrap_or_default().trim())
}

fn list() -> String {
    let lines: Vec<String> =
        FORMATS.iter().map(|format| labelled(&format!("  {}", format.name), 16, format.what)).collect();
    lines.join("\n")
}

fn notes(text: &str, format: &Format, left_out: &[String]) -> String {
    let comment = format.comment.map_or_else(String::new, |comment| format!("{comment} "));
    let head = if left_out.is_empty() {
        format!("Nothing of `{text}` is left out.")
    } else {
        format!("What {} cannot express of `{text}`, or does besides:", format.name)
    };
    let mut notes = wrapped(&head, &comment, &comment) + "\n";
    for line in left_out {
        notes += &wrapped(line, &format!("{comment}- "), &format!("{comment}  "));
        notes.push('\n');
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ::tailback::{STRATEGIES, presets, systems};

    use super::*;

    #[test]
    fn every_strategy_and_preset_has_settings_in_every_format() {
        assert!(systems() > 0);
        let names = STRATEGIES.iter().map(|entry| entry.name.to_owned());
        let presets = presets().iter().map(|preset| format!("preset:{}", preset.name));
        for text in names.chain(presets) {
            let layers = text.parse::<StrategySpec>().unwrap().describe();
            let is_single = layers.iter().filter(|(name, _)| name.is_empty()).count() == 1;
            for format in FORMATS.iter().filter(|format| is_single || format.name == "tailback") {
                let printed = match printed(&text, text.parse().unwrap(), format) {
                    Ok(printed) => printed,
                    // Settings that lose a limiter are refused. The alternative that the error names must be accepted.
                    Err(error) => {
                        let error = error.to_string();
                        let (_, nearest) = error.split_once("`loadgen strategies '").expect("it names one");
                        let (nearest, _) = nearest.split_once("' --print-settings").expect("it is quoted");
                        let nearest = super::printed(nearest, nearest.parse().unwrap(), format);
                        assert!(nearest.is_ok(), "{text} as {}: {:?}", format.name, nearest.err());
                        continue;
                    }
                };
                assert!(printed.settings.ends_with('\n'), "{text} as {}", format.name);
                if format.name == "grpc" {
                    assert!(serde_json::from_str::<serde_json::Value>(&printed.settings).is_ok(), "{text}");
                }
                if ["envoy", "resilience4j"].contains(&format.name) {
                    assert!(testing::is_yaml(&printed.settings), "{}", printed.settings);
                }
                let notes = notes(&text, format, &printed.left_out);
                let comment = format.comment.unwrap_or_default();
                assert!(notes.lines().all(|line| line.starts_with(comment)), "{notes}");
            }
        }
    }

    #[test]
    fn formats_have_names_of_their_own_and_are_used_by_clients_that_are_there() {
        let names: BTreeSet<&str> = names().collect();
        assert_eq!(names.len(), FORMATS.len());
        for name in FORMATS.iter().flat_map(|format| format.used_by) {
            let is_there = |preset: &Preset| preset.system == *name || preset.name == *name;
            assert!(presets().iter().any(is_there), "{name}");
        }
    }

    #[test]
    fn the_preset_decides_unless_a_format_is_named() {
        let format = |text: &str, asked| chosen(text, asked).map(|format| format.name);
        assert_eq!(format("preset:requests,max-attempts=3+aimd", None).unwrap(), "urllib3");
        assert_eq!(format("preset:istio", None).unwrap(), "envoy");
        assert_eq!(format("preset:aws", None).unwrap(), "aws");
        assert_eq!(format("preset:openai", Some("polly")).unwrap(), "polly");
        let error = |text, asked| format(text, asked).unwrap_err().to_string();
        assert!(
            error("preset:curl", None)
                .contains("`preset:curl`; name one after `--print-settings`:\n  urllib3 ")
        );
        assert!(error("full-jitter", None).contains("`full-jitter` does not begin with a preset"));
        let unknown = print("preset:urlib3", None).unwrap_err().to_string();
        assert!(unknown.contains("did you mean `urllib3`?"), "{unknown}");
        assert!(error("aimd", Some("poly")).contains("did you mean `polly`?"));
    }

    #[test]
    fn settings_that_would_lose_a_limiter_are_refused_with_the_nearest_that_the_library_can_do() {
        for (text, format, nearest) in [
            ("aimd", &urllib3::FORMAT, "preset:urllib3-usual"),
            ("token-bucket:rate=8+immediate", &urllib3::FORMAT, "preset:urllib3-usual"),
            ("preset:openai,max-attempts=5+aimd:beta=0.5", &urllib3::FORMAT, "preset:openai,max-attempts=5"),
            ("constant:delay=1s+token-bucket", &envoy::FORMAT, "constant:delay=1s"),
            ("aimd:max-attempts=4+constant:delay=2s", &grpc::FORMAT, "constant:delay=2s,max-attempts=4"),
            ("aimd", &aws::FORMAT, "preset:aws-2026+aws-adaptive"),
            ("aimd", &polly::FORMAT, "preset:polly+fixed-window"),
            ("netflix-vegas", &resilience4j::FORMAT, "preset:resilience4j+fixed-window"),
        ] {
            let error = printed(text, text.parse().unwrap(), format).unwrap_err().to_string();
            let notes =
                format!("nearest: `loadgen strategies '{nearest}' --print-settings {0}`", format.name);
            assert!(error.contains("has no limiter like") && error.ends_with(&notes), "{text}: {error}");
        }
        let gap = "preset:pygithub";
        let error = printed(gap, gap.parse().unwrap(), &urllib3::FORMAT).unwrap_err().to_string();
        assert!(error.contains("`least-gap`") && error.contains("'backoff:base=0"), "{error}");
    }

    #[test]
    fn what_is_nearest_in_a_format_loses_no_limiter() {
        for format in FORMATS {
            let nearest = printed(format.nearest, format.nearest.parse().unwrap(), format);
            assert!(nearest.is_ok(), "{}: {:?}", format.name, nearest.err());
        }
    }

    #[test]
    fn layers_are_the_settings_of_several_clients() {
        let text = "preset:openai over preset:envoy";
        let error = printed(text, text.parse().unwrap(), &envoy::FORMAT).unwrap_err().to_string();
        assert!(error.contains("2 layers") && error.contains("--print-settings tailback"), "{error}");
    }

    #[test]
    fn what_is_left_out_is_a_comment_of_the_format() {
        let notes = notes("aimd", &polly::FORMAT, &["`aimd`: nothing like it".to_owned()]);
        assert_eq!(
            notes,
            "// What polly cannot express of `aimd`, or does besides:\n// - `aimd`: nothing like it\n"
        );
    }
}
