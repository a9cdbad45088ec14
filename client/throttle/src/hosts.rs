//! One throttle per key, such as a host.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use tailback::StrategySpec;

use crate::attempt::Refused;
use crate::throttle::{BuildError, Builder, Throttle};

/// Maximum number of throttles in a collection.
pub const MAX_KEYS: usize = 1024;

/// Throttles with the same settings, one for each key: a host, an account, a route. There are at most [`MAX_KEYS`]. If a further one is
/// needed, the idle one that was used least recently is dropped, with what its strategy has learned. A throttle with open calls or a hold
/// is never dropped.
pub struct Throttles<K> {
    builder: Builder,
    used: Mutex<Used<K>>,
}

struct Used<K> {
    throttles: HashMap<K, (Throttle, u64)>,
    /// Number of uses of all throttles so far.
    count: u64,
}

impl<K: Hash + Eq> Throttles<K> {
    /// Creates an empty collection of throttles with default settings.
    ///
    /// # Errors
    /// Fails if the strategy may retry a call for ever, or has parts for experiments only.
    pub fn new(strategy: &StrategySpec) -> Result<Self, BuildError> {
        Self::with_settings(Builder::new(strategy.clone()))
    }

    /// Creates an empty collection of throttles with these settings.
    ///
    /// # Errors
    /// Fails as [`Builder::build`].
    pub fn with_settings(builder: Builder) -> Result<Self, BuildError> {
        builder.clone().build()?;
        Ok(Self { builder, used: Mutex::new(Used { throttles: HashMap::new(), count: 0 }) })
    }

    /// Returns the throttle of this key.
    ///
    /// # Errors
    /// Fails with [`Refused::Full`] if all throttles are in use.
    pub fn get(&self, key: K) -> Result<Throttle, Refused> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let Used { throttles, count } = &mut *used;
        *count += 1;
        if let Some((throttle, last_use)) = throttles.get_mut(&key) {
            *last_use = *count;
            return Ok(throttle.clone());
        }
        if throttles.len() >= MAX_KEYS {
            let idle = throttles.values().filter(|(throttle, _)| throttle.is_idle());
            let oldest = idle.map(|(_, last_use)| *last_use).min().ok_or(Refused::Full)?;
            throttles.retain(|_, (_, last_use)| *last_use != oldest);
        }
        let throttle = self.builder.clone().build().map_err(|_| Refused::Closed)?;
        throttles.insert(key, (throttle.clone(), *count));
        Ok(throttle)
    }
}

impl<K> fmt::Debug for Throttles<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttles").field("builder", &self.builder).finish_non_exhaustive()
    }
}
