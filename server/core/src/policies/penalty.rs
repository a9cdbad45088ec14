//! Policy that locks out a client for a while after a later stage rejected its request, and bans a client that keeps sending.
//!
//! Source: Cloudflare's API blocks everything for the next 5 minutes above 1200 requests in 5 minutes ("Limits"). With dotnet/dev-proxy's
//! `RetryAfterPlugin`, an early request restarts the wait. Azure Resource Manager and GitHub do not process an early request, and answer it
//! with a new time. Discord bans clients after 10 000 invalid requests in 10 minutes.

use std::time::Duration;

use vocabulary::{Instant, choices, parameters};

use crate::ServiceModel;
use crate::policies::{
    Common, Decision, Keys, Meaningless, PolicyConfig, StagePolicy, StageRequest, downcast,
};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Penalty = "penalty" {
        lock: Duration = Duration::from_mins(5), "time for which a key is locked";
        early: choice Early = Early::Ignore, "effect of a request during a lock: none (`ignore`), or the \
            lock starts anew (`prolong`); with `only`, just requests before the advised time cause a lock";
        /// Number of rejected requests within `ban_window` after which a client is banned. With [`Early::Only`], early requests are counted in
        /// place of rejected requests. The value `u32::MAX` means that no client is banned.
        ban_after: u32 = u32::MAX,
            "number of rejected requests within `ban-window` that cause a ban", 1..=u32::MAX;
        ban_window: Duration = Duration::from_mins(10),
            "time within which rejected requests count towards a ban";
        ban: Duration = Duration::from_hours(1), "duration of a ban";
    }
    summary = "locks out a client for a while after a later policy rejects it";
    rule = "when a later policy rejects a request, its key is locked for `lock`, and this wait is advised if \
        it is the longer one. While a key is locked, all its requests are rejected. Such an early request \
        changes nothing (early=ignore) or starts the lock anew (early=prolong). With early=only, rejections \
        lock no key; only a request before the advised time is rejected, and advised to wait for at least \
        `lock`. A key is banned for `ban` after `ban-after` rejected requests (with early=only: early \
        requests) within a `ban-window`, which starts with the first of them";
    source = "Cloudflare API limits; dotnet/dev-proxy RetryAfterPlugin; Azure Resource Manager; Discord";
}

choices! {
    /// Effect of a request that arrives before the time at which its client was advised to retry.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Early {
        Ignore = "ignore",
        /// An early request restarts the client's lock with its full length.
        Prolong = "prolong",
        /// Only early requests start a lock, so clients that wait as advised are never locked out.
        Only = "only",
    }
}

impl PolicyConfig for Penalty {
    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Box::new(Locks { config: self.clone(), keys: Keys::new(common.keys) }))
    }
}

#[derive(Debug)]
struct Locks {
    config: Penalty,
    keys: Keys<Lock>,
}

#[derive(Debug, Default)]
struct Lock {
    /// End of the client's lock. With [`Early::Only`], also the end of the wait that the client was advised. Requests before this instant
    /// are early.
    until: Instant,
    banned_until: Instant,
    /// Number of requests that count towards a ban, in the window that ends at `window_ends`.
    counted: u32,
    window_ends: Instant,
}

impl Lock {
    fn count(&mut self, at: Instant, config: &Penalty) {
        if at >= self.window_ends {
            self.counted = 0;
            self.window_ends = at + config.ban_window;
        }
        self.counted = self.counted.saturating_add(1);
        if self.counted >= config.ban_after && config.ban_after < u32::MAX {
            self.banned_until = at + config.ban;
            self.window_ends = at;
        }
    }

    fn rest(&self, at: Instant) -> Duration {
        self.until.max(self.banned_until).since(at)
    }
}

impl StagePolicy for Locks {
    fn reconfigure(&mut self, _at: Instant, other: Box<dyn StagePolicy>, _service: &ServiceModel) {
        if let Some(Self { config, .. }) = downcast(other) {
            self.config = config;
        }
    }

    fn ask(&mut self, at: Instant, asked: &StageRequest<'_>, _service: &ServiceModel) -> Decision {
        let Self { config, keys } = self;
        let lock = keys.state(asked.key, Lock::default);
        if lock.rest(at).is_zero() {
            return Decision::Pass;
        }
        // During a ban, an early request does not change the lock and does not count towards a ban.
        if at >= lock.banned_until {
            if config.early != Early::Ignore {
                lock.until = lock.until.max(at + config.lock);
            }
            lock.count(at, config);
        }
        Decision::Reject(Some(lock.rest(at)))
    }

    fn on_later_rejection(
        &mut self,
        at: Instant,
        asked: &StageRequest<'_>,
        wait: Option<Duration>,
    ) -> Option<Duration> {
        let Self { config, keys } = self;
        let lock = keys.state(asked.key, Lock::default);
        match config.early {
            // A request that passed before the lock began may be rejected during the lock. Such a rejection does not restart the lock.
            Early::Ignore if at < lock.until => {}
            Early::Ignore | Early::Prolong => lock.until = at + config.lock,
            Early::Only => {
                let advised = wait.map_or(lock.until, |wait| at + wait);
                lock.until = lock.until.max(advised);
            }
        }
        if config.early != Early::Only && at >= lock.banned_until {
            lock.count(at, config);
        }
        match lock.rest(at) {
            Duration::ZERO => wait,
            rest => Some(wait.map_or(rest, |wait| wait.max(rest))),
        }
    }

    fn meaningless(&self) -> Option<Meaningless> {
        Some(Meaningless {
            keys: &["cost", "refund", "own", "later", "charged"],
            why: "`penalty` does not charge requests",
        })
    }

    fn evicted(&self) -> u64 {
        self.keys.evicted
    }
}
