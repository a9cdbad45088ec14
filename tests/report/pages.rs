//! Reports and plots of real runs.

use crate::support::Folder;

#[test]
fn five_strategies_of_thirty_repeats_make_one_small_page() {
    let folder = Folder::new();
    let strategies =
        ["aimd", "exponential:jitter=0.5,base=50ms,cap=30s", "full-jitter", "none", "fixed-window"];
    for (index, strategy) in strategies.iter().enumerate() {
        folder.done(&format!(
            "--simulate --quiet --ops 500 --repeats 30 --strategy {strategy} --json {index}.json"
        ));
    }
    folder.done("report 0.json 1.json 2.json 3.json 4.json -o report.html");
    let page = folder.read("report.html");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("</code> finished first of the ") && page.contains("<th>× best</th>"));
    assert!(page.contains("loadgen --simulate --ops 500 --repeats 30 --strategy aimd</pre>"));
    assert!(page.contains("<dt>seeds</dt><dd>1–30</dd>"));
    assert!(!page.contains("NaN") && !page.contains("/tmp"));
}

#[test]
fn the_first_screen_shows_the_setup_and_the_makespan_first() {
    let folder = Folder::new();
    folder.done("--simulate --quiet --ops 300 --rate 500/s --max-busy 20 --service-time 200ms --repeats 3 --json a.json");
    folder.done("report a.json -o report.html");
    let page = folder.read("report.html");
    let header = page.split("</header>").next().unwrap();
    for words in
        ["300 ops, poisson 500/s", "20 slots, service 200ms", "simulated, in virtual time", "seeds 1–3"]
    {
        assert!(header.contains(words), "`{words}` is not in {header}");
    }
    assert!(page.contains("<tbody><tr><th>makespan</th>"), "what matters most comes first");
}

/// It shows what was held fixed and measured, too.
#[test]
fn the_first_screen_of_a_sweep_shows_what_was_varied() {
    let folder = Folder::new();
    folder.done("sweep --simulate -q -s aimd --vary ops=50,300 --max-busy 20 --repeats 3 --html sweep.html");
    let page = folder.read("sweep.html");
    let header = page.split("</header>").next().unwrap();
    for words in
        ["Varied: ops 50, 300", "Held: poisson 1000/s", "20 slots", "simulated, in virtual time", "seeds 1–3"]
    {
        assert!(header.replace('\u{a0}', " ").contains(words), "`{words}` is not in {header}");
    }
    assert!(
        page.contains("<th class=\"words\">strategy</th><th>makespan s</th>"),
        "what matters most comes first"
    );
}

#[test]
fn a_comparison_with_the_oracle_says_that_it_is_not_counted() {
    let folder = Folder::new();
    folder
        .done("compare --simulate -q -s aimd,full-jitter,oracle --ops 300 --repeats 2 --html compared.html");
    let page = folder.read("compared.html");
    let header = page.split("</header>").next().unwrap();
    assert!(header.contains("<h1><code>aimd</code> was first in 2 of 2 runs"), "{header}");
    assert!(page.contains("<tr><td>*</td><td><code>oracle</code>"), "{page}");
    assert!(page.contains("* knows the server's configuration, as no real client can."));
}

#[test]
fn a_page_ranks_by_what_the_comparison_ranked_by() {
    let folder = Folder::new();
    let order = |page: &str| -> Vec<String> {
        let table = page.split("<table class=\"ranking\">").nth(1).unwrap();
        let rows = table.split("</td><td><code>").skip(1).take(3);
        rows.map(|row| row.split('<').next().unwrap_or_default().to_owned()).collect()
    };
    let compare =
        "compare --simulate --quiet -s aimd,fixed-window:window=20,full-jitter --ops 500 --repeats 6";
    for (by, first, headline, note) in [
        ("makespan", "aimd", "finished first: ", "Makespan and attempts are geometric means of 6 runs."),
        (
            "attempts",
            "fixed-window:window=20",
            "needed fewest attempts: 500;",
            "Attempts are geometric means of 6 runs.",
        ),
        ("p99", "aimd", "had the lowest p99: ", "P99 and attempts are geometric means of 6 runs."),
    ] {
        folder.done(&format!("{compare} --by {by} --json a.json --html a.html"));
        let page = folder.read("a.html");
        let ranked: serde_json::Value = serde_json::from_str(&folder.read("a.json")).unwrap();
        let ranked = ranked["comparison"]["strategies"].as_array().unwrap();
        let ranked: Vec<&str> = ranked.iter().map(|one| one["strategy"].as_str().unwrap()).collect();
        assert_eq!(order(&page), ranked, "by {by}");
        assert_eq!(ranked[0], first, "by {by}");
        let told = format!("<h1><code>{first}</code> {headline}");
        assert!(page.contains(&told), "by {by}: {}", page.split("</h1>").next().unwrap_or_default());
        assert!(page.contains(note), "by {by}");
    }
}

#[test]
fn the_only_script_is_the_one_that_the_page_allows() {
    let folder = Folder::new();
    folder.done("--simulate --quiet --ops 50 --json a.json");
    folder.done("report a.json -o -");
    let page = folder.done("report a.json -o -");
    let script = page.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let suite = rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13().unwrap();
    let hash = base64(suite.common.hash_provider.hash(script.as_bytes()).as_ref());
    assert!(page.contains(&format!("script-src 'sha256-{hash}'")), "SCRIPT_HASH must be sha256-{hash}");
}

#[test]
fn short_and_long_runs_draw() {
    let folder = Folder::new();
    for (name, flags) in [("short", "--ops 20 --rate 100/s"), ("long", "--ops 50000 --rate 2000/s")] {
        folder.done(&format!("--simulate --quiet {flags} --json {name}.json"));
        folder.done(&format!("report {name}.json -o {name}.html"));
        for figure in ["rate", "rate-log", "outcomes", "done", "window", "latency", "latency-cdf"] {
            folder.done(&format!("plot {name}.json --figure {figure} -o {name}.svg"));
            let svg = folder.read(&format!("{name}.svg"));
            let line =
                svg.split("class=\"series").nth(1).unwrap().split("class=\"line\" d=\"M").nth(1).unwrap();
            let line = line.split('"').next().unwrap();
            assert!(line.matches('L').count() >= 2 && !svg.contains("NaN"), "{name} {figure}: {line}");
        }
    }
}

#[test]
fn what_a_scenario_varied_is_drawn() {
    let folder = Folder::new();
    let ended = folder.loadgen("reproduce occ --repeats 2 --quiet --json occ.json");
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    folder.done("report occ.json -o occ.html");
    assert!(folder.read("occ.html").contains("Completion time with every kind of jitter"));
    folder.done("plot occ.json --figure clients -o occ.svg");
    assert!(folder.read("occ.svg").contains("decorrelated"));
}

#[test]
fn a_figure_is_drawn_as_text_too() {
    let folder = Folder::new();
    folder.done("--simulate --quiet --json a.json");
    let text = folder.done("plot a.json --figure window");
    assert!(text.starts_with("Window and in flight\n") && text.contains("server's cap"), "{text}");
    let list = folder.done("plot --list");
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
