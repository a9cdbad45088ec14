//! The dashboard with a synthetic run, to be tried by hand:
//! `cargo run -p tailback-dashboards --example demo [overload|panic|thread-panic]`.

#[path = "../src/tests/synthetic_run.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod synthetic_run;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use dashboards::{Action, Background, Frame, GeneratorState, Header, Liveness, WatchError};
use synthetic_run::SyntheticRun;

fn main() -> Result<(), WatchError> {
    let how = std::env::args().nth(1).unwrap_or_default();
    let (name, run) = match how.as_str() {
        "overload" => ("exponential:jitter=0.5", SyntheticRun::overload()),
        _ => ("aimd", SyntheticRun::aimd()),
    };
    let header = Header {
        strategy: name.to_owned(),
        workload: "2 000 ops, 1000/s".to_owned(),
        target: "made up, cap 50".to_owned(),
        time_scale: 1.0,
        adjustable_limit: (how != "overload").then(|| "cap".to_owned()),
    };
    if how == "thread-panic" {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            panic!("a thread of the demo panics on request");
        });
    }
    let run = RefCell::new(run);
    let start = Instant::now();
    let mut quit_at = None;
    let quit = RefCell::new(&mut quit_at);
    let refresh = |frame: &mut Frame| {
        let elapsed_s = start.elapsed().as_secs_f64();
        assert!(how != "panic" || elapsed_s < 2.0, "the demo panics on request");
        let mut run = run.borrow_mut();
        run.advance(elapsed_s);
        frame.snapshot.clone_from(run.snapshot());
        frame.generator = GeneratorState { cpu_share: 0.03, rss_bytes: 14 << 20, open_connections: 50 };
        let stopped = quit.borrow().is_some_and(|at: Instant| at.elapsed().as_secs_f64() > 1.0);
        if run.is_over() || stopped { Liveness::Over } else { Liveness::Running }
    };
    let act = |action| {
        let change = match action {
            Action::Quit => {
                quit.borrow_mut().get_or_insert_with(Instant::now);
                return None;
            }
            Action::LowerLimit => -5,
            Action::RaiseLimit => 5,
        };
        let mut run = run.borrow_mut();
        run.cap = run.cap.saturating_add_signed(change);
        Some(format!("the cap is {} now", run.cap))
    };
    dashboards::watch(header, Background::Auto, refresh, act)
}
