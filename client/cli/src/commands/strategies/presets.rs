//! `loadgen strategies --presets` and `loadgen strategies preset:NAME`: what production clients do.

use std::fmt::Write as _;

use tailback::{Preset, StrategySpec, preset, presets, systems};

use crate::exit::{Exit, Fatal};
use crate::text::wrapping::wrapped;

/// What stands before a preset's name.
const PREFIX: &str = "preset:";

/// One line each: the name, then what it is.
pub(super) fn list() -> String {
    let mut text = String::new();
    let widest = presets().iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    for preset in presets() {
        let _ = writeln!(text, "  {:<widest$}  {}", preset.name, preset.summary);
    }
    let what = format!(
        "{} presets of {} systems. `preset:NAME` is a strategy like any other: `loadgen --strategy preset:openai`, \
         `preset:aws-2026,max-attempts=5`, `preset:urllib3+aimd`, and with `over` a retry around a retry. \
         `loadgen strategies preset:NAME` explains one.",
        presets().len(),
        systems()
    );
    text + "\n" + &wrapped(&what, "", "") + "\n"
}

/// What `preset:NAME,key=value` is; `None` when `text` names no preset.
///
/// # Errors
/// When there is no such preset, or it cannot be overridden like this.
pub(super) fn explain(text: &str) -> Option<anyhow::Result<String>> {
    let options = text.strip_prefix(PREFIX)?;
    let read = text.parse::<StrategySpec>();
    let spec = match read {
        Ok(spec) => spec,
        Err(error) => return Some(Err(Fatal::error(Exit::Usage, error.to_string()))),
    };
    let name = options.split([',', '+', ' ']).next().unwrap_or_default().trim();
    preset(name).map(|preset| Ok(explained(preset, text, &spec)))
}

fn explained(preset: &Preset, typed: &str, spec: &StrategySpec) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "preset:{}\n{}\n", preset.name, wrapped(&preset.summary, "", ""));
    let version = format!("{}; version {}; of {}", preset.library, preset.version, preset.date);
    let _ = writeln!(text, "Client\n{}\n", wrapped(&version, "  ", "  "));
    if let Some(notes) = &preset.notes {
        let _ = writeln!(text, "Good to know\n{}\n", wrapped(notes, "  ", "  "));
    }
    let _ = writeln!(text, "Strategy\n{}\n", wrapped(&preset.strategy, "  ", "  "));
    if !preset.parameters.is_empty() {
        let _ = writeln!(text, "Choices");
        for (key, parameter) in &preset.parameters {
            let _ = writeln!(text, "  {key} = {}", parameter.default);
            let words: Vec<&str> = parameter.choices.keys().map(String::as_str).collect();
            let about = format!("{}; {}", parameter.about, words.join(" or "));
            let _ = writeln!(text, "{}", wrapped(&about, "      ", "      "));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "Parameters as they are used");
    let usual = StrategySpec::common_parameters();
    for (part, mut parameters) in spec.describe() {
        // Of what every strategy has, what is special here.
        if part.is_empty() {
            parameters.retain(|parameter| !usual.contains(parameter));
        }
        let part = if part.is_empty() { "rules" } else { part };
        let set: Vec<String> =
            parameters.iter().map(|parameter| format!("{}={}", parameter.key, parameter.value)).collect();
        let _ = writeln!(text, "{}", wrapped(&format!("{part}: {}", set.join(", ")), "  ", "    "));
    }
    let _ = writeln!(text, "\nSources");
    for source in &preset.sources {
        let _ = writeln!(text, "{}", wrapped(source, "  ", "    "));
    }
    if !preset.recorded.is_empty() {
        let _ = writeln!(text, "\nRecorded as");
        for recorded in &preset.recorded {
            let line = format!("{}: {} = {}", recorded.file, recorded.config, recorded.text);
            let _ = writeln!(text, "{}", wrapped(&line, "  ", "    "));
        }
    }
    let _ = writeln!(text, "\nExample\n  loadgen --strategy '{typed}' --ops 2000");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_listed_and_explained() {
        let list = list();
        for preset in presets() {
            assert!(list.contains(&format!("  {} ", preset.name)), "{}", preset.name);
            let text = explain(&format!("preset:{}", preset.name)).unwrap().unwrap();
            assert!(text.contains(preset.sources[0].split(' ').next().unwrap_or_default()), "{text}");
        }
    }

    #[test]
    fn overrides_are_shown_and_mistakes_answered() {
        let text = explain("preset:aws-2025,max-attempts=7").unwrap().unwrap();
        assert!(text.contains("max-attempts=7"), "{text}");
        assert!(explain("aimd").is_none());
        let error = explain("preset:aws-2052").unwrap().unwrap_err().to_string();
        assert!(error.contains("did you mean `aws-2025`?"), "{error}");
    }
}
