//! `constant`: the same delay before every retry.
//!
//! Source: the blog post Exploring backoff (its variant CB, with a delay of 5 ticks; scenario `exploring-backoff`).
//! Clients whose attempts fail at the same time also retry at the same time.

use std::time::Duration;

use crate::part_config::part;
use crate::shape::Shape;
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct Constant = "constant" {
        delay: Duration = Duration::from_secs(1), "wait before every retry";
    }
    summary = "the same delay before every retry";
    rule = "before each retry, the client waits for `delay`";
    source = "scenario exploring-backoff, where it is called CB";
}

part!(Constant: BackOff, |config| Shape { base: config.delay, ..Shape::default() });

#[cfg(test)]
mod tests {
    use crate::testing::delays_ms;

    #[test]
    fn every_retry_waits_the_same() {
        assert_eq!(delays_ms::<3>("constant", 0.5), [1000, 1000, 1000]);
        assert_eq!(delays_ms::<3>("constant:delay=5ms", 0.9), [5, 5, 5]);
    }
}
