//! `loadgen sweep` through the built program.

use serde_json::Value;

use crate::support::{interrupted, interrupted_after, loadgen_in};

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sweep(more: &[&str]) -> Value {
    let here = directory();
    let output =
        loadgen_in(here.path(), &[&["sweep", "--simulate", "--quiet", "--json", "-"], more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the sweep is JSON")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[test]
fn every_run_of_a_sweep_equals_the_same_run_done_alone() {
    let args = [
        "--vary",
        "ops=60,150",
        "--vary",
        "aimd.beta=0.5,0.9",
        "--strategies",
        "aimd,none",
        "--repeats",
        "3",
    ];
    let document = sweep(&args);
    let runs = list(&document, "runs");
    assert_eq!(runs.len(), 2 * 2 * 2 * 3);
    for beta in ["0.5", "0.9"] {
        let here = directory();
        let strategy = format!("aimd:beta={beta}");
        let alone = [
            "--simulate",
            "--quiet",
            "--json",
            "-",
            "--ops",
            "150",
            "--seed",
            "2",
            "--strategy",
            strategy.as_str(),
        ];
        let alone: Value =
            serde_json::from_slice(&loadgen_in(here.path(), &alone).stdout).expect("the result is JSON");
        let same = runs
            .iter()
            .find(|run| run["strategy"] == strategy.as_str() && run["seed"] == 2 && run["at"]["ops"] == 150);
        let same = same.expect("the run is in the sweep");
        assert_eq!(same["at"]["aimd.beta"].as_f64(), beta.parse().ok());
        for key in ["ops", "attempts", "makespan_s", "op_latency_ms", "server", "window"] {
            assert_eq!(same[key], alone[key], "{key}");
        }
        assert_eq!(same["config"]["workload"], alone["config"]["workload"]);
    }
}

#[test]
fn rows_and_cells_say_the_same() {
    let here = directory();
    let args =
        ["sweep", "--simulate", "-s", "aimd,full-jitter", "--vary", "max-busy=10..30/3", "--ops", "100"];
    let more = ["--repeats", "4", "--csv", "rows.csv", "--json", "sweep.json"];
    let output = loadgen_in(here.path(), &[&args[..], &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("max-busy") && said.contains("full-jitter"), "{said}");
    let mut rows = csv::Reader::from_path(here.path().join("rows.csv")).expect("the rows were written");
    let headers = rows.headers().expect("there is a header").clone();
    let column = |name: &str| headers.iter().position(|header| header == name).expect("the column");
    let (cap, strategy, attempts) = (column("max-busy"), column("strategy"), column("attempts.total"));
    assert_eq!(cap, 0, "what was varied comes first");
    let rows: Vec<csv::StringRecord> = rows.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 3 * 2 * 4);
    let document: Value = serde_json::from_slice(
        &std::fs::read(here.path().join("sweep.json")).expect("the sweep was written"),
    )
    .expect("it is JSON");
    let cells = list(&document["sweep"], "cells");
    assert_eq!(cells.len(), 3 * 2);
    for cell in cells {
        let of_cell = |row: &&csv::StringRecord| {
            row[cap].parse().ok() == cell["at"]["max_busy"].as_f64() && cell["strategy"] == row[strategy]
        };
        let values: Vec<f64> =
            rows.iter().filter(of_cell).map(|row| row[attempts].parse().expect("a number")).collect();
        assert_eq!(values.len(), 4);
        let mean = values.iter().sum::<f64>() / 4.0;
        let told = cell["figures"]["attempts.total"]["mean"].as_f64().expect("a mean");
        assert!((mean - told).abs() < 1e-9, "{mean} {told}");
    }
}

#[test]
fn the_best_is_estimated_on_seeds_that_the_sweep_has_not_seen() {
    let document = sweep(&["--vary", "aimd.beta=0.5,0.7,0.9", "--ops", "300", "--repeats", "5"]);
    let [best] = &list(&document["sweep"], "best")[..] else { panic!("one best point: {document}") };
    assert_eq!(best["strategy"], "aimd:beta=0.9");
    // Five seeds that follow the sweep's own.
    let here = directory();
    let fresh = ["--simulate", "--quiet", "--json", "-", "-s", "aimd:beta=0.9", "--ops", "300"];
    let fresh = loadgen_in(here.path(), &[&fresh[..], &["--seed", "6", "--repeats", "5"]].concat());
    let fresh: Value = serde_json::from_slice(&fresh.stdout).expect("the result is JSON");
    assert_eq!(best["fresh"]["mean"], fresh["summary"]["makespan_s"]["mean"]);
    assert_ne!(best["fresh"]["mean"], best["in_sweep"]);
    let second = list(&document["sweep"], "cells")
        .iter()
        .filter(|cell| cell["strategy"] != "aimd:beta=0.9")
        .min_by(|one, other| {
            let mean = |cell: &Value| cell["figures"]["makespan_s"]["mean"].as_f64().expect("a mean");
            mean(one).total_cmp(&mean(other))
        });
    let pair = &list(best, "pairs")[0];
    assert_eq!(Some(&pair["second"]), second.map(|cell| &cell["strategy"]));
}

#[test]
fn the_best_strategy_is_determined_for_every_situation() {
    let args = ["--vary", "ops=50,500", "-s", "exponential:jitter=0.5,aimd,oracle,none", "--repeats", "5"];
    let document = sweep(&[&args[..], &["--max-attempts", "50"]].concat());
    let best = list(&document["sweep"], "best");
    // Few ops fit into the server at once, but many must be throttled. The oracle is not ranked, and `none` gives up.
    let winners: Vec<(Option<u64>, &str)> =
        best.iter().map(|one| (one["at"]["ops"].as_u64(), one["strategy"].as_str().unwrap_or(""))).collect();
    assert_eq!(winners, [(Some(50), "exponential:jitter=0.5"), (Some(500), "aimd")]);
    let gave_up = |cell: &&Value| cell["strategy"] == "none" && cell["at"]["ops"] == 500;
    let none = list(&document["sweep"], "cells").iter().find(gave_up).expect("its cell").clone();
    assert_eq!((&none["complete"], &none["rank"]), (&Value::Bool(false), &Value::Null));
}

#[test]
fn a_sweep_does_not_depend_on_the_threads() {
    let args = ["sweep", "--simulate", "--quiet", "--json", "-", "--vary", "ops=50..200/4", "--repeats", "5"];
    let here = directory();
    let with = |threads| loadgen_in(here.path(), &[&args[..], &["--threads", threads]].concat()).stdout;
    assert!(!with("1").is_empty());
    assert!(with("1") == with("3"), "one thread and three differ");
}

#[test]
fn what_cannot_be_varied_is_refused_before_anything_runs() {
    let refused: &[(&[&str], &str)] = &[
        (&["--vary", "opps=1,2"], "did you mean `ops`?"),
        (&["--vary", "aimd.bta=0.5"], "did you mean `beta`?"),
        (&["--vary", "amid.beta=0.5"], "did you mean `aimd`?"),
        (&["--vary", "full-jitter.base=1ms"], "add `full-jitter` to `--strategies`"),
        (&["--vary", "aimd.beta=0.5,1.5"], "1.5"),
        (&["--vary", "ops=5..1/3"], "`5..1/3`"),
        (&["--vary", "ops=1..9"], "`1..9/10`"),
        (&["--vary", "ops=5,5"], "value `5` is repeated"),
        (&["--vary", "ops=5,many"], "ops=many cannot be run"),
        (&["--vary", "ops=5", "--vary", "ops=6"], "varied twice"),
        (&["--vary", "ops=5", "--ops", "7"], "`--ops` is given, too"),
        (&["--vary", "in-flight=5", "--rate", "7"], "in-flight=5 cannot be run"),
        (&["--vary", "max-busy=0,1"], "max-busy=0 cannot be run"),
        (&["--vary", "loss=0,0.1", "-s", "aimd,oracle"], "loss=0.1 cannot be run: `oracle` supports only"),
        (&["--vary", "seed=1,2"], "`--repeats` sets the number of seeds"),
        (&["--vary", "json=1,2"], "is not a flag of the workload or the server"),
        (&["--vary", "aimd.beta=0.5", "-s", "aimd:beta=0.9"], "also set by"),
        (&["--vary", "ops=5", "-s", "aimd,aimd"], "two strategies equal to `aimd`"),
        (&["--vary", "ops=5", "--vary", "rate=6", "--vary", "loss=0"], "at most twice"),
        (&["--vary", "ops=5", "--json", "x", "--csv", "x"], "named for two outputs"),
        (&["--vary", "ops=5", "--json", "x", "--csv", "./x"], "named for two outputs"),
        (
            &["--vary", "ops=1..200/200", "--vary", "rate=1..100/100"],
            "20 000 points are too many; the maximum is 10 000",
        ),
    ];
    for (args, words) in refused {
        let here = directory();
        let left = loadgen_in(here.path(), &[&["sweep", "--simulate"], *args].concat());
        let told = text(&left.stderr);
        assert_eq!(left.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(words), "{args:?}: {told}");
        assert_eq!(std::fs::read_dir(here.path()).expect("the directory").count(), 0, "{args:?} left files");
    }
    let here = directory();
    let nowhere = loadgen_in(here.path(), &["sweep", "--simulate", "--vary", "ops=5", "--csv", "no/x.csv"]);
    assert_eq!(nowhere.status.code(), Some(74), "{}", text(&nowhere.stderr));
}

#[test]
fn an_interrupted_sweep_keeps_its_complete_points() {
    let here = directory();
    let points: Vec<String> = (601..=900).map(|ops| ops.to_string()).collect();
    let vary = format!("ops={}", points.join(","));
    let args = [
        "sweep",
        "--simulate",
        "--vary",
        &vary,
        "--repeats",
        "100",
        "--json",
        "sweep.json",
        "--csv",
        "s.csv",
    ];
    // After twice as many runs as a point has, one point is complete, whatever the order of runs on two threads is.
    let (output, _) = interrupted_after(here.path(), &args, 200);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("stopped by SIGINT: ") && said.contains("of 300 points"), "{said}");
    let document = std::fs::read(here.path().join("sweep.json")).expect("the sweep was written");
    let document: Value = serde_json::from_slice(&document).expect("it is whole");
    let (runs, cells) = (list(&document, "runs").len(), list(&document["sweep"], "cells").len());
    assert!(cells > 0 && runs == 100 * cells, "{runs} runs, {cells} cells");
    let rows = std::fs::read_to_string(here.path().join("s.csv")).expect("the rows were written");
    assert_eq!(rows.lines().count(), runs + 1);
}

/// Existing files are not overwritten.
#[test]
fn a_sweep_interrupted_in_its_first_point_writes_nothing() {
    let here = directory();
    std::fs::write(here.path().join("old.json"), "old").expect("a file");
    let outputs = ["--json", "old.json", "--csv", "new.csv", "--html", "new.html"];
    // The first point takes far longer than the time until the interrupt.
    let workload = ["sweep", "--vary", "max-busy=1,2", "--ops", "9000", "--rate", "10/s"];
    let args = [&workload[..], &outputs].concat();
    let (output, errors) = interrupted(here.path(), &args, "embedded mock server");
    assert_eq!(output.status.code(), Some(130), "{errors:?}");
    assert!(text(&output.stdout).contains("no point was complete"), "{errors:?}");
    let names =
        std::fs::read_dir(here.path()).expect("the directory").map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["old.json"]);
    assert_eq!(std::fs::read(here.path().join("old.json")).expect("it is still there"), b"old");
}

/// The other files and the table are complete.
#[cfg(target_os = "linux")]
#[test]
fn one_unwritable_file_affects_no_other_output() {
    let here = directory();
    let args = ["sweep", "--simulate", "--vary", "ops=20,40", "--repeats", "5", "--csv", "/dev/full"];
    let output = loadgen_in(here.path(), &[&args[..], &["--json", "s.json", "--html", "s.html"]].concat());
    assert_eq!(output.status.code(), Some(74));
    assert!(text(&output.stderr).contains("`/dev/full` (--csv) could not be written"));
    assert!(text(&output.stdout).contains("means of 5 seeds"), "{}", text(&output.stdout));
    let document = std::fs::read(here.path().join("s.json")).expect("the JSON was written");
    let document: Value = serde_json::from_slice(&document).expect("it is whole");
    assert_eq!(list(&document["sweep"], "cells").len() * 5, list(&document, "runs").len());
    assert_eq!(std::fs::read_dir(here.path()).expect("the directory").count(), 2, "temporary files are left");
}

#[test]
fn over_http_a_sweep_goes_point_by_point() {
    let here = directory();
    let args = ["sweep", "--vary", "max-busy=5,20", "--ops", "40", "--rate", "200/s", "--time-scale", "0.2"];
    let output =
        loadgen_in(here.path(), &[&args[..], &["--repeats", "1", "--json", "-", "--quiet"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("the sweep is JSON");
    let caps: Vec<&Value> =
        list(&document, "runs").iter().map(|run| &run["config"]["server_model"]["max_busy"]).collect();
    assert_eq!(caps, [5, 20]);
    assert!(list(&document, "runs").iter().all(|run| run["mode"] == "http" && run["ops"]["succeeded"] == 40));
}

/// Figures are drawn against the varied parameter. `report` makes the same HTML of the saved file, and refuses a broken one.
#[test]
fn a_sweep_report_has_the_answer_the_table_and_the_figures() {
    let here = directory();
    let args =
        ["sweep", "--simulate", "-s", "aimd,none", "--vary", "ops=50,200,300", "--repeats", "4", "--quiet"];
    let output = loadgen_in(here.path(), &[&args[..], &["--html", "a.html", "--json", "a.json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(here.path().join("a.html")).expect("the page was written");
    // `none` gives up above fifty ops, so only the point with fifty ops can offer a choice.
    assert!(page.contains("<td class=\"words\"><code>none</code></td>"), "no line for `none`");
    let (_, points) =
        page.split_once("Every point, on the seeds of the sweep").expect("the table of all points");
    let rows = points.matches("<td class=\"words\"><code>").count();
    assert_eq!(rows, 3 * 2);
    for figure in ["Attempts against ops", "Efficiency against ops", "Makespan against ops"] {
        assert_eq!(page.matches(&format!("<h3>{figure}</h3>")).count(), 1, "{figure}");
    }
    assert!(
        page.contains("loadgen sweep --simulate -s aimd,none --vary ops=50,200,300"),
        "no command to repeat it"
    );
    let again = loadgen_in(here.path(), &["report", "a.json", "-o", "b.html"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    let again = std::fs::read_to_string(here.path().join("b.html")).expect("the page was written");
    assert!(page == again, "the page of the file differs");
    let plotted = loadgen_in(here.path(), &["plot", "a.json", "--figure", "ops"]);
    assert!(text(&plotted.stdout).contains("Attempts against ops"), "{}", text(&plotted.stderr));

    let mut broken: Value =
        serde_json::from_slice(&std::fs::read(here.path().join("a.json")).expect("the file")).expect("JSON");
    broken["sweep"]["cells"][1]["figures"]["attempts.total"]["mean"] = "many".into();
    std::fs::write(here.path().join("a.json"), broken.to_string()).expect("the file can be written");
    let refused = loadgen_in(here.path(), &["report", "a.json", "-o", "c.html"]);
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(told.contains("sweep.cells[1].figures.attempts.total"), "{told}");
}

fn screen(args: &str) -> String {
    let args = format!("sweep --simulate {args}");
    let output = loadgen_in(directory().path(), &args.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let screen = text(&output.stdout);
    assert!(screen.lines().all(|line| line.chars().count() < 80), "{screen}");
    screen
}

#[test]
fn the_first_sentence_names_the_best_strategy_of_each_point() {
    for (name, args) in [
        ("by_point", "-s exponential:jitter=0.5,aimd --vary ops=50,100,500,2000,5000"),
        (
            "four_strategies",
            "-s aimd,full-jitter,cubic,oracle --vary max-busy=10,20,40 --ops 300 --repeats 5",
        ),
        ("parameter", "-s aimd --vary aimd.beta=0.5..0.95/5"),
        ("two_axes", "-s aimd,full-jitter --vary max-busy=10,20 --vary ops=100,200 --repeats 5"),
        ("some_gave_up", "-s none,preset:openai --vary rate=50,200 --repeats 5"),
        ("few_seeds", "-s aimd,full-jitter --vary max-busy=10,20 --ops 300 --repeats 2"),
        ("explained", "-s aimd,full-jitter --vary max-busy=10,20 --ops 300 --explain"),
    ] {
        insta::assert_snapshot!(format!("sweep_{name}"), screen(args));
    }
}

#[test]
fn a_point_has_a_makespan_only_if_all_its_ops_are_done() {
    let args = "sweep --simulate --strategies exponential:max-attempts=3 --ops 200 --repeats 2 --vary max-busy=20,200";
    let output = loadgen_in(directory().path(), &args.split(' ').collect::<Vec<_>>());
    assert!(output.status.success());
    let said = text(&output.stdout);
    let row = |max_busy: &str| {
        let line = said.lines().find(|line| line.split_whitespace().next() == Some(max_busy));
        let line = line.unwrap_or_else(|| panic!("no row of {max_busy}: {said}"));
        line.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let (undone, done) = (row("20"), row("200"));
    assert!(undone.contains(&"–".to_owned()) && undone[1] != "100", "{said}");
    assert!(!done.contains(&"–".to_owned()) && done[1] == "100", "{said}");
}
