//! Tests of lanes on screens of several sizes.

use std::time::Duration;

use loadgen_core::AdvisedWait;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use vocabulary::Instant;

use crate::terminal::Theme;
use crate::terminal::render::render;
use crate::terminal::state::State;
use crate::tests::synthetic_lanes::{end, many, over_http, simulated, start};
use crate::{Lanes, LanesHeader};

const SIZES: [(u16, u16); 4] = [(40, 12), (80, 24), (120, 40), (200, 60)];

fn state() -> State<Lanes> {
    State::new(LanesHeader {
        title: "3 strategies, 5 seeds".to_owned(),
        workload: "2 000 ops, Poisson 1000/s".to_owned(),
        target: "embedded mock server, a fresh one for every run".to_owned(),
        time_scale: 1.0,
    })
}

fn drawn(size: (u16, u16), lanes: &Lanes, state: &State<Lanes>) -> String {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|canvas| render(canvas, lanes, state, Theme::Dark)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..size.1).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn assert_looks(name: &str, lanes: &Lanes, state: &State<Lanes>, sizes: &[(u16, u16)]) {
    for &(width, height) in sizes {
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), drawn((width, height), lanes, state));
    }
}

#[test]
fn over_http_one_runs_one_is_done_and_one_waits() {
    assert_looks("http", &over_http(), &state(), &SIZES);
}

#[test]
fn a_lane_and_the_line_name_the_advice_that_its_run_waits_for() {
    let day = Duration::from_hours(24);
    let last = AdvisedWait { until: Instant::ORIGIN + day, wait: day, advised: day * 3 };
    let mut lanes = over_http();
    let running = lanes.lanes.iter_mut().find_map(|lane| lane.run.as_mut().filter(|_| lane.running)).unwrap();
    (running.snapshot.advised_waits, running.snapshot.in_flight) = (Some((2, last)), 0);
    for size in &SIZES[1..] {
        let drawn = drawn(*size, &lanes, &state());
        assert!(drawn.contains("  2 ops wait until 24 h: the server advised"), "{drawn}");
    }
    let line = crate::lanes_line(&lanes, 1.0);
    let reason = "2 ops wait until 24 h: the server advised 3 days, cut to 24 h (`advice-limit`)";
    assert!(line.ends_with(reason), "{line}");
}

#[test]
fn before_the_first_run_is_over() {
    assert_looks("start", &start(), &state(), &SIZES[..2]);
}

#[test]
fn when_all_is_over() {
    assert_looks("end", &end(), &state(), &SIZES[..2]);
}

#[test]
fn in_virtual_time_lanes_show_runs_and_medians_so_far() {
    assert_looks("simulated", &simulated(), &state(), &SIZES);
}

#[test]
fn where_lanes_do_not_all_fit_the_one_that_runs_is_seen() {
    assert_looks("many", &many(), &state(), &SIZES[..2]);
    let top = drawn((80, 24), &many(), &State { top: Some(0), ..state() });
    assert!(top.contains("aimd:beta=0.01") && top.contains("lanes 1–19 of 25"), "{top}");
    let beyond = drawn((80, 24), &many(), &State { top: Some(usize::MAX), ..state() });
    assert!(beyond.contains("lanes 7–25 of 25"), "{beyond}");
}

#[test]
fn help_lies_over_the_lanes() {
    assert_looks("help", &over_http(), &State { help: true, ..state() }, &SIZES[1..2]);
}

#[test]
fn a_paused_view_does_not_change_and_stopping_is_shown() {
    let paused = State { paused: Some(Box::new(start())), ..state() };
    let screen = drawn((80, 24), &over_http(), &paused);
    assert!(screen.contains("view paused") && screen.contains("seed 1 of 5"), "{screen}");
    let stopping = drawn((80, 24), &over_http(), &State { stopping: true, ..state() });
    assert!(stopping.contains("stopping…"), "{stopping}");
}

#[test]
fn without_colours_nothing_is_coloured() {
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
    terminal.draw(|canvas| render(canvas, &over_http(), &state(), Theme::Monochrome)).unwrap();
    let cells = terminal.backend().buffer().content();
    assert!(cells.iter().all(|cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset)));
}

#[test]
fn no_size_panics() {
    for lanes in [Lanes::default(), start(), over_http(), simulated(), many()] {
        for (width, height) in
            (1..=110).step_by(7).flat_map(|width| (1..=30).map(move |height| (width, height)))
        {
            let state = State { help: width % 7 == 0, ..state() };
            drawn((width, height), &lanes, &state);
        }
        for size in [(300, 12), (40, 100), (500, 100), (77, 24), (100, 13)] {
            drawn(size, &lanes, &state());
        }
    }
}
