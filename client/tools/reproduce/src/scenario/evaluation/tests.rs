//! Tests of verdicts: bounds are open where a sentence is silent, printed numbers are compared by rounding, and single
//! runs are judged where the source had one. The figures of runs are literals.

use super::*;
use crate::scenario::load::{load, parse};
use crate::scenario::{EMBEDDED, Text, embedded};

const FIGURES: [&str; 3] = ["attempts.total", "ops.succeeded", "ops.given_up"];

/// A scenario with the figures of its runs. `runs` returns those of a cell, run by run.
struct Judgement {
    scenario: Scenario,
    cells: Vec<Cell>,
    data: Data,
}

impl Judgement {
    fn new(text: &str, runs: impl Fn(&Cell) -> Vec<[f64; 3]>) -> Self {
        let text = Text { name: "test.toml".to_owned(), text: text.to_owned() };
        let (scenario, cells) = load(&text, &[]).unwrap();
        let mut data = Data::new(cells.len());
        for (index, cell) in cells.iter().enumerate() {
            for run in runs(cell) {
                data.push(index, FIGURES.map(str::to_owned).into_iter().zip(run).collect());
            }
        }
        Self { scenario, cells, data }
    }

    fn of(&self, claim: usize) -> Judged<'_> {
        judge(&self.scenario, &self.scenario.claim[claim], &self.cells, &self.data).unwrap()
    }
}

/// Returns a claim about two ops whose first two attempts are rejected. `a` makes 3 attempts per op, `b` never retries,
/// and in the other experiment nothing is rejected.
fn two_ops(claim: &str) -> Judgement {
    let text = format!(
        "name = \"two\"\ntitle = \"Two ops\"\nrepeats = 2\n[workload]\nat = [\"0s\", \"1s\"]\n[server]\nreject_first = \
         2\n[strategies]\na = \"immediate\"\nb = \"none\"\n[experiment.main]\n[experiment.other]\nserver = {{ reject_first = \
         0 }}\n[[claim]]\nsays = \"Of two ops\"\nexperiment = \"main\"\n{claim}"
    );
    Judgement::new(&text, |cell| match (cell.experiment.as_str(), cell.label.as_str()) {
        ("main", "a") => vec![[6.0, 2.0, 0.0]; 2],
        ("main", _) => vec![[2.0, 0.0, 2.0]; 2],
        _ => vec![[2.0, 2.0, 0.0]; 2],
    })
}

#[test]
fn verdicts_follow_sentences_and_expectations() {
    let of_a = "figure = \"attempts.total\"\nof = \"a\"\n";
    for (claim, value, verdict, as_expected) in [
        ("printed = \"6\"", 6.0, ClaimVerdict::Holds, Some(true)),
        ("above = \"6\"", 6.0, ClaimVerdict::DoesNotHold, Some(false)),
        ("at_least = \"6\"", 6.0, ClaimVerdict::Holds, Some(true)),
        ("above = 6\nmeans = \"m\"\nexpect = \"does-not-hold\"", 6.0, ClaimVerdict::DoesNotHold, Some(true)),
        ("printed = \"6\"\nexpect = \"does-not-hold\"", 6.0, ClaimVerdict::Holds, Some(false)),
        ("printed = \"6\"\nexpect = \"holds-partly\"", 6.0, ClaimVerdict::Holds, Some(false)),
        ("against = \"b\"\nabove = 1", 3.0, ClaimVerdict::Holds, Some(true)),
        ("against = \"b\"\nprinted = \"3.00\"", 3.0, ClaimVerdict::Holds, Some(true)),
        ("against = { experiment = \"other\" }\nprinted = \"3\"", 3.0, ClaimVerdict::Holds, Some(true)),
        ("against = { figure = \"ops.succeeded\" }\nprinted = \"3\"", 3.0, ClaimVerdict::Holds, Some(true)),
        ("stat = \"max\"\nprinted = \"6\"", 6.0, ClaimVerdict::Holds, Some(true)),
        ("stat = \"deviation\"\nprinted = \"0\"", 0.0, ClaimVerdict::Holds, Some(true)),
        ("one_run = true\nabove = \"5\"", 6.0, ClaimVerdict::Holds, Some(true)),
        ("one_run = true\nprinted = \"6\"", 6.0, ClaimVerdict::TooFewRuns, None),
        ("one_run = true\nprinted = \"9\"", 6.0, ClaimVerdict::TooFewRuns, None),
    ] {
        let judgement = two_ops(&format!("{of_a}{claim}"));
        let judged = judgement.of(0);
        assert_eq!((judged.verdict, judged.as_expected()), (verdict, as_expected), "{claim}");
        assert!((judged.found[0].value - value).abs() < 1e-9, "{claim}: {}", judged.found[0].value);
    }
}

#[test]
fn a_claim_on_several_strategies_names_those_that_satisfy_it() {
    let judgement =
        two_ops("figure = \"attempts.total\"\nof = [\"a\", \"b\"]\nabove = \"2\"\nexpect = \"holds-partly\"");
    let judged = judgement.of(0);
    assert_eq!((judged.verdict, judged.as_expected()), (ClaimVerdict::HoldsPartly, Some(true)));
    assert_eq!(judged.ours, "2–6; so: a");
}

#[test]
fn a_figure_is_converted_into_the_unit_of_the_source() {
    let judgement = two_ops("figure = \"ops.given_up\"\nof = \"b\"\nminus = 1\ntimes = 10\nprinted = \"10\"");
    assert_eq!(judgement.of(0).verdict, ClaimVerdict::Holds);
}

#[test]
fn a_claim_may_hold_at_some_points_only() {
    let text = "name = \"points\"\ntitle = \"Points\"\nrepeats = 1\n[workload]\nat = [\"0s\"]\n[strategies]\na = \
                \"immediate\"\n[experiment.main]\nvary = { reject_first = [1, 2, 3] }\n[[claim]]\nsays = \"Three at \
                most\"\nfigure = \"attempts.total\"\nof = \"a\"\nover = [1, 2, 3]\nat_most = \"3\"\nexpect = \
                \"holds-partly\"\n[[claim]]\nsays = \"It grows slower than what is rejected\"\nfigure = \
                \"attempts.total\"\nof = \"a\"\ngrowth = [1, 3]\nbelow = 1\n[[claim]]\nsays = \"More than with one\"\nfigure = \
                \"attempts.total\"\nof = \"a\"\nagainst = { at = 1 }\nover = [2, 3]\nabove = 1\n";
    let judgement = Judgement::new(text, |cell| {
        let rejected = cell.point[0].1.as_integer().unwrap();
        vec![[rejected as f64 + 1.0, 1.0, 0.0]]
    });
    let values = |judged: &Judged<'_>| judged.found.iter().map(|found| found.value).collect::<Vec<_>>();
    let partly = judgement.of(0);
    assert_eq!((partly.verdict, values(&partly)), (ClaimVerdict::HoldsPartly, vec![2.0, 3.0, 4.0]));
    let each: Vec<ClaimVerdict> = partly.found.iter().map(|found| found.verdict).collect();
    assert_eq!(each, [ClaimVerdict::Holds, ClaimVerdict::Holds, ClaimVerdict::DoesNotHold]);
    assert!(partly.ours.ends_with("not: 3"), "{}", partly.ours);
    // log(4 / 2) / log(3 / 1)
    let growth = judgement.of(1);
    assert!((growth.found[0].value - 0.6309).abs() < 1e-4 && growth.verdict == ClaimVerdict::Holds);
    assert_eq!(values(&judgement.of(2)), [1.5, 2.0]);
}

/// Returns a claim about one run of one op that succeeds in `succeeded` of `runs` runs.
fn by_chance(succeeded: usize, runs: usize, claim: &str) -> Judgement {
    let text = format!(
        "name = \"chance\"\ntitle = \"Chance\"\nrepeats = {runs}\none_run = true\n[workload]\nat = [\"0s\"]\n[strategies]\na = \
         \"none\"\n[experiment.main]\n[[claim]]\nsays = \"It succeeds\"\nfigure = \"ops.succeeded\"\nof = \"a\"\n{claim}\n"
    );
    let run = |index: usize| [1.0, f64::from(u8::from(index < succeeded)), 0.0];
    Judgement::new(&text, |_| (0..runs).map(run).collect())
}

#[test]
fn a_sentence_about_one_run_is_judged_by_the_share_of_runs() {
    for (succeeded, verdict) in [
        (101, ClaimVerdict::Holds),
        (100, ClaimVerdict::HoldsPartly),
        (10, ClaimVerdict::HoldsPartly),
        (9, ClaimVerdict::DoesNotHold),
    ] {
        let judgement = by_chance(succeeded, 200, "at_least = \"1\"");
        let judged = judgement.of(0);
        assert_eq!((judged.verdict, judged.found[0].so_in), (verdict, Some(succeeded)));
        assert!(judged.ours.contains(&format!("so in {succeeded} of 200 runs")), "{}", judged.ours);
        assert_eq!(judged.by, "the share of runs");
    }
}

#[test]
fn a_printed_number_of_one_run_lies_in_the_middle_of_ours() {
    // At least 39 runs are needed, because 38 may all be on one side by chance.
    for (succeeded, runs, verdict) in [
        (38, 38, ClaimVerdict::TooFewRuns),
        (39, 39, ClaimVerdict::DoesNotHold),
        (20, 39, ClaimVerdict::Holds),
        (2, 200, ClaimVerdict::Holds),
    ] {
        let judgement = by_chance(succeeded, runs, "printed = \"0\"");
        let judged = judgement.of(0);
        assert_eq!(judged.verdict, verdict, "{succeeded} of {runs}");
        assert_eq!(judged.by, "the middle 95 % of runs");
        assert_eq!(judged.found[0].middle.is_none(), runs == 38);
    }
}

#[test]
fn a_figure_missing_in_some_runs_gives_no_verdict() {
    let text = "name = \"none\"\ntitle = \"None\"\nrepeats = 2\n[strategies]\na = \"none\"\n[experiment.main]\n[[claim]]\nsays = \
                \"Much\"\nfigure = \"attempts.total\"\nof = \"a\"\nabove = \"3\"\n";
    let judgement = Judgement::new(text, |_| vec![[4.0, 1.0, 0.0], [f64::NAN, 1.0, 0.0]]);
    let judged = judgement.of(0);
    assert_eq!(judged.verdict, ClaimVerdict::NoFigure);
    assert_eq!(judged.ours, "a figure in 1 of 2 runs only");
}

#[test]
fn every_bound_that_is_not_the_sources_own_says_why() {
    // Bounds without a reason are rejected elsewhere. Here no reason may refer to our own results.
    let mut readings = 0;
    for (name, _) in EMBEDDED {
        for claim in parse(&embedded(name).unwrap(), &[]).unwrap().claim {
            readings += usize::from(!claim.means.is_empty());
            assert!(!claim.means.contains(" here ") && !claim.means.contains("measured"), "{}", claim.says);
            assert!(!claim.published().is_empty() || claim.ours, "{}", claim.says);
        }
    }
    assert!(readings > 20, "{readings}");
}

#[test]
fn the_middle_of_39_runs_is_all_of_them_and_of_fewer_nothing() {
    let values = |count: u32| (1..=count).rev().map(f64::from).collect::<Vec<_>>();
    assert_eq!(middle(&values(38)), None);
    assert_eq!(middle(&values(39)), Some((1.0, 39.0)));
    assert_eq!(middle(&values(78)), Some((1.0, 78.0)));
    assert_eq!(middle(&values(100)), Some((2.0, 99.0)));
    assert_eq!(middle(&values(199)), Some((5.0, 195.0)));
}
