//! Limiters, one per file: congestion windows, rates, pacers, carrier sense.

mod aimd;
mod aws_adaptive;
mod bbr;
mod bucket;
mod congestion_window;
mod cubic;
mod curve;
mod delivery_rate;
mod envoy_gradient;
mod ethernet;
mod fixed_window;
mod goodput;
mod least_gap;
mod netflix;
mod netflix_aimd;
mod netflix_gradient;
mod netflix_gradient2;
mod netflix_vegas;
mod new_reno;
mod oracle;
mod palantir;
mod s3_hill_climb;
mod tailback;
mod token_bucket;
mod vector_arc;

pub use ethernet::ETHERNET;
pub use oracle::ORACLE;
pub(crate) use {
    aimd::AimdConfig, aws_adaptive::AwsAdaptiveConfig, bbr::BbrConfig, cubic::CubicConfig,
    envoy_gradient::EnvoyGradientConfig, ethernet::Ethernet, fixed_window::FixedWindow,
    least_gap::LeastGapConfig, netflix_aimd::NetflixAimd, netflix_gradient::NetflixGradient,
    netflix_gradient2::NetflixGradient2, netflix_vegas::NetflixVegas, new_reno::NewRenoConfig,
    oracle::OracleConfig, palantir::PalantirConfig, s3_hill_climb::S3HillClimbConfig,
    tailback::TailbackConfig, token_bucket::TokenBucketConfig, vector_arc::VectorArcConfig,
};

/// Returns the whole part of a limit, as a cast from floating point does in Java and Rust.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "limits are not below zero")]
fn whole_part(limit: f64) -> u32 {
    limit as u32
}
