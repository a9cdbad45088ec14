//! Uncertain figures of the server. They are given by `--unsure`. Without this flag, some figures are assumed to be
//! uncertain.

use mockserver::core::{Config, ServerPreset, expand, server_presets};
use shell::args::MOCK_SERVER;
use shell::exit::{Exit, Fatal};
use vocabulary::{did_you_mean, duration_text};

use crate::args::RecommendArgs;
use crate::flags::Flags;
use crate::range::{MAX_RANGES, Plausible, Range, times};

const NONE: &str = "none";
/// Least and greatest plausible value of an undocumented figure of the server, as factors of the nominal value.
const HALF_TO_DOUBLE: (f64, f64) = (0.5, 2.0);
const SERVICE_TIME: &str = "service-time";
const MAX_BUSY: &str = "max-busy";

/// Server flags that `--unsure` does not accept, because their values are not figures of the server.
const NOT_UNSURE: [&str; 3] = ["preset", "policy", "scale"];

/// Returns the uncertain figures, and whether they were assumed because the command line has no `--unsure`.
///
/// # Errors
/// Fails if a key is unknown or its values are not plausible ones of the nominal server.
pub(super) fn ranges(
    args: &RecommendArgs,
    flags: &Flags,
    nominal: &Config,
) -> anyhow::Result<(Vec<Range>, bool)> {
    let server = Nominal::new(flags, nominal)?;
    if args.unsure.is_empty() {
        return Ok((ordered(server.assumed()), true));
    }
    if is_none(args) {
        if args.unsure.len() > 1 {
            let words = "`--unsure none` excludes every other `--unsure`; leave one of them out";
            return Err(Fatal::error(Exit::Usage, words));
        }
        return Ok((Vec::new(), false));
    }
    let mut ranges: Vec<Range> = Vec::new();
    for text in &args.unsure {
        let range = server.range(text)?;
        if ranges.iter().any(|other| other.key == range.key) {
            return Err(refusal(text, &format!("`{}` is given twice; give it once", range.key)));
        }
        ranges.push(range);
    }
    if ranges.len() > MAX_RANGES {
        let words = format!(
            "`--unsure` is given {} times; at most {MAX_RANGES} figures may be uncertain, so leave out the best known ones",
            ranges.len()
        );
        return Err(Fatal::error(Exit::Usage, words));
    }
    Ok((ordered(ranges), false))
}

/// Returns the ranges in the order of their keys, with their lists sorted, so that the servers that are drawn do not depend on the order in
/// which they are typed.
fn ordered(mut ranges: Vec<Range>) -> Vec<Range> {
    for range in &mut ranges {
        if let Plausible::Listed(values) = &mut range.plausible {
            values.sort();
        }
    }
    ranges.sort_by(|one, other| one.key.cmp(&other.key));
    ranges
}

/// Returns true if the nominal server is exactly known.
pub(super) fn is_none(args: &RecommendArgs) -> bool {
    args.unsure.iter().any(|text| text == NONE)
}

fn refusal(text: &str, words: &str) -> anyhow::Error {
    Fatal::error(Exit::Usage, format!("`--unsure {text}`: {words}"))
}

/// Nominal server with the values of its flags and of its preset's parameters.
struct Nominal<'a> {
    flags: &'a Flags,
    config: &'a Config,
    preset: Option<&'static ServerPreset>,
    /// Parameters of the preset's stages as `STAGE.PARAMETER`, with their values.
    parameters: Vec<(String, String)>,
}

impl<'a> Nominal<'a> {
    fn new(flags: &'a Flags, config: &'a Config) -> anyhow::Result<Self> {
        let scale = flags.value("scale").and_then(|scale| mockserver::core::read_scale(scale).ok());
        let expanded = flags.value("preset").map(|preset| expand(preset, scale)).transpose();
        let expanded = expanded.map_err(|error| Fatal::error(Exit::Usage, error.to_string()))?;
        let mut parameters = Vec::new();
        for policy in expanded.iter().flat_map(|expanded| expanded.policy.iter()) {
            let Some(label) = policy.label() else { continue };
            let of_stage = policy.all_parameters().into_iter();
            parameters
                .extend(of_stage.map(|parameter| (format!("{label}.{}", parameter.key), parameter.value)));
        }
        Ok(Self { flags, config, preset: expanded.map(|expanded| expanded.preset), parameters })
    }

    fn assumed(&self) -> Vec<Range> {
        let mut ranges = Vec::new();
        let mut add = |key: &str, factors| {
            let nominal = self.value(key);
            ranges.extend(nominal.and_then(|nominal| Range::by_factors(key, &nominal, factors)));
        };
        add(SERVICE_TIME, HALF_TO_DOUBLE);
        match self.preset {
            Some(preset) => {
                for (key, factors) in &preset.unsure {
                    if let Some(factors) = times(factors) {
                        add(key, factors);
                    }
                }
            }
            None if self.config.has_cap() && self.flags.value("policy").is_none() => {
                add(MAX_BUSY, HALF_TO_DOUBLE);
            }
            None => {}
        }
        ranges.truncate(MAX_RANGES);
        ranges
    }

    fn range(&self, text: &str) -> anyhow::Result<Range> {
        let Some((key, values)) = text.split_once('=') else {
            let words =
                "it must be KEY=LOW..HIGH, KEY=VALUE,VALUE or `none`, such as `service-time=100ms..1s`";
            return Err(refusal(text, words));
        };
        let key = key.trim().trim_start_matches("--").replace('_', "-");
        self.check(&key).map_err(|words| refusal(text, &words))?;
        let nominal = self.value(&key).ok_or_else(|| {
            refusal(text, &format!("the nominal server has no `{key}`; give `--{key}` its nominal value"))
        })?;
        Range::parse(&key, values, &nominal).map_err(|words| refusal(text, &words))
    }

    fn check(&self, key: &str) -> Result<(), String> {
        let flags = RecommendArgs::flags();
        let is_offered = |flag: &&clap::Arg| {
            let long = flag.get_long().unwrap_or_default();
            flag.get_help_heading() == Some(MOCK_SERVER)
                && flag.get_action().takes_values()
                && !NOT_UNSURE.contains(&long)
        };
        let of_server: Vec<&str> =
            flags.get_arguments().filter(is_offered).filter_map(clap::Arg::get_long).collect();
        let parameters: Vec<&str> = self.parameters.iter().map(|(key, _)| &**key).collect();
        let known = [&*of_server, &*parameters].concat();
        if known.contains(&key) {
            return Ok(());
        }
        let suggestion = did_you_mean(key, known);
        let Some((stage, _)) = key.split_once('.') else {
            let all = of_server.join("`, `");
            return Err(format!("`{key}` is not a flag of the server{suggestion}; flags are `{all}`"));
        };
        let Some(preset) = self.preset else {
            return Err(format!("`{key}` is a parameter of a preset; add `--preset NAME`"));
        };
        let is_on = parameters.iter().any(|key| key.split_once('.').is_some_and(|(on, _)| on == stage));
        let has_stage = |preset: &&ServerPreset| preset.limits.iter().any(|limit| limit.name == stage);
        if !is_on && has_stage(&preset) {
            return Err(format!("stage `{stage}` of `{}` is switched off; leave it out here", preset.name));
        }
        let other = server_presets().iter().find(has_stage).filter(|_| !is_on);
        let what = match other {
            Some(other) => {
                format!("`{stage}` is a stage of preset `{}`, not of `{}`", other.name, preset.name)
            }
            None => format!("`{}` has no parameter `{key}`", preset.name),
        };
        Err(format!("{what}{suggestion}; parameters are `{}`", parameters.join("`, `")))
    }

    fn value(&self, key: &str) -> Option<String> {
        if let Some((_, value)) = self.parameters.iter().find(|(known, _)| known == key) {
            return Some(value.clone());
        }
        let config = self.config;
        Some(match key {
            MAX_BUSY => config.max_busy.to_string(),
            SERVICE_TIME => config.service_time.to_string(),
            "reject-time" => config.reject_time.to_string(),
            "network-delay" => config.network_delay.to_string(),
            "return-delay" => config.return_delay.to_string(),
            "rejects-occupy" => config.rejects_occupy.to_string(),
            "reject-status" => config.reject_status.to_string(),
            "reject-first" => config.reject_first.to_string(),
            "loss" => config.loss.to_string(),
            "retry-after" => return config.retry_after.map(duration_text::format),
            _ => return self.flags.value(key).map(str::to_owned),
        })
    }
}
