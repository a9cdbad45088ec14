//! Properties of every rate algorithm: waits are exact, and never more is accepted than the rule allows.

use std::time::Duration;

use proptest::prelude::*;
use vocabulary::{Configurable, Instant};

use crate::policies::fixed_window::FixedWindow;
use crate::policies::gcra::Gcra;
use crate::policies::growing_rate::GrowingRate;
use crate::policies::leaky_queue::LeakyQueue;
use crate::policies::reserve::Reserve;
use crate::policies::sliding_counter::SlidingCounter;
use crate::policies::sliding_log::SlidingLog;
use crate::policies::token_bucket::TokenBucket;
use crate::policies::{Charge, Decision, RateAlgorithm};

fn before(at: Instant) -> Instant {
    Instant::from_nanos(at.as_nanos() - 1)
}

/// Requests as pairs of the time since the previous one, in microseconds, and the cost.
fn any_requests() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((prop_oneof![Just(0), 0..2_000_u64, 0..400_000_u64], 1..4_u32), 1..60)
}

fn algorithm<L: Configurable>(options: &[(&str, String)]) -> L {
    let options: Vec<_> = options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    L::with_options(&options).expect("options")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Accepted {
    at: Instant,
    wait: Duration,
    cost: u32,
}

fn passes(ruling: Decision) -> bool {
    matches!(ruling, Decision::Pass | Decision::PassAfter(_))
}

/// Returns the accepted requests. Checks that the wait of each rejection ends exactly when the request may pass.
fn accepted<L: RateAlgorithm>(
    algorithm: &L,
    requests: &[(u64, u32)],
) -> Result<Vec<Accepted>, TestCaseError> {
    let (mut state, mut at, mut accepted) = (algorithm.fresh(), Instant::ORIGIN, Vec::new());
    for (gap_us, cost) in requests {
        at = at + Duration::from_micros(*gap_us);
        algorithm.advance(&mut state, at);
        match algorithm.ask(&state, at, *cost) {
            // A delayed request is charged at once; its tokens have arrived when the wait is over.
            passes @ (Decision::Pass | Decision::PassAfter(_)) => {
                algorithm.charge(&mut state, at, *cost);
                let wait = if let Decision::PassAfter(wait) = passes { wait } else { Duration::ZERO };
                accepted.push(Accepted { at, wait, cost: *cost });
            }
            Decision::Reject(Some(wait)) => {
                // State at the end of the wait, with nothing else accepted in between.
                let early = replayed(algorithm, &accepted, before(at + wait), *cost);
                let in_time = replayed(algorithm, &accepted, at + wait, *cost);
                prop_assert!(passes(in_time), "{algorithm:?}: {wait:?} at {at} is too short");
                // A nanosecond earlier the request must not pass at once, nor with the same wait.
                prop_assert!(
                    early != Decision::Pass && early != in_time,
                    "{algorithm:?}: {wait:?} at {at} is too long"
                );
            }
            Decision::Queue => prop_assert!(false, "a law decides at once"),
            Decision::Reject(None) => {
                let later = at + Duration::from_hours(1);
                prop_assert_eq!(replayed(algorithm, &[], later, *cost), Decision::Reject(None));
            }
        }
    }
    Ok(accepted)
}

fn replayed<L: RateAlgorithm>(algorithm: &L, accepted: &[Accepted], at: Instant, cost: u32) -> Decision {
    let mut state = algorithm.fresh();
    for Accepted { at, cost, .. } in accepted {
        algorithm.advance(&mut state, *at);
        assert!(passes(algorithm.ask(&state, *at, *cost)), "asking changes nothing");
        algorithm.charge(&mut state, *at, *cost);
    }
    algorithm.advance(&mut state, at);
    algorithm.ask(&state, at, cost)
}

fn pass_instants(accepted: &[Accepted]) -> impl Iterator<Item = Instant> {
    accepted.iter().map(|accepted| accepted.at + accepted.wait)
}

fn cost_between(accepted: &[Accepted], from: Instant, to: Instant) -> u64 {
    let pass_instants = accepted.iter().map(|accepted| (accepted.at + accepted.wait, accepted.cost));
    pass_instants.filter(|(at, _)| from <= *at && *at <= to).map(|(_, cost)| u64::from(cost)).sum()
}

proptest! {
    /// GCRA makes the same decisions.
    #[test]
    fn a_bucket_admits_its_burst_and_its_refill(
        requests in any_requests(), rate in 1..200_u32, burst in 1..9_u32,
    ) {
        let options = [("rate", format!("{rate}/s")), ("burst", burst.to_string())];
        let taken = accepted(&algorithm::<TokenBucket>(&options), &requests)?;
        prop_assert_eq!(&taken, &accepted(&algorithm::<Gcra>(&options).bucket(), &requests)?);
        for from in pass_instants(&taken) {
            for to in pass_instants(&taken).filter(|to| *to >= from) {
                let comes = to.since(from).as_nanos() * u128::from(rate) / 1_000_000_000;
                prop_assert!(u128::from(cost_between(&taken, from, to)) <= u128::from(burst) + comes);
            }
        }
    }

    #[test]
    fn a_stepwise_bucket_waits_for_its_steps(requests in any_requests(), count in 1..9_u32, burst in 1..9_u32) {
        let options = [("rate", format!("{count}/50ms")), ("burst", burst.to_string()), ("refill", "stepwise".to_owned())];
        let taken = accepted(&algorithm::<TokenBucket>(&options), &requests)?;
        for from in pass_instants(&taken) {
            let steps = |to: Instant| to.as_nanos() / 50_000_000 - from.as_nanos() / 50_000_000;
            for to in pass_instants(&taken).filter(|to| *to >= from) {
                prop_assert!(cost_between(&taken, from, to) <= u64::from(burst) + steps(to) * u64::from(count));
            }
        }
    }

    /// Every token has arrived when it is used, even by a request that waited.
    #[test]
    fn reservations_give_no_more_than_a_bucket(requests in any_requests(), rate in 1..200_u32, burst in 1..9_u32) {
        let options = [("rate", format!("{rate}/s")), ("burst", burst.to_string())];
        let taken = accepted(&algorithm::<Reserve>(&options).bucket(), &requests)?;
        let longest = Duration::from_nanos(500_000_000 / u64::from(rate));
        for from in pass_instants(&taken) {
            for to in pass_instants(&taken).filter(|to| *to >= from) {
                let comes = to.since(from).as_nanos() * u128::from(rate) / 1_000_000_000;
                prop_assert!(u128::from(cost_between(&taken, from, to)) <= u128::from(burst) + comes + 1);
            }
        }
        prop_assert!(taken.iter().all(|accepted| accepted.wait <= longest));
    }

    /// At most the burst is let in ahead of the rate. If all of it waits (delay 0), requests leave at the rate.
    #[test]
    fn a_leaky_queue_lets_requests_in_and_out_at_its_rate(
        requests in any_requests(), rate in 1..200_u32, burst in 0..9_u32, delay in 0..9_u32,
    ) {
        let options = [("rate", format!("{rate}/s")), ("burst", burst.to_string()), ("delay", delay.to_string())];
        let taken = accepted(&algorithm::<LeakyQueue>(&options), &requests)?;
        // Clocks of whole milliseconds may count one more between two instants.
        let leaks = |from: Instant, to: Instant| (to.since(from).as_millis() + 2) * u128::from(rate);
        for (index, first) in taken.iter().enumerate() {
            let mut cost = 0;
            for last in &taken[index..] {
                cost += u128::from(last.cost) * 1000;
                prop_assert!(cost <= u128::from(burst + 1) * 1000 + leaks(first.at, last.at));
            }
        }
        if delay == 0 {
            for from in pass_instants(&taken) {
                for to in pass_instants(&taken).filter(|to| *to >= from) {
                    // A request of cost 3 leaves when the last of three would.
                    let cost = u128::from(cost_between(&taken, from, to)) * 1000;
                    prop_assert!(cost <= 3000 + leaks(from, to));
                }
            }
        }
        let longest = Duration::from_millis(u64::from(burst.saturating_sub(delay) * 1000 / rate));
        prop_assert!(taken.iter().all(|accepted| accepted.wait <= longest));
    }

    #[test]
    fn no_window_holds_more_than_its_limit(requests in any_requests(), limit in 1..9_u32, align in 0..2_usize) {
        let align = ["start", "first"][align].to_owned();
        let options = [("limit", limit.to_string()), ("window", "70ms".to_owned()), ("align", align.clone())];
        let taken = accepted(&algorithm::<FixedWindow>(&options), &requests)?;
        let mut begins = None;
        for at in pass_instants(&taken) {
            let begin = match (align.as_str(), begins) {
                ("start", _) => Instant::from_nanos(at.as_nanos() / 70_000_000 * 70_000_000),
                (_, Some(begin)) if at.since(begin) < Duration::from_millis(70) => begin,
                _ => at,
            };
            begins = Some(begin);
            let end = before(begin + Duration::from_millis(70));
            prop_assert!(cost_between(&taken, begin, end) <= u64::from(limit));
        }
    }

    #[test]
    fn no_stretch_of_time_holds_more_than_a_log_allows(requests in any_requests(), limit in 1..9_u32) {
        let options = [("limit", limit.to_string()), ("window", "70ms".to_owned())];
        let taken = accepted(&algorithm::<SlidingLog>(&options), &requests)?;
        for at in pass_instants(&taken) {
            prop_assert!(cost_between(&taken, at, before(at + Duration::from_millis(70))) <= u64::from(limit));
        }
    }

    #[test]
    fn two_counters_let_at_most_a_limit_into_a_window(requests in any_requests(), limit in 1..9_u32) {
        let options = [("limit", limit.to_string()), ("window", "70ms".to_owned())];
        let taken = accepted(&algorithm::<SlidingCounter>(&options), &requests)?;
        for at in pass_instants(&taken) {
            let begin = Instant::from_nanos(at.as_nanos() / 70_000_000 * 70_000_000);
            prop_assert!(cost_between(&taken, begin, before(begin + Duration::from_millis(70))) <= u64::from(limit));
        }
    }
}

/// Requests with refunds: the time since the previous one in microseconds, the cost, the number of later requests before the refund, and
/// the refund (usually 0).
fn any_refunding() -> impl Strategy<Value = Vec<(u64, u32, usize, u32)>> {
    let gap = prop_oneof![Just(0), 0..2_000_u64, 0..400_000_u64];
    prop::collection::vec((gap, 1..4_u32, 0..8_usize, 0..4_u32), 1..30)
}

/// Charges the requests that pass and applies their refunds. After each step the limit must be as if only the unrefunded parts had ever
/// been charged.
fn refunds_undo_charges<L: RateAlgorithm>(
    algorithm: &L,
    requests: &[(u64, u32, usize, u32)],
) -> Result<(), TestCaseError> {
    let (mut state, mut at) = (algorithm.fresh(), Instant::ORIGIN);
    // The unrefunded part of each charge.
    let mut stayed: Vec<Charge> = Vec::new();
    let mut due: Vec<(usize, usize, u32)> = Vec::new();
    for (index, (gap_us, cost, later, back)) in requests.iter().enumerate() {
        at = at + Duration::from_micros(*gap_us);
        algorithm.advance(&mut state, at);
        if passes(algorithm.ask(&state, at, *cost)) {
            algorithm.charge(&mut state, at, *cost);
            due.push((index + later, stayed.len(), (*back).min(*cost)));
            stayed.push(Charge { at, cost: *cost });
        }
        for (_, charge, back) in due.extract_if(.., |(when, ..)| *when == index) {
            algorithm.refund(&mut state, at, Charge { at: stayed[charge].at, cost: back });
            stayed[charge].cost -= back;
        }
        let mut other = algorithm.fresh();
        for taken in stayed.iter().filter(|taken| taken.cost > 0) {
            algorithm.advance(&mut other, taken.at);
            prop_assert!(
                passes(algorithm.ask(&other, taken.at, taken.cost)),
                "{algorithm:?}: more pass than without giving back"
            );
            algorithm.charge(&mut other, taken.at, taken.cost);
        }
        algorithm.advance(&mut other, at);
        prop_assert_eq!(algorithm.limit_status(&state, at), algorithm.limit_status(&other, at));
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_refund_leaves_the_state_as_if_never_charged(
        requests in any_refunding(), rate in 1..200_u32, burst in 3..9_u32,
    ) {
        let options = [("rate", format!("{rate}/s")), ("burst", burst.to_string())];
        refunds_undo_charges(&algorithm::<TokenBucket>(&options), &requests)?;
        refunds_undo_charges(&algorithm::<Gcra>(&options).bucket(), &requests)?;
        refunds_undo_charges(&algorithm::<Reserve>(&options).bucket(), &requests)?;
        let stepwise = [("rate", format!("{rate}/50ms")), options[1].clone(), ("refill", "stepwise".to_owned())];
        refunds_undo_charges(&algorithm::<TokenBucket>(&stepwise), &requests)?;
        let window = [("limit", burst.to_string()), ("window", "70ms".to_owned())];
        refunds_undo_charges(&algorithm::<FixedWindow>(&window), &requests)?;
        refunds_undo_charges(&algorithm::<SlidingLog>(&window), &requests)?;
    }
}

/// Calls all methods of a rate algorithm with the largest numbers; an overflow would panic in a debug build.
fn bear_extremes<L: RateAlgorithm + Configurable>(options: &[(&str, &str)]) {
    let options: Vec<_> = options.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
    bears_extremes(&algorithm::<L>(&options));
}

fn bears_extremes(algorithm: &impl RateAlgorithm) {
    let mut state = algorithm.fresh();
    let days = |days: u64| Instant::from_millis(days * 86_400_000);
    for at in
        [Instant::ORIGIN, Instant::from_nanos(1), days(1), days(100), days(100_000), Instant::FAR_FUTURE]
    {
        for cost in [1, 1_000_000, u32::MAX] {
            algorithm.advance(&mut state, at);
            match algorithm.ask(&state, at, cost) {
                Decision::Reject(_) => algorithm.turn_away(&mut state, at),
                _ => algorithm.charge(&mut state, at, cost),
            }
            // A rejection that counts.
            algorithm.charge(&mut state, at, cost);
            let limit_status = algorithm.limit_status(&state, at);
            assert!(limit_status.remaining <= limit_status.limit, "{algorithm:?}: {limit_status:?}");
            algorithm.refund(&mut state, at, Charge { at, cost });
            algorithm.refund(&mut state, at, Charge { at: Instant::ORIGIN, cost });
            let limit_status = algorithm.limit_status(&state, at);
            assert!(limit_status.remaining <= limit_status.limit, "{algorithm:?}: {limit_status:?}");
        }
    }
}

#[test]
fn the_largest_numbers_overflow_nothing() {
    for rate in ["1000000000000/1ms", "999999999999/100day", "0.001/100day", "1/100day"] {
        for burst in ["1", "1000000000"] {
            let options = [("rate", rate), ("burst", burst)];
            bear_extremes::<TokenBucket>(&options);
            bear_extremes::<TokenBucket>(&[options[0], options[1], ("refill", "stepwise")]);
            let options = options.map(|(key, value)| (key, value.to_owned()));
            bears_extremes(&algorithm::<Gcra>(&options).bucket());
            bears_extremes(&algorithm::<Reserve>(&options).bucket());
        }
    }
    for rate in ["1000000000000/1ms", "999999999999/100day", "0.001/s"] {
        for (burst, delay) in [("0", "0"), ("1000000000", "0"), ("1000000000", "unlimited")] {
            bear_extremes::<LeakyQueue>(&[("rate", rate), ("burst", burst), ("delay", delay)]);
        }
    }
    for limit in ["1", "1000000000"] {
        for window in ["1ms", "1day"] {
            bear_extremes::<FixedWindow>(&[("limit", limit), ("window", window)]);
            bear_extremes::<FixedWindow>(&[("limit", limit), ("window", window), ("align", "first")]);
            bear_extremes::<SlidingCounter>(&[("limit", limit), ("window", window)]);
            bear_extremes::<SlidingLog>(&[("limit", "1000"), ("window", window)]);
            let steps = [("start", limit), ("by", "1000000000"), ("most", "1000000000"), ("every", "1ms")];
            let [start, by, most, every] = steps;
            bear_extremes::<GrowingRate>(&[start, by, most, every, ("per", "1ms")]);
            bear_extremes::<GrowingRate>(&[start, by, most, every, ("per", "12h"), ("idle", "1day")]);
        }
    }
}
