//! Limiters, one per file.

mod aimd;
mod aws_adaptive;
mod bucket;
mod cubic;
mod curve;
mod ethernet;
mod fixed_window;
mod goodput;
mod least_gap;
mod netflix;
mod netflix_aimd;
mod netflix_gradient;
mod netflix_gradient2;
mod netflix_vegas;
mod netflix_window;
mod new_reno;
mod oracle;
mod round;
mod s3_hill_climb;
mod token_bucket;

pub(crate) use aimd::AimdConfig;
pub(crate) use aws_adaptive::AwsAdaptiveConfig;
pub(crate) use cubic::CubicConfig;
pub(crate) use ethernet::Ethernet;
pub(crate) use fixed_window::FixedWindow;
pub(crate) use least_gap::LeastGapConfig;
pub(crate) use netflix_aimd::NetflixAimd;
pub(crate) use netflix_gradient::NetflixGradient;
pub(crate) use netflix_gradient2::NetflixGradient2;
pub(crate) use netflix_vegas::NetflixVegas;
pub(crate) use new_reno::NewRenoConfig;
pub use oracle::ORACLE;
pub(crate) use oracle::OracleConfig;
pub(crate) use s3_hill_climb::S3HillClimbConfig;
pub(crate) use token_bucket::TokenBucketConfig;
