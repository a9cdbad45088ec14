//! Text form of a strategy: `name:key=value,key=value+name…`.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use vocabulary::{ParameterInfo, duration_text, split_outside};

use crate::backoffs::NO_RETRY;
use crate::budget::MAX_BUDGETS;
use crate::budgets::HOLD;
use crate::common::{COMMON, Common, common_info};
use crate::entry::{Entry, Prepared};
use crate::error::SpecError;
use crate::limiters::{ETHERNET, ORACLE};
use crate::method::{Method, Methods};
use crate::part::PartKind;
use crate::part_config::Context;
use crate::presets::{expand, preset};
use crate::registry::{STRATEGIES, find};
use crate::retry_on::RetryOn;
use crate::rules::Rules;
use crate::spec::raw::{OVER, RawPart, read};
use crate::strategy::MAX_LAYERS;
use crate::{AdviceForms, OracleSchedule, ResponseParser, Strategy};

pub(crate) mod raw;

/// Strategy that was parsed from text and checked. Any number of instances can be built from it.
#[derive(Clone, Debug)]
pub struct StrategySpec {
    text: String,
    /// Layers of the strategy, the innermost layer first. In the text, the innermost layer is the last one.
    layers: Vec<LayerSpec>,
    max_attempts: u32,
    methods: Methods,
    reading: Arc<ResponseParser>,
}

#[derive(Clone, Debug)]
struct LayerSpec {
    parts: Vec<Prepared>,
    common: Common,
    rules: OnceLock<Arc<Rules>>,
}

impl StrategySpec {
    /// Returns the names of the strategy's parts, in the order of the strategy text.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parts().map(|part| part.entry.name)
    }

    fn parts(&self) -> impl Iterator<Item = &Prepared> {
        self.layers.iter().rev().flat_map(|layer| &layer.parts)
    }

    #[doc(hidden)]
    /// Returns whether [`build`](Self::build) needs an [`OracleSchedule`].
    pub fn needs_foreknowledge(&self) -> bool {
        self.names().any(|name| name == ORACLE)
    }

    /// Returns every part of the strategy with the effective values of all its parameters. The parts are listed layer
    /// by layer, in the order of the text. After the parts of a layer follows one entry with an empty name, which
    /// contains the parameters of the whole layer.
    pub fn describe(&self) -> Vec<(&'static str, Vec<ParameterInfo>)> {
        let layers = self.layers.iter().rev().flat_map(|layer| {
            let parts = layer.parts.iter().map(|part| (part.entry.name, part.config.parameters()));
            let mut common = layer.common.clone();
            common.max_attempts = common.max_attempts.min(self.max_attempts);
            parts.chain([("", common_info(&mut common))])
        });
        layers.collect()
    }

    /// Returns warnings about settings that are valid but probably a mistake. Each warning is a sentence.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for layer in &self.layers {
            for (index, Prepared { entry: Entry { name, .. }, .. }) in layer.parts.iter().enumerate() {
                if layer.parts[..index].iter().filter(|before| before.entry.name == *name).count() == 1 {
                    doubts.push(format!(
                        "`{self}` has `{name}` more than once; each keeps its own state, and an attempt \
                         starts only if all of them admit it"
                    ));
                }
            }
        }
        for (name, parameters) in self.describe() {
            let duration = |key: &str| {
                let parameter = parameters.iter().find(|parameter| parameter.key == key)?;
                Some((duration_text::parse(&parameter.value).ok()?, parameter.value.clone()))
            };
            if let (Some((base, base_text)), Some((cap, cap_text))) = (duration("base"), duration("cap"))
                && base > cap
            {
                doubts.push(format!(
                    "in `{name}` of `{self}`, `cap={cap_text}` is below `base={base_text}`, so every delay \
                     is cut to `cap`"
                ));
            }
        }
        if let [layer] = &self.layers[..]
            && self.max_attempts != u32::MAX
            && layer.common.max_attempts < self.max_attempts
        {
            doubts.push(format!(
                "`{self}` stops after {} attempts; `--max-attempts {}` can only lower this number; to raise \
                 it, write `max-attempts={}` after the strategy's name",
                layer.common.max_attempts, self.max_attempts, self.max_attempts
            ));
        }
        doubts.extend(self.doubts_about_hold());
        for part in self.parts() {
            let own = part.config.doubts().into_iter();
            doubts.extend(own.map(|doubt| format!("in `{}` of `{self}`, {doubt}", part.entry.name)));
        }
        doubts
    }

    /// Returns warnings about the parts that hold all ops as the server advises: `hold`, which is only in the innermost layer, and limiters
    /// with the parameter `hold=on`.
    fn doubts_about_hold(&self) -> Vec<String> {
        let LayerSpec { parts, common, .. } = &self.layers[0];
        let mut doubts = Vec::new();
        let mut holding = Vec::new();
        for part in parts {
            let parameters = part.config.parameters();
            let value = |key: &str| Some(&parameters.iter().find(|parameter| parameter.key == key)?.value);
            let duration =
                |key: &str| value(key).and_then(|value| duration_text::parse(value).ok()).unwrap_or_default();
            let name = part.entry.name;
            if name == HOLD {
                let [max, blind] = ["max", "blind"].map(duration);
                holding.push((name, "max", max));
                if blind.is_zero() && !self.parts().any(Prepared::spaces_attempts) {
                    doubts.push(format!(
                        "in `{self}`, `{HOLD}` alone decides when attempts are sent; if the server rejects without advice, or limits \
                         concurrent requests, they are repeated at once; add a window (`{HOLD}+aimd`) or a backoff (`{HOLD}+full-jitter`)"
                    ));
                }
                if max.is_zero() {
                    doubts.push(format!("in `{self}`, `max=0` makes `{HOLD}` hold nothing; leave it out"));
                }
            } else if value("hold").is_some_and(|value| value == "on") {
                holding.push((name, "hold-max", duration("hold-max")));
            }
        }
        if let (true, Some((other, ..))) =
            (holding.iter().any(|(name, ..)| *name == HOLD), holding.iter().find(|(name, ..)| *name != HOLD))
        {
            doubts.push(format!(
                "in `{self}`, `{other}` already holds all ops as the server advises; leave out `{HOLD}`, or write `{other}:hold=off`"
            ));
        }
        let is_holding = |part: &&Prepared| {
            part.config.parameters().iter().any(|own| own.key == "hold" && own.value == "on")
        };
        if let Some(outer) = self.layers[1..].iter().flat_map(|layer| &layer.parts).find(is_holding) {
            let name = outer.entry.name;
            doubts.push(format!(
                "in `{self}`, `{name}` is not in the innermost layer, so it does not hold the attempts inside a try"
            ));
        }
        let followed = common.advice.follows_up_to();
        for (name, key, max) in holding {
            if let Some(followed) = followed.filter(|followed| max > *followed) {
                let (max, followed) = (duration_text::format(max), duration_text::format(followed));
                doubts.push(format!(
                    "in `{self}`, a rejected op follows advice up to {followed} (`advice-limit`), but `{name}` lets all other ops wait up to \
                     {max}; `{name}:{key}={followed}` treats all alike"
                ));
            }
        }
        doubts
    }

    /// Returns the parameters that every strategy accepts, with their defaults.
    pub fn common_parameters() -> Vec<ParameterInfo> {
        common_info(&mut Common::default())
    }

    /// Limits the attempts per op to at most `max_attempts`. It implements the command line flag `--max-attempts`. A
    /// lower limit in the strategy text stays in force.
    #[must_use]
    pub fn with_max_attempts(mut self, max_attempts: u32) -> Self {
        self.max_attempts = self.max_attempts.min(max_attempts);
        self
    }

    /// Sets the HTTP method of the client's requests. The default is GET.
    #[must_use]
    pub fn with_method(self, method: Method) -> Self {
        self.with_methods([method])
    }

    /// Declares that the client sends requests with several HTTP methods. The driver must then set the method of each
    /// request in [`Outcome::method`](crate::Outcome::method).
    #[must_use]
    pub fn with_methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods = methods.into_iter().collect();
        // The rules are compiled for certain methods.
        for layer in &mut self.layers {
            layer.rules = OnceLock::new();
        }
        self
    }

    /// Creates an instance of the strategy. `seed` is the seed of the run, and all clients may have the same seed.
    /// Clients with the same seed still behave differently, because random draws are also keyed by op.
    pub fn build(&self, seed: u64, oracle_schedule: Option<OracleSchedule>) -> Result<Strategy, SpecError> {
        let mut context = Context { seed, oracle_schedule };
        let reading = &self.reading;
        let layers = self.layers.iter().map(|layer| {
            let parts = layer.parts.iter().map(|part| part.start(&mut context));
            let rules = layer.rules.get_or_init(|| Arc::new(layer.common.rules(self.methods, reading)));
            Ok((parts.collect::<Result<Vec<_>, _>>()?, Arc::clone(rules)))
        });
        let layers = layers.collect::<Result<Vec<_>, SpecError>>()?;
        Ok(Strategy::layered(seed, layers, self.max_attempts, reading.clone()))
    }

    /// Returns whether the strategy has rules of its own that select the outcomes that it retries. Presets usually have
    /// such rules.
    pub fn has_rules(&self) -> bool {
        self.layers.iter().any(|layer| layer.common.has_classifications())
    }

    /// Returns whether the strategy itself ends every op: each of its layers limits the attempts, the retries or the time of an op.
    pub fn is_bounded(&self) -> bool {
        let is_bounded = |layer: &LayerSpec| {
            let rules = layer.common.rules(self.methods, &self.reading);
            rules.max_attempts != u32::MAX
                || rules.max_time.is_some()
                || rules.max_retries.iter().all(|most| *most != u32::MAX)
                || layer.parts.iter().any(|part| part.entry.name == NO_RETRY)
        };
        self.max_attempts != u32::MAX || self.layers.iter().all(is_bounded)
    }

    /// Returns the strategy's own limit on the duration of an attempt, if any.
    pub fn attempt_timeout(&self) -> Option<Duration> {
        self.layers[0].common.attempt_timeout()
    }

    /// Returns the parser that extracts facts and advice from answers.
    pub fn reading(&self) -> &Arc<ResponseParser> {
        &self.reading
    }

    #[cfg(test)]
    pub(crate) fn build_parts(&self, mut context: Context) -> Result<Vec<crate::Part>, SpecError> {
        self.layers[0].parts.iter().map(|part| part.start(&mut context)).collect()
    }
}

impl FromStr for StrategySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words = text.trim();
        if words == "over" || words.starts_with("over ") || words.ends_with(" over") {
            return Err(SpecError::NoLayer { text: words.to_owned() });
        }
        let layers = read_layers(text, 0)?;
        if layers.len() > MAX_LAYERS {
            return Err(SpecError::TooManyLayers { text: text.to_owned() });
        }
        let is_alone = layers.len() == 1;
        let layers = layers.into_iter().rev().map(|layer| LayerSpec::read(text, layer, is_alone));
        let layers = layers.collect::<Result<Vec<_>, _>>()?;
        if layers[1..].iter().flat_map(|layer| &layer.parts).any(|part| part.entry.name == HOLD) {
            return Err(SpecError::OuterHold { part: HOLD });
        }
        check_hedging(text, &layers)?;
        let methods = Methods::only(Method::default());
        let reading = Arc::new(reading_of(&layers));
        let is_read =
            |forms: &AdviceForms| *forms == reading.forms || Some(forms) == reading.outer_forms.as_ref();
        if !layers.iter().all(|layer| is_read(&layer.common.advice_forms)) {
            return Err(SpecError::TooManyAdviceForms { text: text.to_owned() });
        }
        if reading.reasons.len() > MAX_REASONS {
            return Err(SpecError::TooManyReasons { text: text.to_owned() });
        }
        Ok(Self { text: text.trim().to_owned(), layers, max_attempts: u32::MAX, methods, reading })
    }
}

impl LayerSpec {
    /// Combines the parts of one layer of the strategy `text`. A layer needs a retry policy, unless it is the only
    /// layer.
    fn read(text: &str, raw: Vec<RawPart>, is_alone: bool) -> Result<Self, SpecError> {
        // The number of retry policies is checked before the options. If a text joins two presets, both often set the
        // same option. The error about the repeated option would then hide the actual mistake, which is the second
        // retry policy.
        let kinds = raw.iter().filter_map(|part| find(&part.name)).map(|entry| entry.kind);
        if kinds.filter(|kind| *kind == PartKind::RetryPolicy).count() > 1 {
            return Err(SpecError::TwoRetryPolicies { text: text.to_owned() });
        }
        let (mut common, mut common_keys) = (Common::default(), Vec::new());
        let parts = raw.into_iter().map(|part| read_part(part, &mut common, &mut common_keys));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let count = |kind| parts.iter().filter(|(entry, _)| entry.kind == kind).count();
        if count(PartKind::Budget) > MAX_BUDGETS {
            return Err(SpecError::TooManyBudgets { text: text.to_owned() });
        }
        if !is_alone && count(PartKind::RetryPolicy) == 0 {
            let names: Vec<&str> = parts.iter().map(|(entry, _)| entry.name).collect();
            return Err(SpecError::LayerWithoutRetries { layer: names.join("+") });
        }
        let parts = parts.iter().map(|(entry, options)| entry.prepare(options));
        Ok(Self { parts: parts.collect::<Result<_, _>>()?, common, rules: OnceLock::new() })
    }
}

fn reading_of(layers: &[LayerSpec]) -> ResponseParser {
    let mut all_forms = layers.iter().map(|layer| &layer.common.advice_forms);
    let forms = &layers[0].common.advice_forms;
    let rules = || layers.iter().flat_map(|layer| layer.common.judges_by());
    let mut reasons: Vec<String> = Vec::new();
    for reason in rules().flat_map(RetryOn::reasons) {
        if !reasons.iter().any(|known| known == reason) {
            reasons.push(reason.to_owned());
        }
    }
    let harness = AdviceForms::default();
    ResponseParser {
        outer_forms: all_forms.find(|other| *other != forms).cloned(),
        hints: layers.iter().any(|layer| layer.common.needs_hints()),
        grpc: rules().any(RetryOn::needs_grpc),
        reasons,
        quota: layers.iter().flat_map(|layer| &layer.parts).any(|part| part.config.uses_quota()),
        harness: (*forms != harness).then_some(harness),
        forms: forms.clone(),
    }
}

/// Checks the rules for hedgers. A strategy has at most one hedger, and only in its innermost layer. A hedger cannot be
/// combined with carrier sense, which lets the server decide whether an attempt starts.
fn check_hedging(text: &str, layers: &[LayerSpec]) -> Result<(), SpecError> {
    let hedgers = |layers: &[LayerSpec]| -> Vec<&'static str> {
        let parts = layers.iter().flat_map(|layer| &layer.parts).map(|part| part.entry);
        parts.filter(|entry| entry.kind == PartKind::Hedging).map(|entry| entry.name).collect()
    };
    if let [hedger, ..] = hedgers(&layers[1..])[..] {
        return Err(SpecError::OuterHedger { hedger });
    }
    let senses_carrier = |part: &Prepared| part.entry.name == ETHERNET;
    match hedgers(layers)[..] {
        [first, second, ..] => Err(SpecError::TwoHedgers { text: text.to_owned(), first, second }),
        [hedger] if layers.iter().flat_map(|layer| &layer.parts).any(senses_carrier) => {
            Err(SpecError::HedgedCarrier { hedger, carrier: ETHERNET })
        }
        _ => Ok(()),
    }
}

/// Maximum number of reasons, such as error codes, for which a strategy searches answers. A reason is identified by its
/// position in a list, and the position is stored in a byte.
const MAX_REASONS: usize = 64;

type ReadPart = (&'static Entry, Vec<(String, String)>);

/// Finds a strategy part by its name. Options that apply to the whole layer (common parameters) are stored in `common`;
/// all other options are returned. No option may be repeated within a part. No common parameter may occur in several
/// parts, so `common_keys` collects the keys of common parameters.
fn read_part(
    part: RawPart,
    common: &mut Common,
    common_keys: &mut Vec<String>,
) -> Result<ReadPart, SpecError> {
    let RawPart { name, options, text } = part;
    let entry =
        find(&name).ok_or_else(|| SpecError::unknown(&name, STRATEGIES.iter().map(|entry| entry.name)))?;
    let mut own: Vec<(String, String)> = Vec::new();
    for (key, value) in options {
        let Some(value) = value else {
            return Err(SpecError::NoValue { part: entry.name, option: key });
        };
        if own.iter().map(|(key, _)| key).chain(&*common_keys).any(|there| *there == key) {
            return Err(SpecError::Twice { text, key });
        }
        match COMMON.iter().find(|parameter| parameter.key == key) {
            Some(parameter) => {
                parameter
                    .set(common, &value)
                    .map_err(|source| SpecError::Value { part: entry.name, source })?;
                common_keys.push(key);
            }
            None => own.push((key, value)),
        }
    }
    Ok((entry, own))
}

impl fmt::Display for StrategySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Change of one parameter in the text of a strategy, for sweeps and scenarios.
impl StrategySpec {
    /// Returns the strategy with one parameter of the part `part` changed, or `None` if the strategy has no such part.
    /// `part` is the name of a part, which may also be inside a preset, or the name of a preset.
    ///
    /// # Errors
    /// If the part has no such parameter, or the value is out of its range.
    pub fn with(&self, part: &str, key: &str, value: &str) -> Result<Option<Self>, SpecError> {
        let mut found = false;
        let mut set = |typed: &str| {
            let Some(option) = option_of(&RawPart::read(typed), part, key) else {
                return typed.trim().to_owned();
            };
            found = true;
            let (name, options) = typed.split_once(':').unwrap_or((typed, ""));
            let others = split_outside(options, ',')
                .map(str::trim)
                .filter(|other| !other.is_empty() && other.split('=').next().map(str::trim) != Some(&option));
            let own = format!("{option}={value}");
            let options: Vec<&str> = others.chain([own.as_str()]).collect();
            format!("{}:{}", name.trim(), options.join(","))
        };
        let layers = self
            .text
            .split(OVER)
            .map(|layer| split_outside(layer, '+').map(&mut set).collect::<Vec<_>>().join("+"));
        let text = layers.collect::<Vec<_>>().join(OVER);
        if !found {
            return Ok(None);
        }
        let varied: Self = text.parse()?;
        Ok(Some(Self { max_attempts: self.max_attempts, methods: self.methods, ..varied }))
    }

    /// Returns whether the strategy has a part with this name, so that [`with`](Self::with) can change it.
    pub fn has_part(&self, part: &str) -> bool {
        read(&self.text).iter().flatten().any(|typed| option_of(typed, part, "").is_some())
    }

    /// Returns whether the strategy text sets the parameter `key` of the part `part`.
    pub fn sets(&self, part: &str, key: &str) -> bool {
        read(&self.text).iter().flatten().any(|typed| {
            option_of(typed, part, key)
                .is_some_and(|option| typed.options.iter().any(|(there, _)| *there == option || there == key))
        })
    }
}

fn option_of(typed: &RawPart, part: &str, key: &str) -> Option<String> {
    if typed.name != PRESET {
        return (typed.name == part).then(|| key.to_owned());
    }
    let found = preset(&typed.options.first()?.0)?;
    let named = part.strip_prefix("preset:").unwrap_or(part);
    if preset(named).is_some_and(|named| named.name == found.name) {
        return Some(key.to_owned());
    }
    let layers = read_layers(&typed.text, 0).ok()?;
    let has_it = layers.iter().flatten().any(|inside| inside.name == part);
    let is_alone = layers.len() == 1 && COMMON.iter().any(|parameter| parameter.key == key);
    has_it.then(|| if is_alone { key.to_owned() } else { format!("{part}.{key}") })
}

/// Expansion of the presets in the text of a strategy.
const PRESET: &str = "preset";

/// Parses a text such as `outer over inner` into layers, the outer layer first, each with its parts. If a preset has
/// several layers, parts that are joined to the preset with `+` belong to its inner layer. `nested` is the nesting
/// depth: the number of presets that contain the text.
fn read_layers(text: &str, nested: u32) -> Result<Vec<Vec<RawPart>>, SpecError> {
    let mut layers: Vec<Vec<RawPart>> = Vec::new();
    for layer in read(text) {
        let mut parts = Vec::new();
        for part in layer {
            if part.name != PRESET {
                parts.push(part);
                continue;
            }
            let mut expanded = expand(&part, nested, &read_layers)?;
            let inner = expanded.pop().unwrap_or_default();
            layers.append(&mut expanded);
            parts.extend(inner);
        }
        layers.push(parts);
    }
    Ok(layers)
}
