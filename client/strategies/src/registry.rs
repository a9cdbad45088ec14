//! Registry of all parts.

use crate::backoffs::{
    Backoff, Constant, DecorrelatedJitter, EqualJitter, Exponential, FullJitter, Immediate, Linear, NoRetry,
    Thain, Uniform,
};
use crate::budgets::{
    AwsQuota, BreakerConfig, EnvoyAdmission, EnvoyBudget, FailsafeBudget, FailsafeThrottle, FinagleBudget,
    GaxBreaker, GaxThrottle, GoZeroBreaker, RatioBreaker, RetryBudget, SreThrottle, SuccessRateBreaker,
    TowerBudget,
};
use crate::entry::Entry;
use crate::hedgers::{Hedging, PercentileHedging};
use crate::limiters::{
    AimdConfig, AwsAdaptiveConfig, BbrConfig, CubicConfig, EnvoyGradientConfig, Ethernet, FixedWindow,
    LeastGapConfig, NetflixAimd, NetflixGradient, NetflixGradient2, NetflixVegas, NewRenoConfig,
    OracleConfig, PalantirConfig, S3HillClimbConfig, TailbackConfig, TokenBucketConfig, VectorArcConfig,
};

/// Every part, in the order of help texts and reports: retry policies, limiters, budgets, hedging.
pub const STRATEGIES: &[Entry] = &[
    Entry::of::<NoRetry>(),
    Entry::of::<Immediate>(),
    Entry::of::<Constant>(),
    Entry::of::<Uniform>(),
    Entry::of::<Linear>(),
    Entry::of::<Exponential>(),
    Entry::of::<FullJitter>(),
    Entry::of::<EqualJitter>(),
    Entry::of::<DecorrelatedJitter>(),
    Entry::of::<Thain>(),
    Entry::of::<Backoff>(),
    Entry::of::<FixedWindow>(),
    Entry::of::<AimdConfig>(),
    Entry::of::<TailbackConfig>(),
    Entry::of::<NewRenoConfig>(),
    Entry::of::<CubicConfig>(),
    Entry::of::<NetflixAimd>(),
    Entry::of::<NetflixVegas>(),
    Entry::of::<NetflixGradient>(),
    Entry::of::<NetflixGradient2>(),
    Entry::of::<EnvoyGradientConfig>(),
    Entry::of::<PalantirConfig>(),
    Entry::of::<VectorArcConfig>(),
    Entry::of::<S3HillClimbConfig>(),
    Entry::of::<BbrConfig>(),
    Entry::of::<TokenBucketConfig>(),
    Entry::of::<LeastGapConfig>(),
    Entry::of::<AwsAdaptiveConfig>(),
    Entry::of::<Ethernet>(),
    Entry::of::<OracleConfig>(),
    Entry::of::<RetryBudget>(),
    Entry::of::<BreakerConfig>(),
    Entry::of::<AwsQuota>(),
    Entry::of::<FinagleBudget>(),
    Entry::of::<TowerBudget>(),
    Entry::of::<EnvoyBudget>(),
    Entry::of::<FailsafeBudget>(),
    Entry::of::<SreThrottle>(),
    Entry::of::<EnvoyAdmission>(),
    Entry::of::<FailsafeThrottle>(),
    Entry::of::<GaxThrottle>(),
    Entry::of::<GaxBreaker>(),
    Entry::of::<RatioBreaker>(),
    Entry::of::<SuccessRateBreaker>(),
    Entry::of::<GoZeroBreaker>(),
    Entry::of::<Hedging>(),
    Entry::of::<PercentileHedging>(),
];

/// Returns the part with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    STRATEGIES.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests;
