//! Writers of strategies as settings of client libraries, in the libraries' own formats. Rules that a format cannot express are listed.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod aws;
mod described;
mod envoy;
mod grpc;
mod polly;
mod resilience4j;
mod retried;
mod tailback;
mod urllib3;

use ::tailback::{Knob, PartKind, Preset, StrategySpec, find, preset};
use vocabulary::{did_you_mean, split_outside};

use crate::described::Described;

pub use crate::described::Format;

/// All formats, in the order in which they are listed.
pub static FORMATS: &[Format] = &[
    urllib3::FORMAT,
    envoy::FORMAT,
    grpc::FORMAT,
    aws::FORMAT,
    polly::FORMAT,
    resilience4j::FORMAT,
    tailback::FORMAT,
];

pub fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name)
}

/// Reason why a strategy cannot be written as settings of a client library.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// No format of settings has the given name. The field `suggestion` is empty or begins with a space.
    #[error("unknown format of settings `{name}`{suggestion}")]
    UnknownFormat { name: String, suggestion: String },
    #[error("no settings format is known for `preset:{0}`")]
    NoFormatOfPreset(String),
    #[error("`{0}` does not begin with a preset, so the format of its settings is unknown")]
    NoPreset(String),
    #[error(
        "`{strategy}` has {layers} layers, and each needs the settings of a separate client; print the settings of one layer, or all layers with `--print-settings {whole}`"
    )]
    Layers {
        strategy: String,
        layers: usize,
        /// Name of the format that can express a strategy with several layers.
        whole: &'static str,
    },
    #[error(
        "{format} has no limiter like `{limiters}`; nearest: `loadgen strategies '{nearest}' --print-settings {format}`"
    )]
    NoLimiter { format: &'static str, limiters: String, nearest: String },
}

#[derive(Debug)]
pub struct Settings {
    pub text: String,
    /// Rules of the strategy that the settings do not express, and rules that the library adds.
    pub left_out: Vec<String>,
}

/// Writes a strategy as settings of a library. `text` is the strategy as given on the command line, and `spec` is the parsed strategy.
///
/// # Errors
///
/// Fails if the strategy has several layers and the format belongs to a library, or if the format lacks the strategy's limiter.
pub fn write(text: &str, spec: StrategySpec, format: &Format) -> Result<Settings, SettingsError> {
    let layers = spec.describe().iter().filter(|(name, _)| name.is_empty()).count();
    if layers > 1 && format.name != tailback::FORMAT.name {
        let strategy = text.to_owned();
        return Err(SettingsError::Layers { strategy, layers, whole: tailback::FORMAT.name });
    }
    let mut described = Described::new(spec, preset_of(text.trim()));
    let settings = (format.write)(&mut described);
    let lost = described.lost_limiters();
    if !lost.is_empty() {
        return Err(SettingsError::NoLimiter {
            format: format.name,
            limiters: lost.join("` and `"),
            nearest: nearest(text, &described.spec, format, &lost),
        });
    }
    Ok(Settings { text: settings, left_out: described.left_out(format.name) })
}

/// Returns the nearest strategy that the format can express. This is the strategy without the limiters that the format lacks, provided that
/// it still waits before retries. If it does not wait, returns the alternative strategy that the format offers.
fn nearest(text: &str, spec: &StrategySpec, format: &Format, lost: &[String]) -> String {
    let waits = |name: &str| {
        name != "immediate" && find(name).is_some_and(|entry| entry.kind == PartKind::RetryPolicy)
    };
    if !spec.names().any(waits) {
        return format.nearest.to_owned();
    }
    let whole = tailback::whole(spec, lost);
    let is_lost = |part: &&str| lost.iter().any(|name| part.split(':').next() == Some(name));
    let typed: Vec<&str> = split_outside(text, '+').filter(|part| !is_lost(part)).collect();
    let typed = typed.join("+");
    // The user's text without the removed parts is preferred, because it is shorter than the complete text. The complete text is used if a
    // removed part contained parameters of the whole layer.
    let is_same = |spec: StrategySpec| tailback::whole(&spec, &[]) == whole;
    if typed.parse().is_ok_and(is_same) { typed } else { whole }
}

/// Returns the format with the given name. Without a name, returns the format of the preset at the start of the strategy.
///
/// # Errors
///
/// Fails if no format has the given name. Without a name, fails if the strategy does not begin with a preset whose format is known.
pub fn find_format(text: &str, name: Option<&str>) -> Result<&'static Format, SettingsError> {
    if let Some(name) = name {
        return FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
            SettingsError::UnknownFormat { name: name.to_owned(), suggestion: did_you_mean(name, names()) }
        });
    }
    let preset = preset_of(text.trim()).ok_or_else(|| SettingsError::NoPreset(text.to_owned()))?;
    let is_of_preset = |name: &&str| **name == preset.system || **name == preset.name;
    let format = FORMATS.iter().find(|format| format.used_by.iter().any(is_of_preset));
    format.ok_or_else(|| SettingsError::NoFormatOfPreset(preset.name.clone()))
}

fn preset_of(text: &str) -> Option<&'static Preset> {
    let options = text.strip_prefix("preset:")?;
    preset(options.split([',', '+', ' ']).next().unwrap_or_default().trim())
}

/// Returns the settings of the client library that users can change. They belong to the preset with which the strategy `text` begins.
pub fn knobs(text: &str) -> &'static [Knob] {
    preset_of(text).map_or(&[], |preset| &preset.knobs)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ::tailback::{STRATEGIES, presets, systems};

    use super::*;

    fn of(text: &str, format: &str) -> Settings {
        let format = FORMATS.iter().find(|known| known.name == format).unwrap();
        write(text, text.parse().unwrap(), format).unwrap()
    }

    pub(crate) fn written(text: &str, format: &str) -> String {
        of(text, format).text
    }

    pub(crate) fn left_out(text: &str, format: &str) -> String {
        of(text, format).left_out.join("\n")
    }

    /// Whether a text is YAML of the kind written here: indented by two spaces, each line a key, an item or a comment.
    pub(crate) fn is_yaml(text: &str) -> bool {
        let mut depths = vec![0];
        let mut opens = false;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let item = line.trim_start();
            let depth = line.len() - item.len();
            let deepest = *depths.last().unwrap_or(&0);
            if depth > deepest {
                if !opens {
                    return false;
                }
                depths.push(depth);
            }
            while depths.last().is_some_and(|deepest| *deepest > depth) {
                depths.pop();
            }
            if depths.last() != Some(&depth) {
                return false;
            }
            let is_item = item.starts_with("- ");
            let entry = item.trim_start_matches("- ");
            let Some((key, value)) = entry.split_once(':') else { return false };
            if key.is_empty() || key.contains(' ') || !(value.is_empty() || value.starts_with(' ')) {
                return false;
            }
            opens = value.is_empty();
            if is_item {
                depths.push(depth + 2);
            }
        }
        true
    }

    #[test]
    fn every_strategy_and_preset_has_settings_in_every_format() {
        assert!(systems() > 0);
        let names = STRATEGIES.iter().map(|entry| entry.name.to_owned());
        let presets = presets().iter().map(|preset| format!("preset:{}", preset.name));
        for text in names.chain(presets) {
            let layers = text.parse::<StrategySpec>().unwrap().describe();
            let is_single = layers.iter().filter(|(name, _)| name.is_empty()).count() == 1;
            for format in FORMATS.iter().filter(|format| is_single || format.name == "tailback") {
                let settings = match write(&text, text.parse().unwrap(), format) {
                    Ok(settings) => settings,
                    // Settings that lose a limiter are refused. The alternative that the error names must be accepted.
                    Err(error) => {
                        let error = error.to_string();
                        let (_, nearest) = error.split_once("`loadgen strategies '").expect("it names one");
                        let (nearest, _) = nearest.split_once("' --print-settings").expect("it is quoted");
                        let nearest = super::write(nearest, nearest.parse().unwrap(), format);
                        assert!(nearest.is_ok(), "{text} as {}: {:?}", format.name, nearest.err());
                        continue;
                    }
                };
                assert!(settings.text.ends_with('\n'), "{text} as {}", format.name);
                if format.name == "grpc" {
                    assert!(serde_json::from_str::<serde_json::Value>(&settings.text).is_ok(), "{text}");
                }
                if ["envoy", "resilience4j"].contains(&format.name) {
                    assert!(is_yaml(&settings.text), "{}", settings.text);
                }
            }
        }
    }

    #[test]
    fn format_names_are_unique_and_their_clients_exist() {
        let names: BTreeSet<&str> = names().collect();
        assert_eq!(names.len(), FORMATS.len());
        for name in FORMATS.iter().flat_map(|format| format.used_by) {
            let is_there = |preset: &Preset| preset.system == *name || preset.name == *name;
            assert!(presets().iter().any(is_there), "{name}");
        }
    }

    #[test]
    fn the_preset_decides_unless_a_format_is_named() {
        let format = |text: &str, name| find_format(text, name).map(|format| format.name);
        assert_eq!(format("preset:requests,max-attempts=3+aimd", None).unwrap(), "urllib3");
        assert_eq!(format("preset:istio", None).unwrap(), "envoy");
        assert_eq!(format("preset:aws", None).unwrap(), "aws");
        assert_eq!(format("preset:openai", Some("polly")).unwrap(), "polly");
        let error = |text, name| format(text, name).unwrap_err().to_string();
        assert!(error("preset:curl", None).ends_with("`preset:curl`"));
        assert!(error("full-jitter", None).contains("`full-jitter` does not begin with a preset"));
        assert!(error("aimd", Some("poly")).contains("did you mean `polly`?"));
    }

    #[test]
    fn settings_of_knobs_leave_out_no_more_than_the_preset() {
        for preset in presets() {
            let text = format!("preset:{}", preset.name);
            let Ok(format) = find_format(&text, None) else { continue };
            if write(&text, text.parse().unwrap(), format).is_err() {
                continue;
            }
            for knob in &preset.knobs {
                let left_out = |text: &str| {
                    let settings = write(text, text.parse().unwrap(), format);
                    settings.unwrap_or_else(|error| panic!("{text}: {error}")).left_out
                };
                let known = left_out(&text);
                let key = knob.parameter.as_deref().unwrap_or_default();
                let values = knob.values.iter().map(|value| format!("{text},{key}={value}"));
                for text in values.chain(knob.texts.iter().cloned()) {
                    let mut added = left_out(&text);
                    // urllib3 does not retry 413 if it ignores Retry-After.
                    added.retain(|line| !known.contains(line) && !line.ends_with("not for 413"));
                    assert!(added.is_empty(), "{text}: {added:?}");
                }
            }
        }
    }

    #[test]
    fn placeholders_of_a_knob_are_filled_with_every_value() {
        let knobs = presets().iter().flat_map(|preset| &preset.knobs);
        for knob in knobs {
            let has = |placeholder: &&str| knob.setting.contains(*placeholder);
            let placeholders: Vec<&str> =
                ["{value}", "{retries}", "{ms}", "{s}"].into_iter().filter(has).collect();
            let is_one = if knob.parameter.is_some() {
                placeholders.len() == 1
            } else {
                let have_words = knob.texts.iter().all(|text| knob.words.contains_key(text));
                placeholders.is_empty() && knob.texts.len() == 1 || placeholders == ["{value}"] && have_words
            };
            assert!(is_one, "{knob:?}");
            let empty = placeholders.iter().fold(knob.setting.clone(), |text, name| text.replace(name, ""));
            for value in &knob.values {
                let filled = knob.setting_of(&value.to_string());
                assert!(
                    filled.len() > empty.len() && !placeholders.iter().any(|name| filled.contains(name)),
                    "{filled}"
                );
            }
        }
    }

    #[test]
    fn settings_that_lose_a_limiter_are_refused_with_the_nearest() {
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
            let error = write(text, text.parse().unwrap(), format).unwrap_err().to_string();
            let notes =
                format!("nearest: `loadgen strategies '{nearest}' --print-settings {0}`", format.name);
            assert!(error.contains("has no limiter like") && error.ends_with(&notes), "{text}: {error}");
        }
        let gap = "preset:pygithub";
        let error = write(gap, gap.parse().unwrap(), &urllib3::FORMAT).unwrap_err().to_string();
        assert!(error.contains("`least-gap`") && error.contains("'backoff:base=0"), "{error}");
    }

    #[test]
    fn what_is_nearest_in_a_format_loses_no_limiter() {
        for format in FORMATS {
            let nearest = write(format.nearest, format.nearest.parse().unwrap(), format);
            assert!(nearest.is_ok(), "{}: {:?}", format.name, nearest.err());
        }
    }

    #[test]
    fn layers_are_the_settings_of_several_clients() {
        let text = "preset:openai over preset:envoy";
        let error = write(text, text.parse().unwrap(), &envoy::FORMAT).unwrap_err().to_string();
        assert!(error.contains("2 layers") && error.contains("--print-settings tailback"), "{error}");
    }
}
