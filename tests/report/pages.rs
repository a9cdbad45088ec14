//! Pages and pictures of real runs.

use crate::program::Desk;

#[test]
fn five_strategies_of_thirty_repeats_make_one_small_page() {
    let desk = Desk::new();
    let strategies =
        ["aimd", "exponential:jitter=0.5,base=50ms,cap=30s", "full-jitter", "none", "fixed-window"];
    for (index, strategy) in strategies.iter().enumerate() {
        desk.done(&format!(
            "--simulate --quiet --ops 500 --repeats 30 --strategy {strategy} --json {index}.json"
        ));
    }
    desk.done("report 0.json 1.json 2.json 3.json 4.json -o report.html");
    let page = desk.read("report.html");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(
        page.contains("finished first: 500 ops in") && page.contains("Incomplete: <code>none</code> gave up")
    );
    assert!(page.contains("loadgen --simulate --ops 500 --repeats 30 --strategy aimd</pre>"));
    assert!(page.contains("<dt>seeds</dt><dd>1–30</dd>"));
    assert!(!page.contains("NaN") && !page.contains("/tmp"));
}

#[test]
fn the_only_script_is_the_one_that_the_page_allows() {
    let desk = Desk::new();
    desk.done("--simulate --quiet --ops 50 --json a.json");
    desk.done("report a.json -o -");
    let page = desk.done("report a.json -o -");
    let script = page.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let suite = rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13().unwrap();
    let hash = base64(suite.common.hash_provider.hash(script.as_bytes()).as_ref());
    assert!(page.contains(&format!("script-src 'sha256-{hash}'")), "SCRIPT_HASH must be sha256-{hash}");
}

#[test]
fn short_and_long_runs_draw() {
    let desk = Desk::new();
    for (name, flags) in [("short", "--ops 20 --rate 100/s"), ("long", "--ops 50000 --rate 2000/s")] {
        desk.done(&format!("--simulate --quiet {flags} --json {name}.json"));
        desk.done(&format!("report {name}.json -o {name}.html"));
        for figure in ["rate", "rate-log", "outcomes", "done", "window", "latency", "latency-cdf"] {
            desk.done(&format!("plot {name}.json --figure {figure} -o {name}.svg"));
            let svg = desk.read(&format!("{name}.svg"));
            let line =
                svg.split("class=\"series").nth(1).unwrap().split("class=\"line\" d=\"M").nth(1).unwrap();
            let line = line.split('"').next().unwrap();
            assert!(line.matches('L').count() >= 2 && !svg.contains("NaN"), "{name} {figure}: {line}");
        }
    }
}

#[test]
fn what_a_scenario_varied_is_drawn() {
    let desk = Desk::new();
    let ended = desk.loadgen("reproduce occ --repeats 2 --quiet --json occ.json");
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    desk.done("report occ.json -o occ.html");
    assert!(desk.read("occ.html").contains("Completion time with every kind of jitter"));
    desk.done("plot occ.json --figure clients -o occ.svg");
    assert!(desk.read("occ.svg").contains("decorrelated"));
}

#[test]
fn a_figure_is_drawn_as_text_too() {
    let desk = Desk::new();
    desk.done("--simulate --quiet --json a.json");
    let text = desk.done("plot a.json --figure window");
    assert!(text.starts_with("Window and in flight\n") && text.contains("server's cap"), "{text}");
    let list = desk.done("plot --list");
    assert!(list.lines().count() >= 10 && list.contains("pareto"), "{list}");
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        let letter = |index: usize| char::from(LETTERS[(bits >> (18 - 6 * index)) as usize % 64]);
        (0..4).map(|index| if index <= three.len() { letter(index) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}
