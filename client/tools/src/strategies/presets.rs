//! `loadgen strategies --presets` and `loadgen strategies preset:NAME over …`: describes strategies of production clients.

use std::fmt::Write as _;

use shell::text::wrapped;
use shell::usage;
use tailback::{Preset, Rule, SpecError, StrategySpec, find, preset, presets, systems};

const PREFIX: &str = "preset:";

pub(super) fn list() -> String {
    let mut text = String::new();
    let widest = presets().iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    for preset in presets() {
        let _ = writeln!(text, "  {:<widest$}  {}", preset.name, preset.summary);
    }
    let what = format!(
        "{} presets of {} systems. `preset:NAME` is a strategy like any other: `loadgen --strategy preset:openai`, \
         `preset:aws-2026,max-attempts=5`, `preset:urllib3+aimd`; `over` puts one retrying client around another. \
         `loadgen strategies preset:NAME` explains one.",
        presets().len(),
        systems()
    );
    text + "\n" + &wrapped(&what, "", "") + "\n"
}

/// Separator between the layers of a strategy. The outer layer comes first.
const OVER: &str = " over ";

pub(super) fn explain(text: &str) -> anyhow::Result<String> {
    explained(text).map_err(usage)
}

fn explained(typed: &str) -> Result<String, SpecError> {
    let doubts = typed.parse::<StrategySpec>()?.doubts();
    let layers: Vec<&str> = typed.split(OVER).map(str::trim).collect();
    let mut text = String::new();
    for (index, layer) in layers.iter().enumerate() {
        if layers.len() > 1 {
            let place = match index {
                0 => ", the outer",
                _ if index + 1 == layers.len() => ", the inner",
                _ => "",
            };
            let _ = writeln!(text, "LAYER {} OF {}{place}: {layer}\n", index + 1, layers.len());
        }
        let spec: StrategySpec = layer.parse()?;
        match layer.strip_prefix(PREFIX).and_then(|rest| preset(rest.split([',', '+']).next()?.trim())) {
            Some(preset) => of_preset(preset, &spec, &mut text)?,
            None => of_parts(&spec, &mut text),
        }
    }
    for doubt in doubts {
        let _ = writeln!(text, "{}\n", wrapped(&doubt, "Warning: ", "  "));
    }
    let _ = writeln!(text, "Example\n  loadgen --strategy '{typed}' --ops 2000");
    Ok(text)
}

fn of_parts(spec: &StrategySpec, text: &mut String) {
    for entry in spec.names().filter_map(find) {
        let _ = writeln!(text, "{}\n", wrapped(&format!("{}: {}", entry.name, entry.summary), "", "  "));
    }
    parameters(spec, text);
    text.push('\n');
}

fn of_preset(preset: &Preset, spec: &StrategySpec, text: &mut String) -> Result<(), SpecError> {
    let _ = writeln!(text, "preset:{}\n{}\n", preset.name, wrapped(&preset.summary, "", ""));
    let overrides = overrides(&format!("{PREFIX}{}", preset.name).parse()?, spec);
    if !overrides.is_empty() {
        let _ = writeln!(text, "Other than the preset");
        for line in overrides {
            let _ = writeln!(text, "{}", wrapped(&line, "  ", "    "));
        }
        text.push('\n');
    }
    let version = format!("{}; version {}; of {}", preset.library, preset.version, preset.date);
    let _ = writeln!(text, "Client\n{}\n", wrapped(&version, "  ", "  "));
    if let Some(notes) = &preset.notes {
        let _ = writeln!(text, "Good to know\n{}\n", wrapped(notes, "  ", "  "));
    }
    let _ = writeln!(text, "Strategy of the preset\n{}\n", wrapped(&preset.strategy, "  ", "  "));
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
    parameters(spec, text);
    let _ = writeln!(text, "\nSources");
    for source in &preset.sources {
        let _ = writeln!(text, "{}", wrapped(source, "  ", "    "));
    }
    if !preset.rules.is_empty() {
        let _ = writeln!(text, "\nRecorded as");
        for rule in &preset.rules {
            let _ = writeln!(text, "{}", wrapped(&rule_line(rule), "  ", "    "));
        }
    }
    text.push('\n');
    Ok(())
}

fn rule_line(rule: &Rule) -> String {
    let mut line = rule.library.clone();
    if let Some(versions) = &rule.versions {
        let _ = write!(line, " {versions}");
    }
    for (word, patterns) in [("with", &rule.needs), ("without", &rule.lacks)] {
        if !patterns.is_empty() {
            let _ = write!(line, " {word} `{}`", patterns.join("`, `"));
        }
    }
    let _ = write!(line, " = {}", rule.text);
    for (pattern, puts_in) in
        rule.options.iter().chain(&rule.scenarios).filter(|(_, puts_in)| !puts_in.is_empty())
    {
        let _ = write!(line, "; {pattern} = {puts_in}");
    }
    line
}

/// Lists the effective parameters of each part of a strategy. If the strategy has several layers, the number of its layer is added to each
/// part. Even a strategy of only one preset can have several layers.
fn parameters(spec: &StrategySpec, text: &mut String) {
    let usual = StrategySpec::common_parameters();
    let described = spec.describe();
    let several = described.iter().filter(|(part, _)| part.is_empty()).count() > 1;
    let _ = writeln!(text, "Parameters, with the values in use");
    let mut layer = 1;
    for (part, mut parameters) in described {
        if part.is_empty() {
            parameters.retain(|parameter| !usual.contains(parameter));
        }
        let name = if part.is_empty() { "rules" } else { part };
        let name = if several { format!("{name} of layer {layer}") } else { name.to_owned() };
        layer += u32::from(part.is_empty());
        let set: Vec<String> =
            parameters.iter().map(|parameter| format!("{}={}", parameter.key, parameter.value)).collect();
        let _ = writeln!(text, "{}", wrapped(&format!("{name}: {}", set.join(", ")), "  ", "    "));
    }
}

fn overrides(plain: &StrategySpec, spec: &StrategySpec) -> Vec<String> {
    let mut lines = Vec::new();
    let mut known = plain.describe().into_iter().peekable();
    for (part, parameters) in spec.describe() {
        // In the inner layer, the parts that the user added follow the parts of the preset. A part that does not match the preset's next
        // part was therefore added by the user.
        let Some((_, defaults)) = known.next_if(|(known, _)| *known == part) else {
            lines.push(format!("`{part}` besides"));
            continue;
        };
        for (used, default) in parameters.iter().zip(&defaults).filter(|(used, default)| used != default) {
            lines.push(format!("{}={} instead of {}", used.key, used.value, default.value));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_listed_and_explained() {
        let list = list();
        for preset in presets() {
            assert!(list.contains(&format!("  {} ", preset.name)), "{}", preset.name);
            let text = explain(&format!("preset:{}", preset.name)).unwrap();
            assert!(text.contains(preset.sources[0].split(' ').next().unwrap_or_default()), "{text}");
        }
    }

    #[test]
    fn overrides_are_shown_and_mistakes_answered() {
        let text = explain("preset:aws-2025,max-attempts=7").unwrap();
        assert!(text.contains("\nOther than the preset\n  max-attempts=7 instead of 3\n"), "{text}");
        assert!(!explain("preset:aws-2025").unwrap().contains("Other than"));
        let joined = explain("preset:urllib3+aimd").unwrap();
        assert!(joined.contains("\nOther than the preset\n  `aimd` besides\n"), "{joined}");
        let error = explain("preset:aws-2052").unwrap_err().to_string();
        assert!(error.contains("did you mean `aws-2025`?"), "{error}");
        let error = explain("openai").unwrap_err().to_string();
        assert!(error.contains("did you mean `preset:openai`?"), "{error}");
    }

    #[test]
    fn explain_warns_of_doubtful_strategies() {
        for (strategy, words) in [
            ("aimd+aimd", "has `aimd` more than once"),
            ("backoff:min=5s,cap=2s", "`min` is above `cap`"),
            ("preset:openai,base=20s", "is below `base=20s`"),
        ] {
            let text = explain(strategy).unwrap();
            let told = text.split_once("\nWarning: ").map_or("", |(_, told)| told).replace("\n  ", " ");
            assert!(told.contains(words), "{strategy}: {text}");
        }
    }

    #[test]
    fn each_layer_is_explained_by_itself() {
        let text = explain("preset:tenacity,max-attempts=3 over preset:openai").unwrap();
        let (outer, inner) = text.split_once("LAYER 2 OF 2, the inner: preset:openai\n").unwrap();
        assert!(outer.starts_with("LAYER 1 OF 2, the outer: preset:tenacity,max-attempts=3\n"), "{outer}");
        assert!(
            outer.contains("max-attempts=3 instead of unlimited") && outer.contains("jd/tenacity"),
            "{outer}"
        );
        assert!(inner.contains("openai/openai-python") && !inner.contains("Other than"), "{inner}");
        assert_eq!(text.matches("\nExample\n").count(), 1, "{text}");
        let parts = explain("aimd + full-jitter:cap=9s over constant").unwrap();
        for words in ["aimd: ", "cap=9s", "constant: ", "LAYER 2 OF 2"] {
            assert!(parts.contains(words), "`{words}` is not in {parts}");
        }
    }
}
