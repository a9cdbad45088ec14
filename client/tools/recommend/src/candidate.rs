//! Candidates for a recommendation: today's setting of the client, and changes of this setting.

use std::mem::discriminant;

use settings::knobs;
use shell::settings::printed;
use tailback::{Knob, StrategySpec};
use vocabulary::split_outside;

use crate::recommendation::{RecommendedSetting, SettingOf};

/// Maximum number of candidates of the first two stages. The last stage only changes the best one.
pub(crate) const MAX_CANDIDATES: usize = 48;
/// Maximum number of crossed values of a library's settings, with today's. No preset has more.
const MAX_COMBINATIONS: usize = 24;
/// Divisors of today's number of workers. The search tries each of the resulting smaller numbers of workers.
const WORKER_DIVISORS: [u32; 3] = [4, 2, 8];
/// Ratio of two values up to which no value between them is worth a run.
const FINE: f64 = 1.05;
const RATE_FACTORS: [f64; 2] = [0.7, 0.85];
/// Limiters that adapt to the server. They run beside the candidates.
const ADAPTIVE: [&str; 3] = ["aimd", "aws-adaptive", "tailback"];
/// Strategies behind one gate for all ops. They run beside the candidates if the server advises waits. The gate alone is never a candidate,
/// because without a window or a backoff it repeats at once what was rejected without advice.
const GATED: [&str; 2] = ["hold+aimd", "hold+full-jitter"];
const GATE: &str = "hold";
/// Limiter that holds all ops by itself.
const HOLDING: &str = "tailback";

const PRESET: &str = "preset:";
const OVER: &str = " over ";
const RATE_LIMITER: &str = "token-bucket";

/// Setting of the client that may be recommended: a strategy, and the number of workers of a closed loop.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub text: String,
    pub spec: StrategySpec,
    pub in_flight: Option<u32>,
    /// Changes that turn today's setting into the candidate. Empty if the candidate is today's setting.
    pub changes: Vec<Change>,
    /// True if the candidate needs code that the client library does not have. The candidate is then run for comparison only and is not
    /// recommended.
    pub is_by_code: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Knob { knob: Knob, value: String },
    Strategy(String),
    Workers(u32),
    Rate(RateLimit),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateLimit {
    pub per_s: f64,
    /// Whether the rate is below the lowest plausible capacity of the server.
    pub is_below_capacity: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidates {
    pub library: bool,
    pub workers: bool,
    pub rate: bool,
}

impl Change {
    /// Returns the change as users write it: the library's setting, or words such as `8 workers`.
    pub(crate) fn setting(&self) -> RecommendedSetting {
        let (of, text) = match self {
            Self::Knob { knob, value } => (SettingOf::Library, knob.setting_of(value)),
            Self::Strategy(text) => (SettingOf::Strategy, text.clone()),
            Self::Workers(1) => (SettingOf::Workers, "1 worker".to_owned()),
            Self::Workers(workers) => (SettingOf::Workers, format!("{workers} workers")),
            Self::Rate(rate) => (SettingOf::Rate, format!("at most {} requests/s", rate.per_s)),
        };
        RecommendedSetting { of, text }
    }

    fn is_knob(&self) -> bool {
        matches!(self, Self::Knob { .. })
    }
}

impl Candidates {
    /// Returns the candidates of the first stage: today's setting, then the library's settings, then adaptive limiters. If the server
    /// advises waits, those that obey them with all ops follow.
    pub(crate) fn of_library(self, today: &Candidate, sends_advice: bool) -> Vec<Candidate> {
        let mut all = vec![today.clone()];
        if self.library {
            for candidate in combinations(today) {
                add(&mut all, candidate, MAX_CANDIDATES);
            }
            all.truncate(MAX_COMBINATIONS);
        }
        let is_preset = today.text.starts_with(PRESET);
        let gated = GATED.into_iter().filter(|_| sends_advice);
        for name in ADAPTIVE.into_iter().chain(gated) {
            let is_by_code = is_preset || !self.library;
            for text in [format!("{}+{name}", without_rate(&today.text)), name.to_owned()] {
                // A limiter alone would replace the library, so a library's preset is always kept.
                let Ok(spec) = text.parse::<StrategySpec>() else { continue };
                let is_alone = text == name;
                let has = |name: &str| split_outside(&today.text, '+').any(|part| is_part(part, name));
                let is_doubled = name.split('+').any(has);
                if is_alone && is_preset || !is_alone && is_doubled {
                    continue;
                }
                let changes = vec![Change::Strategy(text.clone())];
                add(&mut all, Candidate { text, spec, changes, is_by_code, ..today.clone() }, MAX_CANDIDATES);
                break;
            }
        }
        all
    }

    /// Returns the candidates of a later stage of a search. Each of them changes one base in one respect: the workers, the rate limit or a
    /// setting of the library.
    /// All stages have at most `most` candidates together.
    pub(crate) fn of_client(
        self,
        bases: &[&Candidate],
        rates: &[RateLimit],
        earlier: &[Candidate],
        most: usize,
    ) -> Vec<Candidate> {
        let of_base = |base: &&Candidate| {
            let mut all = base.with_each(self.in_order(base, rates));
            all.extend(base.neighbours(earlier));
            all
        };
        added(earlier, bases.iter().flat_map(of_base), most)
    }

    /// Returns the changes of workers and rates, those first that most often decide. If the budget is short, the last ones are left out.
    fn in_order(self, base: &Candidate, rates: &[RateLimit]) -> Vec<Change> {
        let today = base.in_flight.unwrap_or_default();
        let workers = WORKER_DIVISORS.map(|divisor| today / divisor).into_iter();
        let workers = workers.filter(|workers| self.workers && *workers > 0).map(Change::Workers);
        let lowest = rates.iter().position(|rate| !rate.is_below_capacity).unwrap_or(0);
        let (below, from_lowest) = rates.split_at(lowest);
        let rates = from_lowest.iter().take(1).chain(below.iter().rev()).chain(from_lowest.iter().skip(1));
        let mut rates = rates.filter(|_| self.rate).map(|rate| Change::Rate(*rate));
        let mut ordered = Vec::new();
        for workers in workers {
            ordered.extend(rates.next());
            ordered.push(workers);
        }
        ordered.extend(rates);
        ordered
    }

    /// Returns each base with its rate, or its workers, halfway to the next higher one that was tried (geometric mean). A rate at the
    /// capacity or above it is not raised, because a higher one lives on the server's burst.
    pub(crate) fn finer(self, bases: &[&Candidate], earlier: &[Candidate]) -> Vec<Candidate> {
        let of_base = |base: &&Candidate| base.with_each(self.middles(base, earlier));
        added(earlier, bases.iter().flat_map(of_base), usize::MAX)
    }

    fn middles(self, base: &Candidate, earlier: &[Candidate]) -> Vec<Change> {
        let next = |value: f64, of: &dyn Fn(&Candidate) -> Option<f64>| {
            let higher = earlier.iter().filter_map(of).filter(|other| *other > FINE * value);
            higher.reduce(f64::min).map(|higher| libm::sqrt(value * higher))
        };
        let rate = base.rate().filter(|rate| self.rate && rate.is_below_capacity).and_then(|rate| {
            let per_s = next(rate.per_s, &|other| Some(other.rate()?.per_s))?;
            Some(Change::Rate(RateLimit { per_s: rounded_down(per_s), ..rate }))
        });
        let workers = base.workers().filter(|_| self.workers).and_then(|workers| {
            let middle = next(workers.into(), &|other| other.in_flight.map(f64::from))?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is between two u32"
            )]
            let middle = libm::round(middle) as u32;
            Some(Change::Workers(middle)).filter(|_| middle > workers)
        });
        rate.into_iter().chain(workers).collect()
    }
}

impl Candidate {
    pub(crate) fn today(text: &str, spec: StrategySpec, in_flight: Option<u32>) -> Self {
        Self { text: text.to_owned(), spec, in_flight, changes: Vec::new(), is_by_code: false }
    }

    pub(crate) fn rate(&self) -> Option<RateLimit> {
        self.changes.iter().find_map(|change| match change {
            Change::Rate(rate) => Some(*rate),
            _ => None,
        })
    }

    pub(crate) fn workers(&self) -> Option<u32> {
        self.changes.iter().find_map(|change| match change {
            Change::Workers(workers) => Some(*workers),
            _ => None,
        })
    }

    /// Returns the candidate with its strategy changed so that it does not hold all ops as the server advises. `None` if the strategy
    /// holds none.
    pub(crate) fn without_gate(&self) -> Option<Self> {
        let kept: Vec<&str> = split_outside(&self.text, '+').filter(|part| !is_part(part, GATE)).collect();
        let without: StrategySpec = kept.join("+").parse().ok()?;
        let spec = without.with(HOLDING, "hold", "off").ok()?.unwrap_or(without);
        let text = spec.to_string();
        (text != self.text).then(|| Self { text, spec, ..self.clone() })
    }

    pub(crate) fn is_of_library(&self) -> bool {
        !self.changes.is_empty()
            && self.changes.iter().all(|change| matches!(change, Change::Knob { .. } | Change::Strategy(_)))
    }

    /// Returns the candidate with other workers or another rate.
    fn with(&self, change: Change) -> Option<Self> {
        let (text, in_flight) = match &change {
            Change::Rate(rate) => (with_rate(&self.text, *rate), self.in_flight),
            Change::Workers(in_flight) => (self.text.clone(), Some(*in_flight)),
            Change::Knob { .. } | Change::Strategy(_) => return None,
        };
        let spec = text.parse().ok()?;
        // It replaces an earlier change of the workers or of the rate.
        let mut changes = self.changes.clone();
        changes.retain(|other| discriminant(other) != discriminant(&change));
        changes.push(change);
        Some(Self { text, spec, in_flight, changes, ..self.clone() })
    }

    fn with_each(&self, changes: Vec<Change>) -> Vec<Self> {
        changes.into_iter().filter_map(|change| self.with(change)).collect()
    }

    /// Returns the settings of the library as `loadgen strategies S --print-settings` prints them. `None` if no setting changes for which
    /// a format is known.
    pub(crate) fn library_settings(&self) -> Option<String> {
        // The client's own code limits the rate, so the rate is left out of the library's settings.
        let printed = || printed(&without_rate(&self.text), None).ok();
        let changes_library = self.changes.iter().any(Change::is_knob);
        changes_library.then(printed)?.filter(|printed| !printed.is_of_knobs).map(|printed| printed.settings)
    }

    /// Returns the candidate's workers and rate with each combination of the library's settings that differs in one setting.
    fn neighbours(&self, earlier: &[Self]) -> Vec<Self> {
        let (own, of_client): (Vec<_>, Vec<_>) = self.changes.iter().cloned().partition(Change::is_knob);
        let lacks = |one: &[Change], other: &[Change]| one.iter().filter(|it| !other.contains(it)).count();
        let differs_in_one = |other: &[Change]| lacks(&own, other).max(lacks(other, &own)) == 1;
        earlier
            .iter()
            .filter(|of| of.changes.iter().all(Change::is_knob) && differs_in_one(&of.changes))
            .filter_map(|of| of_client.iter().cloned().try_fold(of.clone(), |all, change| all.with(change)))
            .collect()
    }

    fn is_same(&self, other: &Self) -> bool {
        self.in_flight == other.in_flight && self.spec.describe() == other.spec.describe()
    }
}

/// Returns the crossed values of all settings of the library, without today's setting.
fn combinations(today: &Candidate) -> Vec<Candidate> {
    let mut bases = vec![today.clone()];
    for knob in knobs(&today.text) {
        for text in &knob.texts {
            let whole = with_first_part(&today.text, text);
            let Ok(spec) = whole.parse() else { continue };
            let changes = vec![Change::Knob { knob: knob.clone(), value: text.clone() }];
            bases.push(Candidate { text: whole, spec, changes, ..today.clone() });
        }
    }
    for knob in knobs(&today.text) {
        let Some(key) = &knob.parameter else { continue };
        let mut crossed = Vec::new();
        for base in &bases {
            let mut of_base: Vec<Candidate> = Vec::new();
            for value in knob.values.iter().map(ToString::to_string) {
                let text = with_option(&base.text, key, &value);
                let Ok(spec) = text.parse::<StrategySpec>() else { continue };
                let mut candidate = Candidate { text, spec, ..base.clone() };
                if candidate.is_same(base) {
                    candidate = base.clone();
                } else {
                    candidate.changes.push(Change::Knob { knob: knob.clone(), value });
                }
                of_base.push(candidate);
            }
            // Today's value of a setting remains a choice, even if it is not among the values that are worth trying.
            if !of_base.iter().any(|candidate| candidate.is_same(base)) {
                of_base.insert(0, base.clone());
            }
            crossed.extend(of_base);
        }
        bases = crossed;
    }
    bases.retain(|candidate| !candidate.is_same(today));
    bases
}

/// Adds a candidate to `all`, unless `all` contains an equal candidate or is full. Candidates that need additional code do not count
/// towards `most`.
fn add(all: &mut Vec<Candidate>, candidate: Candidate, most: usize) {
    let count = all.iter().filter(|other| !other.is_by_code).count();
    let has_room = candidate.is_by_code || count < most;
    if has_room && !all.iter().any(|other| other.is_same(&candidate)) {
        all.push(candidate);
    }
}

/// Returns the candidates that are neither among the earlier ones nor equal to each other, until all are `most`.
fn added(earlier: &[Candidate], new: impl Iterator<Item = Candidate>, most: usize) -> Vec<Candidate> {
    let mut all = earlier.to_vec();
    for candidate in new {
        add(&mut all, candidate, most);
    }
    all.split_off(earlier.len())
}

fn is_part(part: &str, name: &str) -> bool {
    part.split(':').next().map(str::trim) == Some(name)
}

/// Splits a strategy into its outermost layer and the rest, which begins with the separator.
fn layers(text: &str) -> (&str, &str) {
    text.split_at(text.find(OVER).unwrap_or(text.len()))
}

fn with_first_part(text: &str, first: &str) -> String {
    let parts: Vec<&str> = std::iter::once(first).chain(split_outside(text, '+').skip(1)).collect();
    parts.join("+")
}

fn with_option(text: &str, key: &str, value: &str) -> String {
    let first = split_outside(text, '+').next().unwrap_or_default();
    let is_set = |option: &str| option.split_once('=').is_some_and(|(known, _)| known.trim() == key);
    let kept: Vec<&str> = split_outside(first, ',').filter(|option| !is_set(option)).collect();
    with_first_part(text, &format!("{},{key}={value}", kept.join(",")))
}

/// Adds a limit of the rate of attempts to a strategy, instead of the limit that it has.
pub(crate) fn with_rate(text: &str, rate: RateLimit) -> String {
    let text = without_rate(text);
    let (outer, inner) = layers(&text);
    let plus = if outer.is_empty() { "" } else { "+" };
    format!("{outer}{plus}{RATE_LIMITER}:rate={}/s,burst=1{inner}", rate.per_s)
}

pub(crate) fn without_rate(text: &str) -> String {
    let is_other = |part: &&str| !is_part(part, RATE_LIMITER);
    let (outer, inner) = layers(text);
    split_outside(outer, '+').filter(is_other).collect::<Vec<_>>().join("+") + inner
}

/// Returns the rates to try: 0.7, 0.85 and 1 times the lowest plausible capacity, the geometric middle of the lowest and the highest, and
/// the highest. Then the lowest plausible value of each other limit, because a short run may end before a lower limit counts. `limits_per_s`
/// has one list for each server, which is empty if the server's capacity is unknown. `instances` clients share the capacity. Rates are
/// rounded down to three significant digits.
pub(crate) fn rates(limits_per_s: &[Vec<f64>], instances: u32) -> Vec<RateLimit> {
    let known = || limits_per_s.iter().filter(|limits| !limits.is_empty());
    let capacities = || known().filter_map(|limits| limits.iter().copied().reduce(f64::min));
    let (lowest, highest) = (capacities().reduce(f64::min), capacities().reduce(f64::max));
    let Some((lowest, highest)) = lowest.zip(highest) else { return Vec::new() };
    let middle = libm::sqrt(lowest * highest);
    let of_lowest = RATE_FACTORS.map(|factor| factor * lowest);
    let stages = known().map(Vec::len).min().unwrap_or_default();
    let of_stage = |stage: usize| known().map(|limits| limits[stage]).fold(f64::INFINITY, f64::min);
    let mut rates = Vec::new();
    for per_s in of_lowest.into_iter().chain([lowest, middle, highest]).chain((0..stages).map(of_stage)) {
        let is_below_capacity = per_s < lowest;
        let per_s = rounded_down(per_s / f64::from(instances.max(1)));
        let is_known = rates.iter().any(|rate: &RateLimit| rate.per_s.total_cmp(&per_s).is_eq());
        if per_s > 0.0 && !is_known {
            rates.push(RateLimit { per_s, is_below_capacity });
        }
    }
    rates
}

fn rounded_down(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return 0.0;
    }
    let scale = libm::exp10(2.0 - libm::floor(libm::log10(value)));
    // The addend 1e-6 preserves values such as 5.83. Rounding errors can make the product of such a value and `scale` slightly less than a
    // whole number.
    let digits = libm::floor(value * scale + 1e-6);
    format!("{:.9}", digits / scale).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Candidates = Candidates { library: true, workers: true, rate: true };

    fn today(text: &str, in_flight: Option<u32>) -> Candidate {
        Candidate::today(text, text.parse().unwrap(), in_flight)
    }

    fn texts(candidates: &[Candidate]) -> Vec<&str> {
        candidates.iter().map(|candidate| &*candidate.text).collect()
    }

    #[test]
    fn a_rate_replaces_the_rate_that_a_strategy_has() {
        let rate = RateLimit { per_s: 5.83, is_below_capacity: false };
        let with = with_rate("preset:openai,max-attempts=6", rate);
        assert_eq!(with, "preset:openai,max-attempts=6+token-bucket:rate=5.83/s,burst=1");
        assert_eq!(
            with_rate(&with, RateLimit { per_s: 7.0, is_below_capacity: false }),
            with.replace("5.83", "7")
        );
        assert_eq!(without_rate(&with), "preset:openai,max-attempts=6");
        assert!(with.parse::<StrategySpec>().is_ok());
        let layered = "preset:openai+token-bucket:rate=9/s,burst=1 over preset:envoy";
        assert_eq!(without_rate(layered), "preset:openai over preset:envoy");
        let outer = "preset:openai+token-bucket:rate=5.83/s,burst=1 over preset:envoy";
        assert_eq!(with_rate(layered, rate), outer);
    }

    #[test]
    fn rates_never_exceed_the_capacity_and_are_shared_by_clients() {
        let per_s = |capacities: &[f64], instances| -> Vec<f64> {
            let limits: Vec<Vec<f64>> = capacities.iter().map(|per_s| vec![*per_s, 50.0]).collect();
            rates(&limits, instances).iter().map(|rate| rate.per_s).collect()
        };
        assert_eq!(per_s(&[350.0 / 60.0, 500.0 / 60.0], 1), [4.08, 4.95, 5.83, 6.97, 8.33, 50.0]);
        assert_eq!(per_s(&[20.0], 4), [3.5, 4.25, 5.0, 12.5]);
        assert!(per_s(&[], 1).is_empty());
    }

    #[test]
    fn workers_and_rates_are_tried_with_each_base() {
        let base = today("preset:curl", Some(20));
        let all =
            ALL.of_client(&[&base], &rates(&[vec![10.0]], 1), std::slice::from_ref(&base), MAX_CANDIDATES);
        let workers: Vec<u32> = all.iter().filter_map(Candidate::workers).collect();
        assert_eq!(workers, [5, 10, 2]);
        assert_eq!(all.iter().filter(|candidate| candidate.rate().is_some()).count(), 3);
        let none = Candidates { workers: false, rate: false, ..ALL };
        assert!(
            none.of_client(&[&base], &rates(&[vec![10.0]], 1), std::slice::from_ref(&base), MAX_CANDIDATES)
                .is_empty()
        );
    }

    #[test]
    fn the_best_rate_and_the_best_workers_are_refined_upwards() {
        let start = today("preset:curl", Some(20));
        let of = |base: &Candidate, earlier: &[Candidate]| {
            ALL.finer(&[base], earlier).iter().map(|it| (it.rate(), it.workers())).collect::<Vec<_>>()
        };
        let mut all = ALL.of_client(&[&start], &rates(&[vec![10.0]], 1), &[], usize::MAX);
        all.push(start);
        let with = |rate| all.iter().find(|it| it.text.contains(rate)).unwrap();
        let finer = RateLimit { per_s: 7.71, is_below_capacity: true };
        assert_eq!(of(with("rate=7/s"), &all), [(Some(finer), None)]);
        assert_eq!(of(with("rate=10/s"), &all), []);
        let with_five = all.iter().find(|it| it.workers() == Some(5)).unwrap();
        assert_eq!(of(with_five, &all), [(None, Some(7))]);
    }

    #[test]
    fn each_setting_of_the_library_is_tried_again_with_the_best_workers() {
        let start = today("preset:urllib3-usual", Some(20));
        let of_library = ALL.of_library(&start, false);
        let two = of_library.iter().find(|it| it.changes.len() == 2).unwrap();
        let best = two.with(Change::Workers(5)).unwrap();
        let all = ALL.of_client(&[&best], &[], &of_library, usize::MAX);
        let with_five: Vec<_> = all.iter().filter(|it| it.workers() == Some(5)).collect();
        let in_one =
            |it: &&&Candidate| it.changes.iter().filter(|change| !best.changes.contains(change)).count() <= 1;
        assert!(with_five.len() > 3 && with_five.iter().filter(in_one).count() == with_five.len());
        assert!(with_five.iter().any(|it| it.changes.len() == 2), "one of the two has its usual value");
    }

    #[test]
    fn an_answer_that_is_fed_back_is_today_s_setting() {
        let base = today("preset:curl+token-bucket:rate=10/s,burst=1", Some(20));
        let all =
            ALL.of_client(&[&base], &rates(&[vec![10.0]], 1), std::slice::from_ref(&base), MAX_CANDIDATES);
        assert_eq!(all.iter().filter(|candidate| candidate.rate().is_some()).count(), 2);
    }

    #[test]
    fn adaptive_limiters_need_code_unless_any_strategy_can_be_used() {
        let of_preset = ALL.of_library(&today("preset:wget", None), false);
        assert!(of_preset.iter().skip(1).all(|candidate| candidate.is_by_code), "{:?}", texts(&of_preset));
        let all = ALL.of_library(&today("full-jitter", None), false);
        assert_eq!(
            texts(&all),
            ["full-jitter", "full-jitter+aimd", "full-jitter+aws-adaptive", "full-jitter+tailback"]
        );
        assert!(all.iter().all(|candidate| !candidate.is_by_code));
        assert_eq!(texts(&ALL.of_library(&today("aimd", None), false))[0], "aimd");
    }

    #[test]
    fn a_gate_is_tried_with_a_window_or_a_backoff_if_the_server_advises() {
        let gated = |today: &Candidate| {
            let mut all = ALL.of_library(today, true);
            all.retain(|candidate| candidate.without_gate().is_some());
            all
        };
        let all = gated(&today("full-jitter", None));
        assert_eq!(texts(&all), ["full-jitter+tailback", "full-jitter+hold+aimd", "hold+full-jitter"]);
        let without = |number: usize| all[number].without_gate().unwrap().text;
        assert_eq!([without(0), without(1)], ["full-jitter+tailback:hold=off", "full-jitter+aimd"]);
        assert_eq!(texts(&gated(&today("preset:wget", None)))[1], "preset:wget+hold+aimd");
        assert_eq!(texts(&gated(&today("hold+aimd", None)))[0], "hold+aimd", "today's setting");
        assert!(today("tailback:hold=off", None).without_gate().is_none());
    }

    #[test]
    fn options_of_presets_are_set_once() {
        assert_eq!(
            with_option("preset:openai,max-attempts=1,cap=2s+breaker", "max-attempts", "6"),
            "preset:openai,cap=2s,max-attempts=6+breaker"
        );
        assert_eq!(
            with_option("preset:openai, max-attempts = 1", "max-attempts", "6"),
            "preset:openai,max-attempts=6"
        );
    }
}
