//! `loadgen compare` on a real terminal: one lane for each strategy during the runs, the ranking after them, and a restored terminal
//! however it ends.

use rustix::process::Signal;
use serde_json::Value;

use super::pty::Terminal;
use super::screen::Screen;

/// Blocks of one second each, over HTTP.
const OVER_HTTP: &[&str] = &[
    "compare",
    "--strategies",
    "aimd,fixed-window:window=10",
    "--max-busy",
    "10",
    "--ops",
    "120",
    "--time-scale",
    "0.1",
    "--seed",
    "3",
];

/// Virtual runs that would take far longer than the test.
const SIMULATED: &[&str] =
    &["compare", "--simulate", "--strategies", "aimd,full-jitter", "--ops", "500", "--repeats", "100000"];

fn in_lane(screen: &Screen, strategy: &str, words: &str) -> Option<u64> {
    let lines = screen.lines();
    let rule = |line: &String| line.starts_with('─') && line.contains(strategy);
    let rows = lines.iter().skip_while(|line| !rule(line)).take(5);
    let row = rows.filter(|line| line.contains(words)).last()?;
    let before = row.split(words).next()?.rsplit("  ").next()?;
    before.split_whitespace().last()?.parse().ok()
}

#[test]
fn lanes_are_live_while_strategies_run_and_the_ranking_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("compared.json");
    let terminal =
        Terminal::start(&[OVER_HTTP, &["--repeats", "2", "--json", file.to_str().unwrap()]].concat());
    terminal.wait("a run of aimd goes on", |screen| screen.shows("▶ aimd").then_some(()));
    terminal.wait("the other one's turn comes", |screen| screen.shows("▶ fixed-window").then_some(()));
    let screen = terminal.screen();
    assert!(screen.lines()[0].starts_with("2 strategies, 2 seeds "), "{screen:?}");
    assert!(terminal.is_raw() && !screen.cursor_shown);
    terminal.wait("a run shows its window", |screen| screen.shows("window ").then_some(()));
    for strategy in ["aimd", "fixed-window:window=10"] {
        // Completed runs stay visible beside the current one.
        terminal.wait("runs are counted, and their makespan is shown", |screen| {
            let done = in_lane(screen, strategy, " of 2 runs").filter(|&runs| runs > 0)?;
            screen
                .lines()
                .iter()
                .filter(|line| line.starts_with("makespan") && line.contains(" s"))
                .nth(1)?;
            Some(done)
        });
    }
    let left = terminal.finish().restored("a normal end", 0);
    assert_eq!(left.screen.entered, 1);
    assert!(left.screen.normal.contains("was first in"), "{}", left.screen.normal);
    let document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(4));
}

/// It may be stopped by a key or a signal. Complete blocks are ranked.
#[test]
fn a_stopped_comparison_restores_the_terminal_and_ranks_blocks() {
    type Stop = fn(&mut Terminal);
    let http = [OVER_HTTP, &["--repeats", "1000"]].concat();
    let cases: [(&[&str], Stop, i32, &str); 4] = [
        (&http, |terminal| terminal.press("q"), 130, "the user"),
        (&http, |terminal| terminal.signal(Signal::TERM), 143, "SIGTERM"),
        (SIMULATED, |terminal| terminal.press("\x03"), 130, "the user"),
        (SIMULATED, |terminal| terminal.signal(Signal::INT), 130, "SIGINT"),
    ];
    let begun = cases.map(|(args, stop, code, by)| (Terminal::start(args), args, stop, code, by));
    for (mut terminal, args, stop, code, by) in begun {
        terminal.wait("a block is complete", |screen| {
            let done = |strategy| in_lane(screen, strategy, " of 1").filter(|&runs| runs > 0);
            done("aimd")?;
            if args == SIMULATED { done("full-jitter") } else { done("fixed-window") }
        });
        stop(&mut terminal);
        let left = terminal.finish().restored(&args.join(" "), code);
        for words in [
            "   strategy                   makespan  × best",
            &format!("stopped by {by}: "),
            "seeds were complete",
        ] {
            assert!(left.screen.normal.contains(words), "no `{words}` in: {}", left.screen.normal);
        }
    }
}

/// A notice gives the reason, and the help lists the keys.
#[test]
fn brackets_do_not_change_the_server_of_a_comparison() {
    let mut terminal = Terminal::start(SIMULATED);
    terminal.wait("lanes are shown", |screen| screen.shows("of 100 000 runs").then_some(()));
    terminal.press("[");
    terminal.wait("the key is answered", |screen| {
        screen.shows("all strategies need the same server").then_some(())
    });
    terminal.press("?");
    terminal.wait("the help is shown", |screen| screen.shows("keep the completed seeds").then_some(()));
    terminal.press("q");
    terminal.finish().restored("after the help", 130);
}

#[test]
fn without_lanes_there_are_lines() {
    let start = |flag| {
        let folder = tempfile::tempdir().unwrap();
        let stderr = std::fs::File::create(folder.path().join("stderr")).unwrap();
        let args = [OVER_HTTP, &["--repeats", "2", flag]].concat();
        let terminal = Terminal::start_with(&args, |command| {
            command.stderr(stderr);
        });
        (flag, terminal, folder)
    };
    // Both run at once, because their progress lines take time.
    for (flag, terminal, folder) in ["--no-tui", "--quiet"].map(start) {
        let left = terminal.finish().restored(flag, 0);
        // The best row is bold. Nothing else is drawn.
        let drawn = left.screen.codes - left.screen.styles;
        assert_eq!((drawn, left.screen.entered), (0, 0), "{flag}: {:?}", left.screen.normal);
        let said = std::fs::read_to_string(folder.path().join("stderr")).unwrap();
        let wanted = flag == "--no-tui";
        assert_eq!(said.contains(" of 4 runs  "), wanted, "{flag}: {said}");
        assert_eq!(left.screen.normal.contains("was first in"), wanted, "{flag}: {}", left.screen.normal);
    }
}
