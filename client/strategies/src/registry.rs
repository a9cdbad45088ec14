//! Registry of all strategy parts.

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

/// All strategy parts, in the order of help texts and reports: retry policies, limiters, budgets, hedging.
pub static STRATEGIES: &[Entry] = &[
    Entry::new::<NoRetry>(),
    Entry::new::<Immediate>(),
    Entry::new::<Constant>(),
    Entry::new::<Uniform>(),
    Entry::new::<Linear>(),
    Entry::new::<Exponential>(),
    Entry::new::<FullJitter>(),
    Entry::new::<EqualJitter>(),
    Entry::new::<DecorrelatedJitter>(),
    Entry::new::<Thain>(),
    Entry::new::<Backoff>(),
    Entry::new::<FixedWindow>(),
    Entry::new::<AimdConfig>(),
    Entry::new::<TailbackConfig>(),
    Entry::new::<NewRenoConfig>(),
    Entry::new::<CubicConfig>(),
    Entry::new::<NetflixAimd>(),
    Entry::new::<NetflixVegas>(),
    Entry::new::<NetflixGradient>(),
    Entry::new::<NetflixGradient2>(),
    Entry::new::<EnvoyGradientConfig>(),
    Entry::new::<PalantirConfig>(),
    Entry::new::<VectorArcConfig>(),
    Entry::new::<S3HillClimbConfig>(),
    Entry::new::<BbrConfig>(),
    Entry::new::<TokenBucketConfig>(),
    Entry::new::<LeastGapConfig>(),
    Entry::new::<AwsAdaptiveConfig>(),
    Entry::new::<Ethernet>(),
    Entry::new::<OracleConfig>(),
    Entry::new::<RetryBudget>(),
    Entry::new::<BreakerConfig>(),
    Entry::new::<AwsQuota>(),
    Entry::new::<FinagleBudget>(),
    Entry::new::<TowerBudget>(),
    Entry::new::<EnvoyBudget>(),
    Entry::new::<FailsafeBudget>(),
    Entry::new::<SreThrottle>(),
    Entry::new::<EnvoyAdmission>(),
    Entry::new::<FailsafeThrottle>(),
    Entry::new::<GaxThrottle>(),
    Entry::new::<GaxBreaker>(),
    Entry::new::<RatioBreaker>(),
    Entry::new::<SuccessRateBreaker>(),
    Entry::new::<GoZeroBreaker>(),
    Entry::new::<Hedging>(),
    Entry::new::<PercentileHedging>(),
];

/// Returns the registry entry of the strategy part with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    STRATEGIES.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests;
