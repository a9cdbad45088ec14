//! Tests of the comparison's screen at widths that no test of the whole program can set.

use experiments::Experiment;
use experiments::evaluation::comparison::Comparison;
use experiments::runs::blocks::Blocks;
use experiments::runs::driver::Nobody;
use experiments::runs::virtual_time::VirtualTime;
use experiments::servers::server_under_test::ServerUnderTest;
use loadgen_core::{RunConfig, Workload};
use results::{Mode, RunFigures, Score};
use shell::Interrupt;

use crate::compare::Setting;
use crate::compare::screen::screen;

#[test]
fn the_table_fits_terminals_of_all_widths() {
    let experiment = |strategy: &&str| {
        let run = RunConfig {
            workload: Workload { ops: Some(150), ..Workload::default() },
            ..RunConfig::default()
        };
        Experiment { repeats: 5, ..Experiment::of_run(strategy.parse().unwrap(), run) }
    };
    let strategies = [
        "aimd",
        "full-jitter:base=100ms+aimd+retry-budget",
        "full-jitter:base=200ms+aimd+retry-budget",
        "oracle",
    ];
    let experiments: Vec<Experiment> = strategies.iter().map(experiment).collect();
    let server_under_test = ServerUnderTest::Own(Box::default());
    let blocks = Blocks { strategies: &experiments, server_under_test: &server_under_test };
    let figures: Vec<_> = RunFigures::ranked(Score::makespan()).collect();
    let driver = VirtualTime { threads: 1 };
    let measured = blocks.run(&driver, &Interrupt::default(), &Nobody, &figures, &mut |_| ()).unwrap();
    let comparison = Comparison::new(blocks, measured, Score::makespan()).unwrap();
    for width in [40, 57, 60, 75, 80, 100, 120] {
        let setting = Setting {
            blocks,
            mode: Mode::Simulated,
            bottlenecks: 0,
            long_wait: None,
            stopped_by: None,
            explain: false,
            width,
        };
        let text = screen(&comparison, &setting).to_string();
        assert!(text.lines().all(|line| line.chars().count() < width.max(48)), "{width}:\n{text}");
        if [60, 100].contains(&width) {
            insta::assert_snapshot!(format!("compare_at_{width}"), text);
        }
    }
}
