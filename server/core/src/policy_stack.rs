//! The policies of a server: one policy, or several in order, all of which must admit a request.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vocabulary::{Instant, WallTime, did_you_mean};

use crate::list::write_joined;
use crate::policies::{Capacity, Stage, Stages};
use crate::{FieldSelection, Key, Pace, Policy, PolicyError, RateLaw, Script, ServiceModel, quoted};

/// Separator between two policies of a stack. The separator is unambiguous, because a parameter's value never contains a word between
/// spaces.
const JOINT: &str = " then ";

const MAX_STAGES: usize = 16;

/// Policies of a server in the order in which a request passes them, written `A then B`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Policies(Vec<Policy>);

impl Policies {
    pub fn new(policies: Vec<Policy>) -> Result<Self, PolicyError> {
        let refuse = |why| Err(PolicyError::Stack(why));
        if policies.is_empty() || policies.len() > MAX_STAGES {
            return refuse(format!("{} policies are given; give from 1 to {MAX_STAGES}", policies.len()));
        }
        for (index, policy) in policies.iter().enumerate() {
            if index + 1 < policies.len() && !policy.is_stage() {
                return refuse(format!(
                    "policy `{}` serves requests itself, so no other policy can follow it; write it last",
                    policy.name()
                ));
            }
            if let Some(label) = policy.label()
                && policies[..index].iter().any(|before| before.label() == Some(label))
            {
                return refuse(format!("two policies have the name `{label}`; rename one of them"));
            }
        }
        let stages =
            policies.iter().filter_map(|policy| Some((policy, policy.stage(WallTime::VIRTUAL_START)?)));
        let mut slowing = stages.filter(|(_, stage)| stage.gate.stretch(u32::MAX) != 1000);
        if let (Some(last), Some((policy, _))) = (policies.last(), slowing.next())
            && !last.is_stage()
        {
            return refuse(format!(
                "policy `{}` makes services take longer, but `{}` has service times of its own; leave one \
                 of them out",
                policy.name(),
                last.name()
            ));
        }
        Ok(Self(policies))
    }

    pub fn parts(text: &str) -> impl Iterator<Item = &str> {
        text.split(JOINT).map(str::trim)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.0.iter()
    }

    /// Returns a name for each policy. The name is the policy's label, or the name of its kind if it has no label. If a name occurs more
    /// than once, all policies with this name except the first get a number, starting from 2.
    pub fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = Vec::with_capacity(self.0.len());
        for policy in &self.0 {
            let wanted = policy.label().unwrap_or_else(|| policy.name());
            let is_taken = |label: &str, before: &[String]| {
                let typed = self.0.iter().filter_map(Policy::label).any(|typed| typed == label);
                before.iter().any(|there| there == label) || (typed && policy.label() != Some(label))
            };
            let numbered = (2..).map(|number| format!("{wanted}-{number}"));
            let label =
                std::iter::once(wanted.to_owned()).chain(numbered).find(|label| !is_taken(label, &labels));
            labels.extend(label);
        }
        labels
    }

    pub(crate) fn index_of(&self, label: &str) -> Result<usize, String> {
        let labels = self.labels();
        let known = || labels.iter().map(String::as_str);
        labels.iter().position(|known| known == label).ok_or_else(|| {
            let suggestion = did_you_mean(label, known());
            format!("no policy has the name `{label}`{suggestion}; the names are {}", quoted(known()))
        })
    }

    pub(crate) fn with(&self, index: usize, key: &str, value: &str) -> Result<Self, PolicyError> {
        self.with_all(index, &[(key, value)])
    }

    /// Returns the stack with other values of several parameters of one policy. The values need to be valid only together, not one at a
    /// time.
    ///
    /// # Errors
    /// Returns an error that names the invalid value and the accepted values.
    pub(crate) fn with_all(
        &self,
        index: usize,
        changed: &[(impl AsRef<str>, impl AsRef<str>)],
    ) -> Result<Self, PolicyError> {
        let mut policies = self.0.clone();
        if let Some(policy) = policies.get_mut(index) {
            *policy = policy.with(changed)?;
        }
        Ok(Self(policies))
    }

    pub(crate) fn check_changeable(&self, index: usize, key: &str) -> Result<(), String> {
        self.0.get(index).map_or(Ok(()), |policy| policy.check_changeable(key))
    }

    pub(crate) fn stage(&self, index: usize, anchor: WallTime) -> Option<Stage> {
        self.0.get(index)?.stage(anchor)
    }

    /// Returns the indices of the policies that have other parameter values in this stack than in the stack `before`. Returns `None` if the
    /// stacks differ in anything other than parameter values. After such a change, the state of the policies cannot be kept.
    pub(crate) fn other_figures(&self, before: &Self) -> Option<Vec<usize>> {
        let mut pairs = self.0.iter().zip(&before.0);
        let is_same_kind =
            self.0.len() == before.0.len() && pairs.all(|(policy, before)| policy.is_kind_of(before));
        is_same_kind.then(|| (0..self.0.len()).filter(|index| self.0[*index] != before.0[*index]).collect())
    }

    pub fn script(&self) -> Option<&Arc<Script>> {
        self.last().config().script()
    }

    pub fn counts_calls(&self) -> bool {
        self.last().config().counts_calls()
    }

    pub(crate) fn wants(&self) -> FieldSelection {
        let mut wants = FieldSelection::default();
        self.0.iter().for_each(|policy| policy.common.want(&mut wants));
        wants
    }

    /// Builds the initial state of the policies, for a server that started at the calendar time `anchor`. A stack of several policies
    /// always reports its limits in answers. A single policy reports its limit if its kind always does so, or if `are_reported` is true
    /// because answers use templates.
    pub(crate) fn build(&self, are_reported: bool, anchor: WallTime) -> Stages {
        let stages = self.0.iter().filter_map(|policy| policy.stage(anchor)).collect();
        let server = self.last().config().build();
        let advertises_limits = self
            .only()
            .is_none_or(|policy| policy.is_stage() && (are_reported || !policy.config().is_plain_cap()));
        Stages::new(stages, server, advertises_limits)
    }

    pub fn has_cap(&self) -> bool {
        self.0.iter().any(|policy| policy.capacity() == Capacity::Slots)
    }

    /// Returns the maximum number of requests in service at the same time. `None` if it is unknown, for example because the policy has its
    /// own service times. `slots` returns the highest value of the server's own cap, which may change during the run.
    pub(crate) fn max_in_service(
        &self,
        changed: &BTreeSet<usize>,
        slots: impl Fn() -> Option<u32>,
    ) -> Option<u32> {
        if !self.last().is_stage() {
            return None;
        }
        // A policy that counts requests per key or by their cost is left out, because its limit does not bound the number of all requests.
        let counting = self.0.iter().enumerate().filter(|(_, policy)| policy.common.counts_all_alike());
        let caps = counting.map(|(index, policy)| (index, policy.capacity()));
        let mut caps = caps.filter(|(_, capacity)| *capacity != Capacity::Unbounded);
        match (caps.next(), caps.next()) {
            (Some((index, _)), None) if changed.contains(&index) => None,
            (Some((_, Capacity::Slots)), None) => slots(),
            (Some((_, Capacity::Own(cap))), None) => Some(cap),
            _ => None,
        }
    }

    pub(crate) fn longest_window(&self, service: &ServiceModel) -> Duration {
        let windows = self.stages().filter_map(|mut stage| {
            stage.gate.limit_status(Instant::ORIGIN, Key::default(), service)?.window
        });
        windows.max().unwrap_or_default()
    }

    /// Returns the earliest times at which each rate limit can admit requests. Limits without such proven times are left out. The list is
    /// empty if the last policy serves requests with service times of its own.
    pub(crate) fn paces(&self, changed: &BTreeSet<usize>) -> Vec<Pace> {
        if !self.last().is_stage() {
            return Vec::new();
        }
        let lasting = self.0.iter().enumerate().filter(|(index, _)| !changed.contains(index));
        let counting = lasting.filter(|(_, policy)| policy.common.counts_all_alike());
        counting.filter_map(|(_, policy)| policy.config().pace()).collect()
    }

    pub(crate) fn rate_law(&self, changed: &BTreeSet<usize>) -> Option<RateLaw> {
        let limiting = self.0.iter().enumerate().filter(|(_, policy)| !policy.config().limits_nothing());
        match &limiting.collect::<Vec<_>>()[..] {
            [(index, policy)] if policy.common.counts_all_alike() && !changed.contains(index) => {
                policy.config().rate_law()
            }
            _ => None,
        }
    }

    pub(crate) fn is_plannable(&self) -> bool {
        self.only().is_some_and(|policy| policy.config().is_plain_cap())
    }

    pub(crate) fn obeys_rejects_occupy(&self) -> bool {
        self.stages().any(|stage| stage.gate.holds_slots())
    }

    pub(crate) fn mean_service(&self) -> Option<Duration> {
        self.last().config().mean_service()
    }

    pub(crate) fn startup(&self) -> Duration {
        self.last().config().startup()
    }

    fn stages(&self) -> impl Iterator<Item = Stage> {
        self.0.iter().filter_map(|policy| policy.stage(WallTime::VIRTUAL_START))
    }

    fn only(&self) -> Option<&Policy> {
        match &self.0[..] {
            [policy] if policy.is_plain() => Some(policy),
            _ => None,
        }
    }

    fn last(&self) -> &Policy {
        &self.0[self.0.len() - 1]
    }
}

impl Default for Policies {
    fn default() -> Self {
        Self(vec![Policy::default()])
    }
}

impl From<Policy> for Policies {
    fn from(policy: Policy) -> Self {
        Self(vec![policy])
    }
}

impl FromStr for Policies {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(Self::parts(text).map(str::parse).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(&self.0, JOINT, f)
    }
}

impl TryFrom<String> for Policies {
    type Error = PolicyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Policies> for String {
    fn from(policies: Policies) -> Self {
        policies.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Policies, String> {
        text.parse().map_err(|error: PolicyError| error.to_string())
    }

    #[test]
    fn a_stack_is_written_as_it_is_read() {
        let text =
            "primary=fixed-window:limit=10,key=header:authorization then concurrency:cap=3 then gcra:own=yes";
        let stack = read(text).unwrap();
        assert_eq!(stack.labels(), ["primary", "concurrency", "gcra"]);
        let written = stack.to_string();
        assert_eq!(read(&written).unwrap(), stack);
        assert!(
            written.starts_with(
                "primary=fixed-window:limit=10,window=1s,align=start,key=header:authorization then "
            ),
            "{written}"
        );
        assert_eq!(Policies::default().to_string(), "concurrency-cap");
    }

    #[test]
    fn policies_of_one_name_are_numbered() {
        let stack = read("gcra then gcra-2=gcra then gcra then gcra").unwrap();
        assert_eq!(stack.labels(), ["gcra", "gcra-2", "gcra-3", "gcra-4"]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (text, words) in [
            (
                "overwhelmed-queue then gcra",
                "policy `overwhelmed-queue` serves requests itself, so no other policy can follow it",
            ),
            ("a=gcra then a=gcra", "two policies have the name `a`"),
            ("Primary=gcra", "`Primary` is not a valid name for a policy"),
            (
                "descriptor-pool:key=address",
                "policy `descriptor-pool`: it serves requests itself and has no parameter `key`",
            ),
            ("concurrency:own=yes", "policy `concurrency`: a request holds its slot"),
            (
                "penalty:own=yes",
                "policy `penalty`: `penalty` does not charge requests, so `own` has no effect; leave it out",
            ),
            (
                "random:key=address",
                "policy `random`: `random` counts no requests, so `key` has no effect; leave it out",
            ),
            (
                "slow-down then script",
                "policy `slow-down` makes services take longer, but `script` has service times of its own; leave one of them out",
            ),
            ("gcra:key=address,key=all", "policy `gcra` sets `key` twice"),
            (
                "gcra:key=header:x|address,missing=unlimited",
                "policy `gcra`: every request has the key `address`, so `missing=unlimited` has no effect; leave it out, or let `key` include a header without a fallback",
            ),
            ("gcra:missing=unlimited", "policy `gcra`: every request has the key `all`, so"),
            (
                "gcra:key=method&path:2,missing=unlimited",
                "policy `gcra`: every request has the key `method&path:2`, so",
            ),
            (
                "slow-down:missing=unlimited",
                "policy `slow-down`: `slow-down` rejects no request, so `missing` has no effect",
            ),
            ("gcra:missing=none", "policy `gcra`: `missing=none` is not accepted"),
            (
                "gcra:kye=address",
                "policy `gcra` has no parameter `kye` (did you mean `key`?); its parameters are `rate`, `burst`; and, as in every policy, `key`",
            ),
            ("", "unknown policy ``"),
            (&vec!["gcra"; 17].join(" then "), "17 policies are given"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(words), "{text}: {error}");
        }
    }

    /// The slowest limit is the one that may admit nothing for the longest time.
    #[test]
    fn the_longest_window_is_that_of_the_slowest_limit() {
        for (text, secs) in [
            ("concurrency-cap", 0),
            ("overwhelmed-queue", 0),
            ("token-bucket:rate=10/s,burst=50", 5),
            ("fixed-window:window=1m then concurrency:cap=3 then sliding-log:window=90s", 90),
        ] {
            let config = crate::Config { policy: read(text).unwrap(), ..crate::Config::default() };
            assert_eq!(config.longest_window(), Duration::from_secs(secs), "{text}");
        }
    }
}
