//! One gate for all requests to a host: retries, backoff, windows, rates and `Retry-After`, decided by one strategy for all callers.
//!
//! A [`Throttle`] runs requests by a strategy of the crate [`tailback`]. All clones of a throttle share the strategy's state. So if the
//! server answers one request with `429` and `Retry-After: 30`, and the strategy holds (as `tailback` and `hold` do), *no* request of the
//! throttle starts for 30 s. A strategy that does not hold, such as `full-jitter`, is accepted, too: then only the rejected request waits.
//! [`Throttle::holds`] returns which kind it is.
//!
//! ```no_run
//! # #[cfg(feature = "reqwest")]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use tailback_http::Throttle;
//!
//! let throttle = Throttle::new("preset:openai+tailback".parse()?)?;
//! let client = reqwest::Client::new();
//! let response = throttle.run(|_attempt| client.get("https://api.example.com/items").send()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What to know first
//!
//! - **Put time limits inside.** A timeout around [`Throttle::run`] drops the future, so the strategy never learns that the server was
//!   slow, and sends as much as before. Limit each attempt with [`Builder::attempt_timeout`] or with the timeout of your HTTP client, and
//!   the whole call with [`Builder::deadline`].
//! - **An attempt ends with the head of its response**, before its body is read. So a window counts requests without a response head.
//! - **Share the throttle**: clone it, or keep one per host with [`Throttles`]. A throttle per request shares nothing.
//! - **Send at once.** An attempt starts when its future is first polled. Fetch tokens and sign requests before [`Throttle::run`], or a hold
//!   that begins meanwhile comes too late.
//! - **A call that was admitted and is not polled keeps its place**, as a permit of tokio's semaphore does. After a hold, this may be the
//!   only place for a while. Do not wait for something else between two polls of [`Throttle::run`].
//!
//! # What may be retried
//!
//! Rejections (429, 503 and 529, with or without `Retry-After`) are retried, because the server did no work. So are connections that could
//! not be made. [`Throttle::run`] does not know the request, so it repeats nothing else. [`Throttle::run_idempotent`] also repeats what may
//! have reached the server: timeouts, closed connections, and other 5xx. Other 4xx are final, unless the strategy has a rule for them, as
//! presets have. The middleware decides by the method and the header `Idempotency-Key`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(missing_docs)]

mod attempt;
mod call;
mod classify;
mod headers;
mod hosts;
mod log;
#[cfg(feature = "reqwest-middleware")]
mod middleware;
mod state;
mod throttle;

pub use attempt::{Attempt, Next, Refused, Repeats, WaitReason};
pub use call::Call;
pub use classify::{Classify, Seen};
pub use headers::{HttpHeaders, server_clock};
pub use hosts::{MAX_KEYS, Throttles};
pub use log::Event;
#[cfg(feature = "reqwest-middleware")]
pub use middleware::{Origin, ThrottleMiddleware, Waited};
pub use tailback;
pub use tailback::{Missing, SpecError, StrategySpec};
pub use throttle::{BuildError, Builder, Error, Throttle};
