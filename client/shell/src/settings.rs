//! `loadgen strategies TEXT --print-settings`: prints a strategy as the configuration of a client library, and lists the rules that the
//! library cannot express.

use settings::{FORMATS, Format, SettingsError, find_format, knobs, write};
use tailback::{Knob, StrategySpec};
use vocabulary::split_outside;

use crate::text::{labelled, to_people, to_stderr, wrapped};
use crate::usage;

pub struct Printed {
    /// Text for stdout: the settings and, if the format has comments, the notes.
    pub settings: String,
    /// Notes for stderr, if the format of the settings has no comments.
    notes: String,
    /// True if the settings are single lines in the library's words, because no format of the library expresses them.
    pub is_of_knobs: bool,
}

pub fn print(text: &str, format: Option<&str>) -> anyhow::Result<()> {
    let Printed { settings, notes, .. } = printed(text, format)?;
    to_people(&settings, false)?;
    if !notes.is_empty() {
        to_stderr(&notes);
    }
    Ok(())
}

/// Returns the settings of a client library that express the strategy `text`, with notes on rules that the settings cannot express.
///
/// # Errors
/// Fails if no format is known, or if the format cannot express the strategy's limiter.
pub fn printed(text: &str, format: Option<&str>) -> anyhow::Result<Printed> {
    let spec = text.parse::<StrategySpec>().map_err(usage)?;
    let written =
        find_format(text, format).and_then(|format| Ok((format, write(text, spec.clone(), format)?)));
    let (format, settings) = match written {
        Err(SettingsError::NoFormatOfPreset(_) | SettingsError::NoLimiter { .. })
            if format.is_none() && !knobs(text).is_empty() =>
        {
            let settings = of_knobs(knobs(text), &spec);
            return Ok(Printed { settings, notes: of_own_code(text), is_of_knobs: true });
        }
        written => written.map_err(|error| refusal(&error))?,
    };
    let notes = notes(text, format, &settings.left_out);
    // Settings are printed before differences. In formats without comments, differences are printed on stderr, so that stdout contains only
    // settings.
    Ok(if format.comment.is_some() {
        Printed { settings: settings.text + &notes, notes: String::new(), is_of_knobs: false }
    } else {
        Printed { settings: settings.text, notes, is_of_knobs: false }
    })
}

/// Returns a line for each setting of a library, with its value in the strategy.
fn of_knobs(knobs: &[Knob], spec: &StrategySpec) -> String {
    let parameters: Vec<_> = spec.describe().into_iter().flat_map(|(_, parameters)| parameters).collect();
    let line = |knob: &Knob| {
        let parameter = parameters.iter().find(|it| Some(it.key) == knob.parameter.as_deref())?;
        // Libraries write rates per second as plain numbers.
        Some(knob.setting_of(parameter.value.trim_end_matches("/s")) + "\n")
    };
    knobs.iter().filter_map(line).collect()
}

/// Returns a note on the parts of a strategy that are no settings of the library.
fn of_own_code(text: &str) -> String {
    let parts: Vec<String> = split_outside(text, '+').skip(1).map(|part| format!("`{part}`")).collect();
    if parts.is_empty() {
        return String::new();
    }
    let words =
        format!("{} needs your own code, because the library has no such setting", parts.join(" with "));
    wrapped(&words, "note: ", "      ") + "\n"
}

/// Converts an error to a usage error. The message lists the available formats if the user must choose one.
fn refusal(error: &SettingsError) -> anyhow::Error {
    let list = match error {
        SettingsError::UnknownFormat { .. } => format!("; there are:\n{}", list()),
        SettingsError::NoFormatOfPreset(_) | SettingsError::NoPreset(_) => {
            format!("; name one after `--print-settings`:\n{}", list())
        }
        SettingsError::Layers { .. } | SettingsError::NoLimiter { .. } => String::new(),
    };
    usage(format!("{error}{list}"))
}

fn list() -> String {
    let lines: Vec<String> =
        FORMATS.iter().map(|format| labelled(&format!("  {}", format.name), 16, format.what)).collect();
    lines.join("\n")
}

fn notes(text: &str, format: &Format, left_out: &[String]) -> String {
    let comment = format.comment.map_or_else(String::new, |comment| format!("{comment} "));
    let head = if left_out.is_empty() {
        format!("These settings express every rule of `{text}`.")
    } else {
        format!("Rules of `{text}` that {} cannot express, and rules that it adds:", format.name)
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
    use tailback::{STRATEGIES, presets};

    use super::*;

    #[test]
    fn every_line_of_the_notes_is_a_comment_of_the_format() {
        let names = STRATEGIES.iter().map(|entry| entry.name.to_owned());
        let presets = presets().iter().map(|preset| format!("preset:{}", preset.name));
        for text in names.chain(presets) {
            for format in FORMATS {
                let Ok(settings) = write(&text, text.parse().unwrap(), format) else { continue };
                let notes = notes(&text, format, &settings.left_out);
                let comment = format.comment.unwrap_or_default();
                assert!(notes.lines().all(|line| line.starts_with(comment)), "{notes}");
            }
        }
    }

    #[test]
    fn what_is_left_out_is_a_comment_of_the_format() {
        let notes =
            notes("aimd", find_format("", Some("polly")).unwrap(), &["`aimd`: nothing like it".to_owned()]);
        assert_eq!(
            notes,
            "// Rules of `aimd` that polly cannot express, and rules that it adds:\n// - `aimd`: nothing like it\n"
        );
    }

    #[test]
    fn a_part_that_is_no_setting_of_the_library_is_named() {
        let printed = printed("preset:openai+token-bucket:rate=6.97/s,burst=1", None).unwrap();
        assert_eq!(printed.settings, "OpenAI(max_retries=2)\n");
        assert!(
            printed.notes.contains("`token-bucket:rate=6.97/s,burst=1` needs your own code"),
            "{}",
            printed.notes
        );
        assert_eq!(of_own_code("preset:openai,max-attempts=6"), "");
    }

    #[test]
    fn a_missing_format_lists_all() {
        let error = |text, format| print(text, format).unwrap_err().to_string();
        assert!(
            error("preset:wget", None)
                .contains("`preset:wget`; name one after `--print-settings`:\n  urllib3 ")
        );
        assert!(error("aimd", Some("poly")).contains("did you mean `polly`?); there are:\n  urllib3 "));
        assert!(error("preset:urlib3", None).contains("did you mean `urllib3`?"));
    }
}
