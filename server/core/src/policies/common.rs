//! What every stage of a stack accepts besides its policy's own parameters.

use vocabulary::{Choice, OptionsError, Parameter, ParameterInfo, WallTime};

use crate::details::Wants;
use crate::policies::cost::{CostRule, Refund};
use crate::policies::key::KeyRule;

/// Parameters of every stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Common {
    pub(crate) key: KeyRule,
    pub(crate) keys: u32,
    pub(crate) cost: CostRule,
    pub(crate) refund: Refund,
    pub(crate) own: Own,
    pub(crate) later: Later,
    pub(crate) charged: Charged,
    /// The calendar when the server started: no parameter, but windows may begin by it.
    pub(crate) anchor: WallTime,
}

/// Whether a request counts that the stage itself rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    No,
    Yes,
}

/// What becomes of the charge of a request that something behind the stage rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Later {
    Back,
    Keep,
}

/// When a request is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charged {
    Arrival,
    /// Kong's plugin counts in the log phase: whoever comes before the first answer passes.
    Answer,
}

impl Choice for Own {
    const CHOICES: &'static [(&'static str, Self)] = &[("no", Self::No), ("yes", Self::Yes)];
}

impl Choice for Later {
    const CHOICES: &'static [(&'static str, Self)] = &[("back", Self::Back), ("keep", Self::Keep)];
}

impl Choice for Charged {
    const CHOICES: &'static [(&'static str, Self)] = &[("arrival", Self::Arrival), ("answer", Self::Answer)];
}

impl Default for Common {
    fn default() -> Self {
        Self {
            key: KeyRule::default(),
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

/// Its parameters.
pub(crate) const COMMON: &[Parameter<Common>] = &[
    Parameter::text("key", "for whom requests are counted", |common| &mut common.key),
    Parameter::count(
        "keys",
        "keys that are remembered; who was not seen for longest is forgotten",
        (1, 10_000_000),
        |common| &mut common.keys,
    ),
    Parameter::text("cost", "what a request costs; 1 where nothing says another", |common| &mut common.cost),
    Parameter::text(
        "refund",
        "what an accepted request has cost in the end; the rest comes back",
        |common| &mut common.refund,
    ),
    Parameter::choice("own", "whether a request counts that this policy rejects", |common| &mut common.own),
    Parameter::choice(
        "later",
        "whether a request's charge comes back that something behind this policy rejects",
        |common| &mut common.later,
    ),
    Parameter::choice("charged", "when a request is charged", |common| &mut common.charged),
];

impl Common {
    /// Sets a parameter; `None` when there is none of this key.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<Result<(), OptionsError>> {
        let parameter = COMMON.iter().find(|parameter| parameter.key == key)?;
        Some(parameter.set(self, value).map_err(OptionsError::from))
    }

    /// The parameters that differ from their defaults, with their values.
    pub(crate) fn given(&self) -> Vec<ParameterInfo> {
        let (mut own, mut default) = (self.clone(), Self::default());
        let parameters =
            COMMON.iter().map(|parameter| (parameter.info(&mut own), parameter.info(&mut default)));
        parameters.filter(|(own, default)| own.value != default.value).map(|(own, _)| own).collect()
    }

    /// Whether every request counts as one, whoever it is, from its arrival on.
    pub(crate) fn counts_all_alike(&self) -> bool {
        let default = Self::default();
        let Self { key, cost, refund, charged, .. } = self;
        (key, cost, refund, charged) == (&default.key, &default.cost, &default.refund, &default.charged)
    }

    /// What its parameters are called.
    pub(crate) fn keys() -> impl Iterator<Item = &'static str> + Clone {
        COMMON.iter().map(|parameter| parameter.key)
    }

    /// What of requests it looks at.
    pub(crate) fn want(&self, wants: &mut Wants) {
        self.key.want(wants);
        self.cost.want(wants);
        self.refund.want(wants);
    }
}
