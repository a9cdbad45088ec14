//! AWS: config file and environment variables of the SDKs and of the CLI. Only two retry settings exist: a mode and the number of attempts.
//!
//! Source: AWS SDKs and Tools Reference Guide, "Retry behavior"; boto/botocore `botocore/retries/`; smithy-lang/smithy-rs
//! `aws/rust-runtime/aws-config/src/default_provider/retry_config.rs`.

use std::fmt::Write as _;

use tailback::{Preset, presets};

use crate::described::{BACKOFF, COMMON, Described, Format};

pub(crate) const FORMAT: Format = Format {
    name: "aws",
    what: "AWS SDKs and CLI: config file and environment",
    used_by: &["aws"],
    nearest: "preset:aws-2026+aws-adaptive",
    comment: Some("#"),
    write,
};

/// Parts whose parameters an AWS preset fixes.
const PARTS: [&str; 3] = [BACKOFF, "aws-quota", COMMON];
const LEGACY: &str = "aws-legacy";
/// Name prefix of the presets that follow the AWS rules of 2026.
const NEWER: &str = "aws-2026";

fn write(settings: &mut Described) -> String {
    let Some((preset, like)) = nearest(settings) else { return String::new() };
    let attempts = settings.count("max-attempts");
    let adaptive = settings.has("aws-adaptive");
    let is_newer = preset.name.starts_with(NEWER);
    let mode = match (preset.name.as_str(), adaptive) {
        (LEGACY, _) => "legacy",
        (_, true) => "adaptive",
        _ => "standard",
    };
    if mode == "legacy" && adaptive {
        settings.besides("AWS: legacy mode has no client-side rate limit; adaptive mode has one, with the backoff of standard mode");
    }
    keep(settings, preset, &like);
    if mode != "legacy" && !is_newer {
        settings
            .besides("AWS: most SDKs from 2026-11-10 on apply the rules of `preset:aws-2026` in this mode");
    }
    settings.set("retry_mode", mode);
    match attempts {
        Some(attempts) => settings.set("max_attempts", attempts),
        None => settings.note(
            "max-attempts",
            "AWS: max_attempts cannot be unlimited; without it, 3 attempts are allowed (legacy mode: 5)",
        ),
    }
    let (mut file, mut environment) = (String::new(), String::new());
    for (key, value) in &settings.lines {
        let _ = writeln!(file, "{key} = {value}");
        let _ = writeln!(environment, "# AWS_{}={value}", key.to_uppercase());
    }
    if is_newer {
        environment += "# AWS_NEW_RETRIES_2026=true\n#   for SDKs that do not apply these rules by default yet, such as the Rust SDK\n";
    }
    format!(
        "# preset:{}: {}\n# ~/.aws/config\n[default]\n{file}# or in the environment:\n{environment}",
        preset.name, preset.library
    )
}

/// Returns the AWS preset that differs least from the strategy, with the values of the preset's parameters that differ least. Whole presets
/// are compared, because they contain the rules that are fixed in the AWS SDKs. If several presets differ equally little, a preset given on
/// the command line is preferred.
fn nearest(settings: &Described) -> Option<(&'static Preset, Described)> {
    // Legacy mode is considered only if the strategy was given as the legacy preset.
    let is_legacy = settings.preset.is_some_and(|typed| typed.name == LEGACY);
    let typed = settings.preset.into_iter().filter(|preset| preset.system == "aws");
    let others =
        presets().iter().filter(|preset| preset.system == "aws" && (is_legacy || preset.name != LEGACY));
    let texts =
        typed.chain(others).flat_map(|preset| texts(preset).into_iter().map(move |text| (preset, text)));
    let all =
        texts.filter_map(|(preset, text)| Some((preset, Described::new(text.parse().ok()?, Some(preset)))));
    all.min_by_key(|(preset, like)| {
        let is_other = settings.preset.is_some_and(|typed| typed.name != preset.name);
        let values = PARTS.iter().flat_map(|part| settings.values(part));
        usize::from(is_other) + values.filter(|(name, value)| like.peek(name) != value).count()
    })
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
    let has_quota = settings.has("aws-quota");
    for part in PARTS {
        for (name, value) in settings.values(part) {
            let fixed = like.peek(&name);
            if [".max-attempts", "aws-quota.long-poll"].contains(&name.as_str()) || fixed == value {
                continue;
            }
            let why = if fixed.len() > 60 || fixed.is_empty() {
                "fixed in the AWS SDK".to_owned()
            } else {
                format!("fixed in the AWS SDK: `{fixed}`")
            };
            settings.note(&name, why);
        }
        settings.settle(&format!("{part}."));
    }
    if !has_quota && preset.name != LEGACY {
        settings.besides(
            "the AWS SDK limits retries by a quota, which this strategy (without `aws-quota`) does not",
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{left_out, written};

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
