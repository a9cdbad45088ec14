//! Parameters that every stage of a policy stack accepts in addition to the parameters of its policy.

use vocabulary::{OptionsError, Parameter, ParameterInfo, WallTime, choices};

use crate::FieldSelection;
use crate::policies::cost::{CostRule, Refund};
use crate::policies::{Key, KeyRule, Missing};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Common {
    pub(crate) key: KeyRule,
    pub(crate) missing: Missing,
    pub(crate) keys: u32,
    pub(crate) cost: CostRule,
    pub(crate) refund: Refund,
    pub(crate) own: Own,
    pub(crate) later: Later,
    pub(crate) charged: Charged,
    /// Wall-clock time of the server's start. Clock-aligned time windows depend on it. Users cannot set it as a parameter.
    pub(crate) anchor: WallTime,
}

choices! {
    /// Whether a stage also charges the requests that it rejects itself.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Own {
        No = "no",
        Yes = "yes",
    }
}

choices! {
    /// Whether a stage refunds its charge when a later stage or the server rejects the request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Later {
        Back = "back",
        Keep = "keep",
    }
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Charged {
        Arrival = "arrival",
        /// A request is charged only when its response is sent. Kong's plugin works in this way, because it counts requests in its log phase.
        /// Therefore all requests pass that arrive before the first response.
        Answer = "answer",
    }
}

impl Default for Common {
    fn default() -> Self {
        Self {
            key: KeyRule::default(),
            missing: Missing::Shared,
            keys: 100_000,
            cost: CostRule::default(),
            refund: Refund::default(),
            own: Own::No,
            later: Later::Back,
            charged: Charged::Arrival,
            anchor: WallTime::VIRTUAL_START,
        }
    }
}

pub(crate) const COMMON: &[Parameter<Common>] = &[
    Parameter::text(
        "key",
        "property of a request by which clients are distinguished; requests with different values are counted separately",
        |common| &mut common.key,
    ),
    Parameter::choice(
        "missing",
        "whether requests without the headers of `key` are counted together (`shared`) or are not limited by this policy (`unlimited`)",
        |common| &mut common.missing,
    ),
    Parameter::count(
        "keys",
        "maximum number of keys that are counted; beyond it, the least recently used key is evicted",
        1..=10_000_000,
        |common| &mut common.keys,
    ),
    Parameter::text(
        "cost",
        "cost of a request, in units of the limit; 1 if the request does not state its cost",
        |common| &mut common.cost,
    ),
    Parameter::text(
        "refund",
        "actual cost of an accepted request, known at its end; if it is lower than `cost`, the difference is refunded",
        |common| &mut common.refund,
    ),
    Parameter::choice("own", "whether a request that this policy rejects is charged, too", |common| {
        &mut common.own
    }),
    Parameter::choice(
        "later",
        "whether the charge is refunded (`back`) or kept if a later policy rejects the request",
        |common| &mut common.later,
    ),
    Parameter::choice(
        "charged",
        "when a request is charged: at its arrival, or when it is answered",
        |common| &mut common.charged,
    ),
];

impl Common {
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<Result<(), OptionsError>> {
        let parameter = COMMON.iter().find(|parameter| parameter.key == key)?;
        Some(parameter.set(self, value).map_err(OptionsError::from))
    }

    pub(crate) fn all(&self) -> Vec<ParameterInfo> {
        let mut own = self.clone();
        COMMON.iter().map(|parameter| parameter.info(&mut own)).collect()
    }

    pub(crate) fn given(&self) -> Vec<ParameterInfo> {
        let (mut own, mut default) = (self.clone(), Self::default());
        let parameters =
            COMMON.iter().map(|parameter| (parameter.info(&mut own), parameter.info(&mut default)));
        parameters.filter(|(own, default)| own.value != default.value).map(|(own, _)| own).collect()
    }

    /// True if every request counts as 1 from its arrival, regardless of its sender. This is the case if key, cost, refund and time of the
    /// charge have their defaults.
    pub(crate) fn counts_all_alike(&self) -> bool {
        let default = Self::default();
        let Self { key, cost, refund, charged, .. } = self;
        (key, cost, refund, charged) == (&default.key, &default.cost, &default.refund, &default.charged)
    }

    /// Whether the stage does not apply to requests with this key.
    #[inline]
    pub(crate) fn exempts(&self, key: Key) -> bool {
        self.missing == Missing::Unlimited && key == Key::default()
    }

    pub(crate) fn keys() -> impl Iterator<Item = &'static str> + Clone {
        COMMON.iter().map(|parameter| parameter.key)
    }

    pub(crate) fn want(&self, wants: &mut FieldSelection) {
        self.key.want(wants);
        self.cost.0.iter().chain(&self.refund.0).for_each(|source| source.want(wants));
    }
}
