//! Answers of literal makespans: ties, leads, and how often equal strategies have a winner.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::testing::run;
use crate::{Mode, RunFigures, RunResult, standings};

/// Returns the answer for strategies with these makespans in seconds, by seed, and these attempts in every run.
fn answer(strategies: &[(&str, Vec<f64>, u64)]) -> Answer {
    let kept = |(name, makespans, attempts): &(&str, Vec<f64>, u64)| {
        let runs: Vec<RunResult> = (1..)
            .zip(makespans)
            .map(|(seed, makespan_s)| run(name, seed, 10, *attempts, *makespan_s))
            .collect();
        ((*name).to_owned(), RunFigures::new(RunFigures::ranked(Score::makespan()), &runs))
    };
    let kept: Vec<_> = strategies.iter().map(kept).collect();
    Answer::new(&standings(&kept, Score::makespan(), 1), Score::makespan())
}

fn sentence(answer: &Answer) -> String {
    answer.sentences(Mode::Simulated).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn around(mean: f64, swing: f64) -> Vec<f64> {
    (0..10).map(|seed| mean * (1.0 + swing * f64::from(seed % 5 - 2))).collect()
}

#[test]
fn few_tied_strategies_are_named_and_many_are_counted() {
    let tied = [("a", around(20.0, 0.05), 30), ("b", around(20.1, 0.01), 20), ("c", around(60.0, 0.01), 20)];
    let answer = answer(&tied);
    assert_eq!(
        sentence(&answer),
        "b and a tie for first: 19.9–20.1 s, not distinguishable; b has fewest attempts. 10 paired seeds, simulated."
    );
    let marks: Vec<String> = answer.rows.iter().map(|row| row.place.mark()).collect();
    assert_eq!(marks, ["1=", "1=", "3"]);
    let many: Vec<_> = ["a", "b", "c", "d", "e"].iter().map(|name| (*name, around(20.0, 0.05), 30)).collect();
    let many = self::answer(&many);
    assert_eq!(sentence(&many), "5 of 5 strategies tie for first: 19.9 s. 10 paired seeds, simulated.");
}

#[test]
fn early_requests_have_a_column_if_any_and_a_sentence_if_the_winner_sends_some() {
    let early = |counts: [[u64; 2]; 2], makespans: usize| {
        let kept = [("a", 20.0), ("b", 60.0)].into_iter().zip(counts).map(|((name, mean), counts)| {
            let of = |(seed, (makespan_s, early)): (u64, (f64, u64))| {
                let mut run = run(name, seed, 10, 30, makespan_s);
                run.advice.early_shared = early;
                run
            };
            let runs = around(mean, 0.01).into_iter().zip(counts.into_iter().cycle()).take(makespans);
            let runs: Vec<RunResult> = (1..).zip(runs).map(of).collect();
            (name.to_owned(), RunFigures::new(RunFigures::ranked(Score::makespan()), &runs))
        });
        Answer::new(&standings(&kept.collect::<Vec<_>>(), Score::makespan(), 1), Score::makespan())
    };
    let cells = |answer: &Answer| {
        let cell = |row: &Row| answer.cell(RankingColumn::Early, row);
        answer.rows.iter().map(cell).collect::<Vec<_>>()
    };
    let winner = early([[1200, 1300], [0, 0]], 10);
    assert!(winner.columns().1.contains(&RankingColumn::Early));
    assert_eq!(cells(&winner), ["1 250", "0"]);
    let sentences = sentence(&winner);
    assert!(
        sentences
            .ends_with("\na sent 1 250 requests per run while the server had asked this client to wait."),
        "{sentences}"
    );
    let one = early([[1, 1], [0, 0]], 1);
    assert!(sentence(&one).ends_with("a sent 1 request while the server had asked this client to wait."));
    let few = sentence(&early([[0, 1], [0, 0]], 10));
    assert!(
        few.ends_with("a sent 5 requests in 10 runs while the server had asked this client to wait."),
        "{few}"
    );
    let loser = early([[0, 0], [0, 1]], 10);
    assert_eq!(cells(&loser), ["0", "0.5"]);
    assert!(!sentence(&loser).contains("asked"));
    let none = early([[0, 0], [0, 0]], 10);
    assert!(!none.has_early() && !none.columns().1.contains(&RankingColumn::Early));
}

#[test]
fn strategies_within_two_percent_are_the_same() {
    let same = answer(&[("a", around(20.0, 0.001), 30), ("b", around(20.1, 0.001), 30)]);
    assert_eq!(
        sentence(&same),
        "a and b are the same to within 2 %: 20.0–20.1 s. 10 paired seeds, simulated."
    );
}

#[test]
fn the_lead_is_that_of_the_best_over_the_next() {
    let clear = answer(&[("a", around(20.0, 0.01), 30), ("b", around(30.0, 0.01), 30)]);
    let lead = clear.lead().unwrap();
    assert!(lead.is_certain && lead.best.strategy == "a");
    assert!((lead.times.unwrap().ratio - 1.5).abs() < 1e-9);
    let alone = answer(&[("a", around(20.0, 0.01), 30)]);
    assert!(alone.lead().is_none());
}

/// Each comparison has five equal strategies.
#[test]
fn at_most_one_comparison_of_equals_in_twenty_has_a_winner() {
    const COMPARISONS: u32 = 1000;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(27);
    // Sum of twelve uniform draws: about normal with variance 1.
    let mut normal =
        || (0..12).map(|_| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).sum::<f64>() - 6.0;
    let mut winners = 0;
    for _ in 0..COMPARISONS {
        // Seeds differ more than strategies, as arrivals make them in real comparisons.
        let seeds: Vec<f64> = (0..10).map(|_| 0.2 * normal()).collect();
        let strategies: Vec<(&str, Vec<f64>, u64)> = ["a", "b", "c", "d", "e"]
            .into_iter()
            .map(|name| {
                (name, seeds.iter().map(|seed| 20.0 * libm::exp(seed + 0.1 * normal())).collect(), 30)
            })
            .collect();
        let answer = answer(&strategies);
        let first = answer.ranked().next().unwrap().place;
        winners += u32::from(matches!(first, RowRank::Ranked { is_tied: false, .. }));
    }
    assert!(winners <= COMPARISONS / 20, "{winners} of {COMPARISONS} comparisons have a winner");
}
