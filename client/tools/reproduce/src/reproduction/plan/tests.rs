//! Tests of scenarios from their text to their document, in virtual time.

use experiments::runs::stop::Never;
use experiments::runs::virtual_time::VirtualTime;
use results::ClaimVerdict;

use super::*;
use crate::reproduction::document::document;
use crate::reproduction::state::Changes;
use crate::reproduction::tally::Tally;
use crate::scenario::{Text, load};

/// Two ops; the server rejects the first two attempts of each.
const TWO: &str = "name = \"two\"\ntitle = \"Two ops\"\nrepeats = 2\n[workload]\nat = [\"0s\", \"1s\"]\n[server]\nreject_first = 2\n\
    [strategies]\na = \"immediate\"\nb = \"none\"\n[experiment.main]\n[[claim]]\nsays = \"Three each\"\n\
    figure = \"attempts.total\"\nof = \"a\"\nprinted = \"6\"\n[[claim]]\nsays = \"One each\"\nfigure = \"attempts.total\"\n\
    of = \"b\"\nabove = \"2\"\n[plot.calls]\ntitle = \"Calls\"\ndraw = \"calls\"\nstrategies = [\"a\"]\n";

fn reproduction(text: &str, changes: Changes) -> Reproduction {
    let text = Text { name: "two.toml".to_owned(), text: text.to_owned() };
    let (scenario, cells) = load(&text, &[]).unwrap();
    Reproduction::new(scenario, cells, changes)
}

#[test]
fn a_scenario_is_run_judged_drawn_and_written() {
    let mut reproductions = [reproduction(TWO, Changes::default())];
    let driver = VirtualTime::on_threads(Some(2));
    Plan::simulated(&reproductions).drive(&mut reproductions, &driver, &Never, &Nobody).unwrap();
    Plan::drawn(&reproductions).drive(&mut reproductions, &driver, &Never, &Nobody).unwrap();
    let judged = reproductions[0].judged(false);
    let mut tally = Tally::default();
    tally.add(&judged);
    assert_eq!(tally.source.unmet, ["One each"]);
    let written = document(&[(&reproductions[0], judged)], &tally, None);
    let [scenario] = written.scenarios.as_slice() else { panic!("there is one scenario") };
    let attempts: Vec<f64> = scenario.cells.iter().map(|cell| cell.figures["attempts.total"].mean).collect();
    assert_eq!(attempts.iter().map(|mean| format!("{mean:.1}")).collect::<Vec<_>>(), ["6.0", "2.0"]);
    // Runs for plots only are not counted again.
    assert!(scenario.cells.iter().all(|cell| cell.figures["attempts.total"].count == 2));
    let runs = scenario.plots[0].runs.as_ref().unwrap();
    assert_eq!((runs.len(), runs[0].calls.as_ref().unwrap().t_s.len()), (1, 6));
}

/// Runs one op 200 times. Its request is lost with probability `loss`, and so is its response.
fn by_chance(loss: f64) -> Reproduction {
    let text = format!(
        "name = \"chance\"\ntitle = \"Chance\"\nrepeats = 200\none_run = true\n[workload]\nat = [\"0s\"]\ntimeout = \"1s\"\n\
         [server]\nloss = {loss}\n[strategies]\na = \"none\"\n[experiment.main]\n[[claim]]\nsays = \"It succeeds\"\n\
         figure = \"ops.succeeded\"\nof = \"a\"\nat_least = \"1\"\n"
    );
    let mut reproductions = [reproduction(&text, Changes::default())];
    let driver = VirtualTime::on_threads(Some(2));
    Plan::simulated(&reproductions).drive(&mut reproductions, &driver, &Never, &Nobody).unwrap();
    let [done] = reproductions;
    done
}

#[test]
fn a_claim_on_random_runs_holds_in_the_expected_share() {
    for (loss, verdict) in
        [(0.1_f64, ClaimVerdict::Holds), (0.6, ClaimVerdict::HoldsPartly), (0.95, ClaimVerdict::DoesNotHold)]
    {
        let reproduction = by_chance(loss);
        let judged = reproduction.judged(false);
        let so_in = u32::try_from(judged[0].found[0].so_in.unwrap()).unwrap();
        let expected = (1.0 - loss) * (1.0 - loss);
        assert!((f64::from(so_in) / 200.0 - expected).abs() < 0.12, "{so_in} of 200 with a loss of {loss}");
        assert_eq!(judged[0].verdict, verdict, "{so_in} of 200 with a loss of {loss}");
    }
}

/// Repeat `r` uses `seed + r`, which wraps around.
#[test]
fn first_runs_of_all_cells_come_first_and_seeds_count_up() {
    let changes = Changes { repeats: Some(3), seed: Some(u64::MAX) };
    let plan = Plan::simulated(&[reproduction(TWO, changes)]);
    let order: Vec<(u32, usize, u64)> =
        plan.runs.iter().map(|planned| (planned.run.repeat, planned.run.cell, planned.seed)).collect();
    assert_eq!(order, [(0, 0, u64::MAX), (0, 1, u64::MAX), (1, 0, 0), (1, 1, 0), (2, 0, 1), (2, 1, 1)]);
}

/// A scenario without an offer is refused if it is named. Expected durations are scaled to real time.
#[test]
fn over_http_only_offered_experiments_are_planned() {
    let offering = format!("{TWO}[http]\nexperiments = [\"main\"]\ntime_scale = 0.5\nrepeats = 2\n");
    let reproductions = [reproduction(TWO, Changes::default()), reproduction(&offering, Changes::default())];
    let refused = Plan::over_http(&reproductions, HttpChanges { by_name: true, ..HttpChanges::default() });
    assert!(refused.err().unwrap().to_string().contains("scenario `two` cannot be run over HTTP"));
    let plan = Plan::over_http(&reproductions, HttpChanges::default()).unwrap();
    let of: Vec<usize> = plan.runs().map(|run| run.scenario).collect();
    assert_eq!(of, [1, 1, 1, 1]);
    let scale = plan.runs[0].cell.experiment.time_scale;
    assert_eq!(Some(scale), TimeScale::parse("0.5").ok());
    let expected = plan.expected(&Never).unwrap();
    // The second op arrives after a second, which lasts half a second of real time.
    assert!(expected.len() == 2 && expected[0].1 > Duration::from_millis(500), "{expected:?}");
}
