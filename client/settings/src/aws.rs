//! AWS: config file and environment variables of the SDKs and of the CLI. Only two retry settings exist: a mode and the number of attempts.
//!
//! Source: AWS SDKs and Tools Reference Guide, "Retry behavior"; boto/botocore `botocore/retries/`; smithy-lang/smithy-rs
//! `aws/rust-runtime/aws-config/src/default_provider/retry_config.rs`.

use std::fmt::Write as _;

use tailback::{Preset, StrategySpec, presets};

use crate::described::Format;
use crate::described::{BACKOFF, COMMON, Described};

pub(crate) const FORMAT: Format = Format {
    name: "aws",
    what: "AWS SDKs and CLI: config file and environment",
    used_by: &["aws"],
    nearest: "preset:aws-2026+aws-adaptive",
    comment: Some("#"),
    write,
};

const ADAPTIVE: &str = "aws-adaptive";
const QUOTA: &str = "aws-quota";
const LEGACY: &str = "aws-legacy";
/// Name prefix of the presets that follow the AWS rules of 2026.
const NEWER: &str = "aws-2026";

fn write(settings: &mut Described) -> String {
    let Some((preset, like)) = nearest(settings) else { return String::new() };
    let attempts = settings.count(COMMON, "max-attempts");
    let adaptive = settings.has(ADAPTIVE);
    let mode = match (preset.name.as_str(), adaptive) {
        (LEGACY, _) => "legacy",
        (_, true) => "adaptive",
        _ => "standard",
    };
    if mode == "legacy" && adaptive {
        settings.besides("AWS: legacy mode has no client-side rate limit; adaptive mode has one, with the backoff of standard mode");
    }
    keep(settings, preset, &like);
    if mode != "legacy" && !preset.name.starts_with(NEWER) {
        settings
            .besides("AWS: most SDKs from 2026-11-10 on apply the rules of `preset:aws-2026` in this mode");
    }
    let mut lines = vec![("retry_mode", mode.to_owned())];
    match attempts {
        Some(attempts) => lines.push(("max_attempts", attempts.to_string())),
        None => settings.note(
            COMMON,
            "max-attempts",
            "AWS: max_attempts cannot be unlimited; without it, 3 attempts are allowed (legacy mode: 5)",
        ),
    }
    let (mut file, mut environment) = (String::new(), String::new());
    for (key, value) in &lines {
        let _ = writeln!(file, "{key} = {value}");
        let _ = writeln!(environment, "# AWS_{}={value}", key.to_uppercase());
    }
    let newer = if preset.name.starts_with(NEWER) {
        "# AWS_NEW_RETRIES_2026=true\n#   for SDKs that do not apply these rules by default yet, such as the Rust SDK\n"
    } else {
        ""
    };
    let (name, library) = (&preset.name, &preset.library);
    format!(
        "# preset:{name}: {library}\n# ~/.aws/config\n[default]\n{file}# or in the environment:\n{environment}{newer}"
    )
}

/// Returns the AWS preset that differs least from the strategy, with the values of the preset's parameters that differ least. Whole presets
/// are compared, because they contain the rules that are fixed in the AWS SDKs. If several presets differ equally little, a preset given on
/// the command line is preferred.
fn nearest(settings: &Described) -> Option<(&'static Preset, Described)> {
    // Legacy mode is considered only if the strategy was given as the legacy preset.
    let is_legacy = settings.preset.is_some_and(|typed| typed.name == LEGACY);
    let mut nearest: Option<(usize, &'static Preset, Described)> = None;
    let typed = settings.preset.into_iter().filter(|preset| preset.system == "aws");
    let others =
        presets().iter().filter(|preset| preset.system == "aws" && (is_legacy || preset.name != LEGACY));
    for preset in typed.chain(others) {
        for text in texts(preset) {
            let Ok(spec) = text.parse::<StrategySpec>() else { continue };
            let like = Described::new(spec, Some(preset));
            let mut differing = usize::from(settings.preset.is_some_and(|typed| typed.name != preset.name));
            for part in [BACKOFF, QUOTA, COMMON] {
                differing +=
                    settings.values(part).filter(|(key, value)| like.peek(part, key) != *value).count();
            }
            if nearest.as_ref().is_none_or(|(least, ..)| differing < *least) {
                nearest = Some((differing, preset, like));
            }
        }
    }
    nearest.map(|(_, preset, like)| (preset, like))
}

fn texts(preset: &Preset) -> Vec<String> {
    let mut texts = vec![format!("preset:{}", preset.name)];
    for (key, parameter) in &preset.parameters {
        texts.extend(parameter.choices.keys().map(|word| format!("preset:{},{key}={word}", preset.name)));
    }
    texts
}

/// Adds a note to each value of the strategy that differs from the value that the AWS SDK fixes. Marks all other values as expressed. Two
/// parameters get no note from this function: `max-attempts`, and `long-poll` of the quota.
fn keep(settings: &mut Described, preset: &Preset, like: &Described) {
    let has_quota = settings.has(QUOTA);
    for part in [BACKOFF, QUOTA, COMMON] {
        let values: Vec<(String, String)> =
            settings.values(part).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        for (key, value) in values {
            let fixed = like.peek(part, &key).to_owned();
            if key == "max-attempts" || (part == QUOTA && key == "long-poll") || fixed == value {
                continue;
            }
            let why = if fixed.len() > 60 || fixed.is_empty() {
                "fixed in the AWS SDK".to_owned()
            } else {
                format!("fixed in the AWS SDK: `{fixed}`")
            };
            settings.note(part, &key, &why);
        }
        settings.settle(part, "");
    }
    if !has_quota && preset.name != LEGACY {
        settings.besides(
            "the AWS SDK limits retries by a quota, which this strategy (without `aws-quota`) does not",
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{left_out, written};

    #[test]
    fn every_mode_is_recognised_by_its_parts() {
        insta::assert_snapshot!(written("preset:aws-2026,max-attempts=5", "aws"), @r#"
        # preset:aws-2026: AWS SDKs, retry mode standard (retry spec 2.1), as Rust has it
        # ~/.aws/config
        [default]
        retry_mode = standard
        max_attempts = 5
        # or in the environment:
        # AWS_RETRY_MODE=standard
        # AWS_MAX_ATTEMPTS=5
        # AWS_NEW_RETRIES_2026=true
        #   for SDKs that do not apply these rules by default yet, such as the Rust SDK
        "#);
        insta::assert_snapshot!(written("preset:aws-2025+aws-adaptive", "aws"), @r#"
        # preset:aws-2025: AWS SDKs, retry mode standard (retry spec 2.0), as Rust has it
        # ~/.aws/config
        [default]
        retry_mode = adaptive
        max_attempts = 3
        # or in the environment:
        # AWS_RETRY_MODE=adaptive
        # AWS_MAX_ATTEMPTS=3
        "#);
        insta::assert_snapshot!(written("preset:aws-legacy,service=dynamodb", "aws"), @r#"
        # preset:aws-legacy: botocore (boto3, AWS CLI), retry mode legacy
        # ~/.aws/config
        [default]
        retry_mode = legacy
        max_attempts = 10
        # or in the environment:
        # AWS_RETRY_MODE=legacy
        # AWS_MAX_ATTEMPTS=10
        "#);
        for text in
            ["preset:aws-2026,service=dynamodb", "preset:aws-2026-botocore+aws-adaptive", "preset:aws-legacy"]
        {
            assert_eq!(left_out(text, "aws"), "", "{text}");
        }
    }

    #[test]
    fn settings_fixed_in_the_sdks_are_listed_with_their_values() {
        insta::assert_snapshot!(left_out("preset:aws-2026,cap=5s,capacity=100,retry-on=5xx", "aws"), @r#"
        `cap=5s`: fixed in the AWS SDK: `20s`
        `capacity=100`: fixed in the AWS SDK: `500`
        `retry-on=5xx`: fixed in the AWS SDK
        "#);
        insta::assert_snapshot!(left_out("full-jitter:base=1s,cap=20s", "aws"), @r#"
        `max-attempts=unlimited`: AWS: max_attempts cannot be unlimited; without it, 3 attempts are allowed (legacy mode: 5)
        `retry-after=floor`: fixed in the AWS SDK: `exact`
        `advice=retry-after-ms.decimal|retry-after.decimal.date`: fixed in the AWS SDK: `x-amz-retry-after.whole`
        `advice-limit=1day`: fixed in the AWS SDK: `20s`
        `retry-on=rejected|failed`: fixed in the AWS SDK
        `throttle-on=rejected`: fixed in the AWS SDK
        the AWS SDK limits retries by a quota, which this strategy (without `aws-quota`) does not
        AWS: most SDKs from 2026-11-10 on apply the rules of `preset:aws-2026` in this mode
        "#);
    }
}
