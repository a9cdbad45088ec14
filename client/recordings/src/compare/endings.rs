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
            (likely < LEVEL).then(|| Difference::new("outcome", expected.to_string(), other.to_string()))
        }
        several => {
            let successes = |(expected, count): &(RecordedEnding, usize)| {
                std::iter::repeat_n(f64::from(u8::from(*expected == RecordedEnding::Success)), *count)
            };
            let recorded: Vec<f64> = several.iter().flat_map(successes).collect();
            let own: Vec<f64> =
                own.iter().map(|ending| f64::from(u8::from(*ending == Ending::Success))).collect();
            let share = |values: &[f64]| {
                format!("{:.1} % successes", 100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64)
            };
            (KolmogorovSmirnov::new(&recorded, &own).p < LEVEL)
                .then(|| Difference::new("outcome", share(&recorded), share(&own)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_ending_must_match_the_strategys_ending() {
        let answer = [Ending::Answer(503); 9];
        assert_eq!(endings(&[(RecordedEnding::Answer(503), 6)], &answer), None);
        assert_eq!(endings(&[(RecordedEnding::Nothing, 6)], &answer), None);
        assert_eq!(endings(&[], &answer), None);
        let differs = endings(&[(RecordedEnding::Success, 6)], &answer).unwrap();
        assert_eq!(differs.to_string(), "outcome: recorded success, here an answer with 503");
        assert!(endings(&[(RecordedEnding::Answer(429), 1)], &answer).is_some());
    }

    #[test]
    fn of_several_endings_the_share_of_successes_counts() {
        let half = [(RecordedEnding::Success, 20), (RecordedEnding::Transport, 20)];
        let mixed: Vec<Ending> = [Ending::Success, Ending::Transport].repeat(100);
        assert_eq!(endings(&half, &mixed), None);
        assert!(endings(&half, &[Ending::Success; 200]).is_some());
    }
}
