//! Delivery rate of the server: successes per second, estimated from each success.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation; Linux `net/ipv4/tcp_rate.c`. Each success yields a sample. The
//! sample counts the deliveries between the sending of the attempt and its success, and divides that count by a time.
//! This time is the longer of two: the time in which the delivered attempts were sent, and the time in which they were
//! delivered.

use std::collections::VecDeque;
use std::time::Duration;

use super::bucket::seconds;
use crate::Instant;

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    /// Start of the interval over which the sending rate of the sample is measured. It is the instant at which the most
    /// recently delivered attempt was sent. If no attempt was in flight, it is the instant at which this attempt was
    /// sent.
    first_at: Instant,
    delivered: u64,
    delivered_at: Instant,
    app_limited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Number of successes per second. `None` if the sample covers a time of zero.
    pub(super) per_s: Option<f64>,
    pub(super) over: Duration,
    pub(super) delivered_before: u64,
    pub(super) app_limited: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct DeliveryRate {
    pub(super) delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Number of deliveries up to which new samples are marked as app-limited; 0 if new samples are not marked.
    app_limited_until: u64,
    /// Attempts in flight. The index of an attempt is its sequence number minus `first_seq`. An entry is `None` if its
    /// attempt has ended.
    in_flight: VecDeque<Option<Sent>>,
    first_seq: u64,
}

impl DeliveryRate {
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    pub(super) fn on_sent(&mut self, now: Instant, seq: u64, in_flight: u32) {
        if in_flight == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let sent = Sent {
            at: now,
            first_at: self.first_sent_at,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            app_limited: self.is_app_limited(),
        };
        if self.in_flight.is_empty() {
            self.first_seq = seq;
        }
        match self.slot(seq) {
            Some(slot) => *slot = Some(sent),
            None => self.in_flight.push_back(Some(sent)),
        }
    }

    pub(super) fn on_success(&mut self, now: Instant, seq: u64) -> Option<Sample> {
        let sent = self.on_gone(seq)?;
        self.delivered += 1;
        self.delivered_at = now;
        self.first_sent_at = sent.at;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let over = now.since(sent.delivered_at).max(sent.at.since(sent.first_at));
        let delivered = (self.delivered - sent.delivered) as f64;
        Some(Sample {
            per_s: (!over.is_zero()).then(|| delivered / seconds(over)),
            over,
            delivered_before: sent.delivered,
            app_limited: sent.app_limited,
        })
    }

    /// Marks samples as app-limited until all attempts that are now in flight are delivered. Such samples do not show
    /// the server's limit, because the client could have sent more.
    pub(super) fn on_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    pub(super) fn forget(&mut self, seq: u64) {
        self.on_gone(seq);
    }

    fn on_gone(&mut self, seq: u64) -> Option<Sent> {
        let sent = self.slot(seq)?.take();
        while let Some(None) = self.in_flight.front() {
            self.in_flight.pop_front();
            self.first_seq += 1;
        }
        sent
    }

    fn slot(&mut self, seq: u64) -> Option<&mut Option<Sent>> {
        let index = usize::try_from(seq.checked_sub(self.first_seq)?).ok()?;
        self.in_flight.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn per_s(sample: Option<Sample>) -> f64 {
        sample.and_then(|sample| sample.per_s).expect("it is a sample")
    }

    #[test]
    fn a_steady_stream_shows_its_rate() {
        // One attempt every 10 ms; each takes 100 ms.
        let mut rate = DeliveryRate::default();
        for seq in 0..30 {
            let now = 10 * seq;
            if seq >= 10 {
                let sample = rate.on_success(ms(now), seq - 10);
                if seq >= 20 {
                    assert!((per_s(sample) - 100.0).abs() < 1e-9, "{sample:?}");
                }
            }
            rate.on_sent(ms(now), seq, u32::try_from(seq.min(10)).expect("few"));
        }
        assert_eq!(rate.delivered, 20);
    }

    #[test]
    fn answers_that_come_at_once_do_not_show_more_than_was_sent() {
        let mut rate = DeliveryRate::default();
        for seq in 0..10 {
            rate.on_sent(ms(100 * seq), seq, u32::from(seq > 0));
        }
        // Ten attempts sent within 900 ms, all answered at 1000 ms.
        let last = (0..10).map(|seq| rate.on_success(ms(1000), seq)).last().flatten();
        assert!((per_s(last) - 10.0).abs() < 1e-9, "{last:?}");
    }

    #[test]
    fn what_fails_delivers_nothing_and_is_forgotten() {
        let mut rate = DeliveryRate::default();
        (0..3).for_each(|seq| rate.on_sent(ms(0), seq, 0));
        rate.forget(1);
        rate.forget(0);
        assert_eq!((rate.first_seq, rate.in_flight.len()), (2, 1));
        assert_eq!(rate.on_success(ms(10), 1), None);
        assert!((per_s(rate.on_success(ms(10), 2)) - 100.0).abs() < 1e-9);
        assert!(rate.in_flight.is_empty());
    }

    #[test]
    fn samples_are_app_limited_until_all_in_flight_are_delivered() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(ms(0), 0, 0);
        rate.on_app_limited(1);
        rate.on_sent(ms(1), 1, 1);
        assert_eq!(rate.on_success(ms(9), 0).map(|sample| sample.app_limited), Some(false));
        assert_eq!(rate.on_success(ms(10), 1).map(|sample| sample.app_limited), Some(true));
        assert!(!rate.is_app_limited());
    }
}
