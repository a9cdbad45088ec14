//! `token-bucket`: a fixed rate of attempts, with bursts after a pause.
//!
//! Source: kubernetes/client-go `util/flowcontrol/throttle.go`, which uses golang/time `rate/rate.go`. First attempts
//! and retries share one bucket, and each waits for a token. The defaults are those of client-go `rest/config.go` (5
//! per second, bursts of 10).

use super::bucket::Bucket;
use crate::gauges::TOKENS;
use crate::part_config::part;
use crate::{Admit, AttemptEnd, Gauges, Instant, Limiter, LimiterView, Outcome, Status};
use vocabulary::{Rate, parameters};

parameters! {
    pub(crate) struct TokenBucketConfig = "token-bucket" {
        rate: Rate = Rate::per_second(5.0), "maximum rate at which attempts may start", 0.001..=1e9;
        burst: u32 = 10, "maximum number of attempts that may start at once after a pause", 1..=1_000_000;
    }
    summary = "limits attempts to a fixed rate, with bursts after a pause";
    rule = "the bucket starts with `burst` tokens and refills at `rate`, up to `burst`. An attempt takes one \
        token. If there is less than one, it waits (1 - tokens) / rate";
    source = "kubernetes/client-go util/flowcontrol/throttle.go, rest/config.go; golang/time rate/rate.go";
}

part!(TokenBucketConfig: Limiter, |config, _| TokenBucket::new(&config));

struct TokenBucket(Bucket);

impl TokenBucket {
    fn new(config: &TokenBucketConfig) -> Self {
        let burst = f64::from(config.burst);
        Self(Bucket::new(config.rate.per_s(), burst, burst))
    }
}

impl Limiter for TokenBucket {
    fn poll(&self, now: Instant, _view: &LimiterView) -> Admit {
        self.0.admit(now, 1.0)
    }

    fn on_sent(&mut self, now: Instant, _view: &LimiterView) {
        self.0.take(now, 1.0);
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome) {
        if outcome.status == Status::Deferred {
            self.0.refund(now, 1.0);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&TOKENS, self.0.tokens());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ended, view};
    use crate::{Failure, Until};

    fn bucket(rate: f64, burst: u32) -> TokenBucket {
        TokenBucket::new(&TokenBucketConfig { rate: Rate::per_second(rate), burst })
    }

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Returns whether one attempt may start after this many tenths of a second, and starts it if so.
    fn allows(bucket: &mut TokenBucket, tenths: u64) -> bool {
        let now = ms(100 * tenths);
        let go = bucket.poll(now, &view(0, 0)) == Admit::Go;
        if go {
            bucket.on_sent(now, &view(0, 0));
        }
        go
    }

    /// golang/time `rate/rate_test.go`, `TestLimiterBurst1` and `TestLimiterBurst3`: tokens of 100 ms.
    #[test]
    fn the_vectors_of_golang_time_come_out() {
        let mut one = bucket(10.0, 1);
        for (tenths, allowed) in [(0, 1), (1, 1), (2, 1)] {
            let granted = (0..3).filter(|_| allows(&mut one, tenths)).count();
            assert_eq!(granted, allowed, "burst 1, {tenths}");
        }
        let mut three = bucket(10.0, 3);
        for (tenths, asked, allowed) in
            [(0, 2, 2), (0, 2, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (4, 2, 1), (9, 4, 3)]
        {
            let granted = (0..asked).filter(|_| allows(&mut three, tenths)).count();
            assert_eq!(granted, allowed, "burst 3, {tenths}");
        }
    }

    /// client-go's own defaults: ten at once, then one every 200 ms, retries included.
    #[test]
    fn client_go_sends_ten_at_once_and_then_five_per_second() {
        let mut bucket = TokenBucket::new(&TokenBucketConfig::default());
        let (mut now, mut sent) = (ms(0), Vec::new());
        while sent.len() < 14 {
            if let Admit::Wait(Until::At(at)) = bucket.poll(now, &view(0, 0)) {
                now = at;
            } else {
                bucket.on_sent(now, &view(0, 0));
                sent.push(now);
            }
        }
        assert!(sent[..10].iter().all(|at| *at == ms(0)));
        assert_eq!(sent[10..], [200, 400, 600, 800].map(ms));
    }

    #[test]
    fn what_the_server_had_no_room_for_gives_its_token_back() {
        let mut bucket = bucket(1.0, 1);
        assert!(allows(&mut bucket, 0));
        let failed = Outcome::plain(Status::Failed(Failure::Transport));
        bucket.on_ended(ms(0), &ended(0, 1), &failed);
        assert!(!allows(&mut bucket, 0), "what failed was sent");
        bucket.on_ended(ms(0), &ended(0, 1), &Outcome::plain(Status::Deferred));
        assert!(allows(&mut bucket, 0));
    }
}
