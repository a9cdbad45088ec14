//! Choice of one setting for a client, over all servers that are plausible.
//!
//! Users rarely know a server's limits exactly. A setting is therefore chosen over many servers: the nominal server, the ends and corners
//! of the ranges that the user is unsure about, and a few servers drawn at random. The best setting for the nominal server alone can leave
//! most of the work undone on another plausible one.
//!
//! Everything here is free of IO. The caller makes the runs that [`Search`] requests.

mod budget;
mod candidate;
mod decision;
mod fresh;
mod look_up;
mod observed;
mod range;
mod search;
mod servers;

/// Maximum mean number of attempts per op. A run that exceeds it is ended with ops undone, because strategies that ignore rejections would
/// send millions of attempts.
pub const MAX_ATTEMPTS_PER_OP: u32 = 100;

pub use budget::{MAX_SEARCH_ATTEMPTS, share_of_ops};
pub use candidate::{
    Candidate, Candidates, Change, MAX_CANDIDATES, RateLimit, knobs, rates, with_rate, without_rate,
};
pub use decision::{choose, excess, ordered};
pub use fresh::{FRESH_SEEDS, FRESH_SERVERS, Fresh, FreshServer};
pub use look_up::{LookUp, MAX_LOOK_UPS, groups, look_ups};
pub use observed::{Goal, Observed, RunTable};
pub use range::{MAX_RANGES, Notation, Plausible, Range, RangeError, times};
pub use search::{Search, Shortened};
pub use servers::{PlausibleServer, Position, drawn, extremes, search_servers};
