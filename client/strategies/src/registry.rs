//! Registry of all strategy parts.

use crate::backoffs::{
    Backoff, Constant, DecorrelatedJitter, EqualJitter, Exponential, FullJitter, Immediate, Linear, NoRetry,
    Thain, Uniform,
};
use crate::budgets::{
    AwsQuota, BreakerConfig, EnvoyAdmission, EnvoyBudget, FailsafeBudget, FailsafeThrottle, FinagleBudget,
    GaxBreaker, GaxThrottle, GoZeroBreaker, HoldConfig, RatioBreaker, RetryBudget, SreThrottle,
    SuccessRateBreaker, TowerBudget,
};
use crate::entry::Entry;
use crate::hedgers::{Hedging, PercentileHedging};
use crate::limiters::{
    AimdConfig, AwsAdaptiveConfig, BbrConfig, CubicConfig, EnvoyGradientConfig, Ethernet, FixedWindow,
    LeastGapConfig, NetflixAimd, NetflixGradient, NetflixGradient2, NetflixVegas, NewRenoConfig,
    OracleConfig, PalantirConfig, S3HillClimbConfig, TailbackConfig, TokenBucketConfig, VectorArcConfig,
};
use crate::part_config::PartConfig as _;

/// All strategy parts, in the order of help texts and reports: retry policies, limiters, budgets, hedging.
pub static STRATEGIES: &[Entry] = &[
    NoRetry::ENTRY,
    Immediate::ENTRY,
    Constant::ENTRY,
    Uniform::ENTRY,
    Linear::ENTRY,
    Exponential::ENTRY,
    FullJitter::ENTRY,
    EqualJitter::ENTRY,
    DecorrelatedJitter::ENTRY,
    Thain::ENTRY,
    Backoff::ENTRY,
    FixedWindow::ENTRY,
    AimdConfig::ENTRY,
    TailbackConfig::ENTRY,
    NewRenoConfig::ENTRY,
    CubicConfig::ENTRY,
    NetflixAimd::ENTRY,
    NetflixVegas::ENTRY,
    NetflixGradient::ENTRY,
    NetflixGradient2::ENTRY,
    EnvoyGradientConfig::ENTRY,
    PalantirConfig::ENTRY,
    VectorArcConfig::ENTRY,
    S3HillClimbConfig::ENTRY,
    BbrConfig::ENTRY,
    TokenBucketConfig::ENTRY,
    LeastGapConfig::ENTRY,
    AwsAdaptiveConfig::ENTRY,
    Ethernet::ENTRY,
    OracleConfig::ENTRY,
    HoldConfig::ENTRY,
    RetryBudget::ENTRY,
    BreakerConfig::ENTRY,
    AwsQuota::ENTRY,
    FinagleBudget::ENTRY,
    TowerBudget::ENTRY,
    EnvoyBudget::ENTRY,
    FailsafeBudget::ENTRY,
    SreThrottle::ENTRY,
    EnvoyAdmission::ENTRY,
    FailsafeThrottle::ENTRY,
    GaxThrottle::ENTRY,
    GaxBreaker::ENTRY,
    RatioBreaker::ENTRY,
    SuccessRateBreaker::ENTRY,
    GoZeroBreaker::ENTRY,
    Hedging::ENTRY,
    PercentileHedging::ENTRY,
];

/// Returns the registry entry of the strategy part with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    STRATEGIES.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests;
