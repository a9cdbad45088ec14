//! Tests of frames on screens of several sizes.

use std::time::Duration;

use loadgen_core::{AdvisedWait, Snapshot};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use vocabulary::Instant;
use wire::{AdvertisedLimits, AdvertisedRate, AdvertisedSlots};

use super::Theme;
use super::render::render;
use super::state::{State, View};
use crate::figures::Scale;
use crate::tests::synthetic_run::SyntheticRun;
use crate::{Frame, GeneratorState, Header, PolicyName};

const SIZES: [(u16, u16); 4] = [(40, 12), (80, 24), (120, 40), (200, 60)];

fn header(strategy: &str) -> Header {
    Header {
        strategy: strategy.to_owned(),
        workload: "2 000 ops, Poisson 1000/s".to_owned(),
        target: "embedded mockserver, cap 50".to_owned(),
        time_scale: 1.0,
        adjustable_limit: Some("cap".to_owned()),
    }
}

fn frame(snapshot: Snapshot) -> Frame {
    let generator = GeneratorState { cpu_share: 0.034, rss_bytes: 14_300_000, open_connections: 52 };
    Frame { snapshot, generator, ..Frame::default() }
}

fn drawn(size: (u16, u16), frame: &Frame, state: &State) -> String {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|canvas| render(canvas, frame, state, Theme::Dark)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..size.1).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn assert_looks(name: &str, frame: &Frame, state: &State, sizes: &[(u16, u16)]) {
    for &(width, height) in sizes {
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), drawn((width, height), frame, state));
    }
}

#[test]
fn before_anything_happened() {
    assert_looks("start", &Frame::default(), &State::new(header("aimd")), &SIZES);
}

#[test]
fn in_the_middle_of_a_run() {
    let frame = frame(SyntheticRun::aimd().until(12.3));
    assert_looks("middle", &frame, &State::new(header("aimd")), &SIZES);
}

#[test]
fn at_the_end_of_a_run() {
    let frame = frame(SyntheticRun::aimd().until(99.0));
    assert_looks("end", &frame, &State::new(header("aimd")), &SIZES);
}

#[test]
fn the_reason_of_a_long_wait_is_on_every_screen() {
    let day = Duration::from_hours(24);
    let last = AdvisedWait { until: Instant::ORIGIN + day, wait: day, advised: day * 3 };
    let snapshot = Snapshot { advised_waits: Some((1, last)), ..SyntheticRun::aimd().until(12.3) };
    for size in SIZES {
        let drawn = drawn(size, &frame(snapshot.clone()), &State::new(header("aimd")));
        assert!(drawn.contains(" ! 1 op waits until 24 h: the server ad"), "{drawn}");
    }
}

#[test]
fn under_overload_with_failures() {
    let frame = frame(SyntheticRun::overload().until(6.0));
    let state = State::new(header("exponential:jitter=0.5,base=50ms,cap=30s"));
    assert_looks("overload", &frame, &state, &SIZES);
    let logarithmic = State { scale: Scale::Logarithmic, ..state };
    assert_looks("overload_log", &frame, &logarithmic, &SIZES);
}

#[test]
fn each_view_at_full_size() {
    let frame = frame(SyntheticRun::aimd().until(12.3));
    for view in [View::Rates, View::Window, View::Latency] {
        let state = State { view, ..State::new(header("aimd")) };
        assert_looks(&format!("view_{}", view.name()), &frame, &state, &SIZES);
    }
}

#[test]
fn help_lies_over_the_view() {
    let frame = frame(SyntheticRun::aimd().until(12.3));
    let state = State { help: true, ..State::new(header("aimd")) };
    assert_looks("help", &frame, &state, &SIZES);
}

#[test]
fn a_paused_view_is_labelled_and_does_not_change() {
    let paused = frame(SyntheticRun::aimd().until(6.0));
    let live = frame(SyntheticRun::aimd().until(12.3));
    let state = State { paused: Some(Box::new(paused)), ..State::new(header("aimd")) };
    assert_looks("paused", &live, &state, &SIZES[..2]);
    assert!(drawn((80, 24), &live, &state).contains("view paused"));
}

#[test]
fn a_slow_generator_is_named() {
    let mut frame = frame(SyntheticRun::aimd().until(6.0));
    (0..2_000).for_each(|_| frame.snapshot.send_lag.record(Duration::from_millis(25)));
    assert_looks("bottleneck", &frame, &State::new(header("aimd")), &SIZES[..2]);
}

#[test]
fn stopping_and_notices_are_shown() {
    let frame = frame(SyntheticRun::aimd().until(6.0));
    let mut state = State { stopping: true, ..State::new(header("aimd")) };
    state.notice.set("no limit can be changed: the target is not a mock server, or has no limits");
    let screen = drawn((80, 24), &frame, &state);
    assert!(screen.contains("stopping…") && screen.contains("not a mock server"), "{screen}");
}

#[test]
fn rates_tokens_and_shed_ops_are_shown_if_present() {
    let mut frame = frame(SyntheticRun::overload().until(3.0));
    frame.snapshot.gauges.rate_per_s = Some(83.3);
    frame.snapshot.gauges.tokens = Some(12.5);
    frame.snapshot.attempts.shed = 1_234;
    let screen = drawn((120, 40), &frame, &State::new(header("retry-budget")));
    for wanted in ["83/s", "tokens", "12.5", "shed", "1 234"] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
}

#[test]
fn without_colours_nothing_is_coloured() {
    let frame = frame(SyntheticRun::aimd().until(12.3));
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
    let state = State::new(header("aimd"));
    terminal.draw(|canvas| render(canvas, &frame, &state, Theme::Monochrome)).unwrap();
    let cells = terminal.backend().buffer().content();
    assert!(cells.iter().all(|cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset)));
}

#[test]
fn too_small_a_screen_says_what_it_needs() {
    let screen = drawn((30, 8), &Frame::default(), &State::new(header("aimd")));
    assert!(screen.contains("needs 40x12, this is 30x8"), "{screen}");
}

#[test]
fn the_cap_line_follows_a_change_of_the_cap() {
    let mut run = SyntheticRun::aimd();
    run.advance(8.0);
    run.cap = 25;
    run.advance(14.0);
    let state = State { view: View::Window, ..State::new(header("aimd")) };
    assert_looks("cap_lowered", &frame(run.snapshot().clone()), &state, &SIZES[1..2]);
}

#[test]
fn limits_of_a_stack_are_drawn_with_their_policy_names() {
    let mut run = SyntheticRun::aimd();
    let rate =
        |remaining, limit| AdvertisedRate { stage: 0, remaining, limit, window: Duration::from_secs(1) };
    for (until_s, limit) in [(4.0, 100), (8.0, 60)] {
        run.advance(until_s);
        let places = AdvertisedSlots { stage: 1, busy: 30, cap: 40 };
        run.limits = AdvertisedLimits::default().with_slots(places).with_rate(rate(7, limit));
    }
    run.advance(12.0);
    let policy = |name: &str| PolicyName { name: name.to_owned(), is_keyed: name == "concurrent" };
    let mut frame = frame(run.snapshot().clone());
    frame.policies = vec![policy("primary"), policy("concurrent")];
    let header = Header { adjustable_limit: Some("primary".to_owned()), ..header("aimd") };
    assert_looks("limits", &frame, &State::new(header), &SIZES);
}

#[test]
fn no_size_panics() {
    let frames = [Snapshot::default(), SyntheticRun::aimd().until(3.0), SyntheticRun::overload().until(3.0)];
    let mut state = State::new(header("aimd"));
    for frame in frames.map(frame) {
        // One step more, so that each size is drawn with another view for each frame.
        state.view = state.view.further(1);
        for (width, height) in (1..=60).flat_map(|width| (1..=30).map(move |height| (width, height))) {
            state.view = state.view.further(1);
            state.help = width % 7 == 0;
            drawn((width, height), &frame, &state);
        }
    }
}

#[test]
fn wide_and_odd_sizes_do_not_panic() {
    let frame = frame(SyntheticRun::overload().until(3.0));
    let state = State::new(header("a strategy with a very long name, that fits on no screen at all"));
    for size in [(300, 12), (40, 100), (109, 21), (110, 22), (77, 24), (500, 100), (200, 13)] {
        drawn(size, &frame, &state);
    }
}

#[test]
fn ops_that_were_given_up_do_not_look_like_work_that_is_done() {
    let mut snapshot = Snapshot { planned_ops: Some(2000), ..Snapshot::default() };
    snapshot.ops.arrived = 2000;
    snapshot.ops.succeeded = 500;
    snapshot.ops.given_up = 1000;
    snapshot.attempts.total = 1503;
    snapshot.attempts.failed = 1003;
    for _ in 0..1000 {
        snapshot.failures.count(loadgen_core::Cause::Status(404));
    }
    for _ in 0..3 {
        snapshot.failures.count(loadgen_core::Cause::Error(loadgen_core::ErrorKind::Refused));
    }
    for size in SIZES {
        let screen = drawn(size, &frame(snapshot.clone()), &State::new(header("aimd")));
        let bar = screen.lines().find(|line| line.contains('×') && line.contains('█')).expect("a bar");
        let count = |glyph| bar.chars().filter(|char| *char == glyph).count();
        // A quarter succeeded, half was given up, a quarter is left; the percentage takes some columns.
        assert!(count('×').abs_diff(2 * count('█')) < 4 && count('█').abs_diff(count('░')) < 4, "{screen}");
        assert!(bar.contains("75 %") && screen.contains("1 000 given up"), "{screen}");
        assert!(size.0 < 80 || screen.contains("404 ×1 000"), "{screen}");
    }
}
