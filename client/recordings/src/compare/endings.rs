//! Comparison of the results that callers got: success, another response, or no response.

use statistics::KolmogorovSmirnov;

use super::LEVEL;
use crate::ending::{Ending, RecordedEnding};
use crate::outcome::Difference;

pub(crate) fn endings(recorded: &[(RecordedEnding, usize)], own: &[Ending]) -> Option<Difference> {
    match recorded {
        [] => None,
        [(expected, count)] => {
            let share = own.iter().filter(|ending| expected.fits(**ending)).count() as f64 / own.len() as f64;
            let likely = libm::pow(share, *count as f64);
            let other = own.iter().find(|ending| !expected.fits(**ending))?;
            (likely < LEVEL).then(|| Difference::new("outcome", expected, other))
        }
        several => {
            let success = RecordedEnding::Known(Ending::Success);
            let successes = several
                .iter()
                .flat_map(|(expected, count)| std::iter::repeat_n(f64::from(*expected == success), *count));
            let recorded: Vec<f64> = successes.collect();
            let own: Vec<f64> = own.iter().map(|ending| f64::from(*ending == Ending::Success)).collect();
            let share = |values: &[f64]| {
                format!("{:.1} % successes", 100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64)
            };
            (KolmogorovSmirnov::new(&recorded, &own).p < LEVEL)
                .then(|| Difference::new("outcome", share(&recorded), share(&own)))
        }
    }
}

/// Comparison of recorded and simulated numbers of attempts per op. If the number is constant in the recording and in the simulation, both
/// numbers must be equal. If only the simulated number varies, the recorded number must be probable. If the recorded number varies, both
/// distributions must be the same.
pub(crate) fn attempts(recorded: &[u32], own: &[u32]) -> Option<Difference> {
    let (Some(first), Some(here)) = (recorded.first(), own.first()) else { return None };
    let is_one = |values: &[u32], one: u32| values.iter().all(|value| *value == one);
    let differs = match (is_one(recorded, *first), is_one(own, *here)) {
        (true, true) => first != here,
        // All recorded ops have the same number of attempts, but the number varies between simulated ops of the strategy. The test computes
        // the probability that the strategy yields the recorded number in every op.
        (true, false) => {
            let share = own.iter().filter(|value| *value == first).count() as f64 / own.len() as f64;
            libm::pow(share, recorded.len() as f64) < LEVEL
        }
        (false, _) => {
            let numbers = |values: &[u32]| values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
            KolmogorovSmirnov::new(&numbers(recorded), &numbers(own)).p < LEVEL
        }
    };
    differs.then(|| Difference::new("attempts", listed(recorded), listed(own)))
}

fn listed(values: &[u32]) -> String {
    let (low, high) = (values.iter().min().unwrap_or(&0), values.iter().max().unwrap_or(&0));
    if low == high {
        return low.to_string();
    }
    let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / values.len() as f64;
    format!("{low} to {high}, {mean:.2} on average")
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_recorded_ending_must_match_the_strategys_ending() {
        let answer = [Ending::Answer(503); 9];
        assert_eq!(endings(&[(RecordedEnding::Known(Ending::Answer(503)), 6)], &answer), None);
        assert_eq!(endings(&[(RecordedEnding::Nothing, 6)], &answer), None);
        assert_eq!(endings(&[], &answer), None);
        let differs = endings(&[(RecordedEnding::Known(Ending::Success), 6)], &answer).unwrap();
        assert_eq!(differs.to_string(), "outcome: recorded success, here an answer with 503");
        assert!(endings(&[(RecordedEnding::Known(Ending::Answer(429)), 1)], &answer).is_some());
    }

    #[test]
    fn of_several_endings_the_share_of_successes_counts() {
        let half =
            [(RecordedEnding::Known(Ending::Success), 20), (RecordedEnding::Known(Ending::Transport), 20)];
        let mixed: Vec<Ending> = [Ending::Success, Ending::Transport].repeat(100);
        assert_eq!(endings(&half, &mixed), None);
        assert!(endings(&half, &[Ending::Success; 200]).is_some());
    }

    fn differs(recorded: &[u32], own: &[u32]) -> bool {
        attempts(recorded, own).is_some()
    }

    #[test]
    fn one_number_must_be_the_same() {
        assert!(!differs(&[3; 6], &[3; 64]) && !differs(&[], &[3]));
        assert!(differs(&[3], &[2; 64]) && differs(&[3; 6], &[2; 64]));
        let listed = attempts(&[3; 6], &[2, 2]).unwrap();
        assert_eq!(listed.to_string(), "attempts: recorded 3, here 2");
    }

    #[test]
    fn where_they_vary_the_distribution_decides() {
        let own: Vec<u32> = (0..2000).map(|op| 8 + op % 4).collect();
        let alike: Vec<u32> = (0..300).map(|op| 8 + op % 4).collect();
        let fewer: Vec<u32> = (0..300).map(|op| 8 + op % 2).collect();
        assert!(!differs(&alike, &own) && differs(&fewer, &own));
        // A single number that is one of the strategy's is likely; the same one twenty times is not.
        assert!(differs(&[9; 20], &own) && !differs(&[9], &own) && differs(&[7], &own));
    }

    #[test]
    fn a_single_deviating_op_is_noise_but_half_of_them_differ() {
        let noisy: Vec<u32> = std::iter::once(1).chain([2; 39]).collect();
        let half: Vec<u32> = [1, 2].repeat(20);
        assert!(!differs(&noisy, &[2; 64]) && differs(&half, &[2; 64]));
    }
}
