//! `loadgen recommend`: answers whose sense is known beforehand, the command under "Again", and refusals.

use std::sync::LazyLock;

use serde_json::Value;

use crate::support::{Left, Recommended, full_or, interrupted, loadgen, recommended};

/// `OpenAI`'s API with 20 workers: 350 to 500 requests a minute, of which rejected ones count.
const OPENAI: [&str; 11] = [
    "recommend",
    "--strategy",
    "preset:openai",
    "--in-flight",
    "20",
    "--ops",
    "1500",
    "--preset",
    "openai:tokens=off",
    "--service-time",
    "lognormal(2s,0.5)",
];
const RANGES: [&str; 6] = [
    "--unsure",
    "service-time=700ms..6s",
    "--unsure",
    "requests.burst=8..500",
    "--unsure",
    "requests.own=yes,no",
];
const RATE: [&str; 2] = ["--unsure", "requests.rate=350/m..500/m"];

/// urllib3 on a server that is far from its limit.
const IDLE: [&str; 18] = [
    "recommend",
    "--strategy",
    "preset:urllib3-usual",
    "--mix",
    "GET /x",
    "--rate",
    "5/s",
    "--duration",
    "3m",
    "--within",
    "5s",
    "--max-busy",
    "50",
    "--service-time",
    "lognormal(200ms,0.5)",
    "--fault",
    "503:1%",
    "--quiet",
];

fn with<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [words, more].concat()
}

fn json(words: &[&str]) -> Value {
    loadgen(&with(words, &["--json", "-", "--quiet"])).exits(0).json()
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the command with fewer ops, for tests that only compare bytes.
fn with_few_ops<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let fewer = |word: &&'a str| if *word == "1500" { full_or("1500", "300") } else { *word };
    words.iter().map(fewer).collect()
}

fn candidate<'a>(answer: &'a Value, index: &Value) -> &'a Value {
    &answer["candidates"][usize::try_from(index.as_u64().expect("an index")).unwrap()]
}

fn chosen(answer: &Value) -> &Value {
    candidate(answer, &answer["chosen"])
}

/// Returns the rate of the chosen setting, in requests per second.
fn rate(answer: &Value) -> Option<f64> {
    let text = chosen(answer)["strategy"].as_str().expect("a text");
    let (_, rest) = text.split_once("token-bucket:rate=")?;
    rest.split("/s").next()?.parse().ok()
}

/// Returns the command of `docs/recommend.md` for `OpenAI`.
fn asked() -> Vec<&'static str> {
    let [service, burst, own] = [0, 2, 4].map(|at| &RANGES[at..at + 2]);
    [&OPENAI[..], service, &RATE, burst, own].concat()
}

static ANSWER: LazyLock<&Value> = LazyLock::new(|| &recommended(&asked()).document);

/// Band of the rate: the lowest plausible capacity is 350 a minute, which is 5.83 a second.
#[test]
fn the_rate_for_openai_is_the_lowest_plausible_capacity() {
    let openai = asked();
    let seeds = full_or(&["2", "3", "4", "5"][..], &["2"]);
    let others: Vec<Value> = seeds.iter().map(|seed| json(&with(&openai, &["--seed", seed]))).collect();
    for answer in std::iter::once(*ANSWER).chain(&others) {
        let seed = &answer["nominal"]["seed"];
        assert_eq!(answer["decision"], "change");
        let rate = rate(answer).expect("a rate");
        assert!((5.6..=6.0).contains(&rate), "seed {seed}: {rate}");
        assert!(answer["fresh"]["of_other"]["undone"].as_f64().unwrap() <= 0.001, "seed {seed}");
        let keys: Vec<&str> =
            answer["look_ups"].as_array().unwrap().iter().filter_map(|it| it["key"].as_str()).collect();
        assert!(keys.contains(&"requests.own") || keys.contains(&"requests.rate"), "seed {seed}: {keys:?}");
    }
}

#[test]
fn the_answer_has_at_most_15_lines_and_the_same_bytes_again() {
    let text = &recommended(&asked()).text;
    let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with("Again")).collect();
    assert!(lines.len() <= 15 && lines.iter().all(|line| line.chars().count() <= 79), "{text}");
    let openai = with_few_ops(&asked());
    let one = loadgen(&with(&openai, &["--threads", "1"])).exits(0);
    let two = loadgen(&with(&openai, &["--threads", "2"])).exits(0);
    assert_eq!(one.stdout, two.stdout);
}

/// Band of the rate: capacities from 450 to 500 a minute, times 0.93 to 1.01.
#[test]
fn a_better_known_limit_changes_the_answer() {
    let known = ["--unsure", "requests.rate=450/m..500/m"];
    let answer = json(&with(&with(&OPENAI, &RANGES), &known));
    let rate = rate(&answer).expect("a rate");
    assert!((7.0..=8.4).contains(&rate), "{rate}");
}

#[test]
fn an_answer_that_is_fed_back_is_kept() {
    let openai = asked();
    let strategy = chosen(&ANSWER)["strategy"].as_str().unwrap();
    let again: Vec<&str> =
        openai.iter().map(|word| if *word == "preset:openai" { strategy } else { word }).collect();
    let kept = json(&again);
    assert_eq!(kept["decision"], "keep", "{kept}");
}

/// The nominal server allows a burst of 500 at once, which is a third of all ops.
#[test]
fn the_nominal_server_alone_hides_the_problem() {
    assert_eq!(json(&with(&OPENAI, &["--unsure", "none"]))["decision"], "keep");
}

#[test]
fn a_client_without_rejections_keeps_its_setting() {
    let Recommended { text, document } = recommended(&IDLE[..17]);
    assert_eq!(document["decision"], "keep");
    assert!(text.starts_with("Keep "), "{text}");
}

#[test]
fn stripe_needs_retries_and_gets_its_own_setting() {
    let words = [
        "recommend",
        "--strategy",
        "preset:stripe-python,max-attempts=1",
        "--in-flight",
        "40",
        "--ops",
        "3000",
        "--preset",
        "stripe",
        "--api-keys",
        "1",
        "--mix",
        "POST /v1/charges 1",
        "--service-time",
        "lognormal(600ms,0.5)",
    ];
    let answer = &recommended(&words).document;
    let servers = answer["fresh"]["servers"].as_array().unwrap();
    assert!(servers.iter().all(|server| server["other_undone"].as_f64().unwrap() <= 0.01));
    assert!(answer["fresh"]["today"]["undone"].as_f64().unwrap() > 0.5);
    let settings = answer["settings"].as_array().unwrap();
    let library = settings.iter().find(|setting| setting["of"] == "library").expect("a library's setting");
    let text = library["text"].as_str().unwrap();
    let (_, retries) = text.split_once("max_network_retries=").expect("the library's own option");
    let retries: u32 = retries.trim_end_matches(')').parse().unwrap();
    assert!(retries >= 5, "{text}");
}

/// Runs the command under "Again", split as a shell would, and returns its runs.
fn again(answer: &Value) -> Vec<Value> {
    let command = answer["again"].as_str().unwrap();
    let commands = command_line::examples(command, "loadgen");
    let words: Vec<&str> = commands[0].iter().skip(1).map(String::as_str).collect();
    let document = loadgen(&with(&words, &["--json", "-", "--quiet"])).exits(0).json();
    document["runs"].as_array().cloned().unwrap_or_else(|| vec![document.clone()])
}

fn assert_nominal(answer: &Value, of: &str, runs: &[Value]) {
    let nominal = &answer["nominal"][of];
    let candidate = candidate(answer, &nominal["candidate"]);
    let is_of = |run: &&Value| {
        let workers = &run["at"]["in_flight"];
        let same_workers = workers.is_null() || *workers == candidate["in_flight"];
        same_workers && run["strategy"] == candidate["strategy"]
    };
    let run = runs.iter().find(is_of).unwrap_or_else(|| panic!("{candidate} is not among the runs"));
    assert_eq!(run["seed"], answer["nominal"]["seed"]);
    for (figure, path) in [
        ("ops_succeeded", "/ops/succeeded"),
        ("done_share", "/done_share"),
        ("makespan_s", "/makespan_s"),
        ("attempts", "/attempts/total"),
        ("attempts_per_success", "/attempts_per_success"),
    ] {
        assert_eq!(nominal[figure], *run.pointer(path).unwrap(), "{of} {figure}");
    }
}

#[test]
fn the_command_under_again_has_the_figures_of_the_nominal_server() {
    let runs = again(&ANSWER);
    assert_nominal(&ANSWER, "today", &runs);
    assert_nominal(&ANSWER, "other", &runs);
}

#[test]
fn fewer_workers_are_run_again_by_a_sweep() {
    let words = [
        "recommend",
        "--strategy",
        "preset:curl",
        "--in-flight",
        "40",
        "--ops",
        "300",
        "--max-busy",
        "10",
        "--service-time",
        "500ms",
        "--change",
        "workers",
        "--unsure",
        "max-busy=8..12",
    ];
    let answer = json(&words);
    assert_eq!(answer["settings"][0]["of"], "workers", "{}", answer["settings"]);
    assert!(answer["again"].as_str().unwrap().starts_with("loadgen sweep "), "{}", answer["again"]);
    let runs = again(&answer);
    assert_nominal(&answer, "today", &runs);
    assert_nominal(&answer, "other", &runs);
}

/// Without `--max-rejected`, today's setting may be rejected as often as it is.
#[test]
fn settings_with_too_many_rejections_are_excluded() {
    let words = asked();
    let answer = json(&with(&words, &["--max-rejected", "0.1%"]));
    assert_eq!(answer["candidates"][0]["eligible"], false, "today's setting is rejected more often");
    assert_eq!(chosen(&answer)["eligible"], true);
    // A rate without rejections is an answer, although settings that are excluded do more in time.
    let slow = [
        "recommend",
        "--strategy",
        "preset:openai",
        "--rate",
        "60/s",
        "--duration",
        "20s",
        "--within",
        "5s",
        "--max-busy",
        "10",
        "--service-time",
        "200ms",
        "--max-rejected",
        "5%",
        "--unsure",
        "max-busy=8..12",
    ];
    assert!(rate(&json(&slow)).is_some());
    let library = with(&words, &["--max-rejected", "0.1%", "--change", "library"]);
    loadgen(&library).exits(1).says(&["no setting keeps rejections within 0.1 % on every server"]);
}

#[test]
fn a_server_on_which_nothing_succeeds_has_no_answer() {
    let words = ["recommend", "--strategy", "preset:requests", "--in-flight", "5", "--ops", "50"];
    loadgen(&with(&words, &["--fault", "500:100%"])).exits(1).says(&["no setting gets an op done"]);
}

/// The server is far above its limit, so that settings matter.
#[test]
fn printed_library_settings_are_values_that_were_listed() {
    let mut changed = 0;
    let presets = tailback::presets().iter().filter(|preset| !preset.knobs.is_empty());
    for preset in presets.step_by(full_or(1, 3)) {
        let strategy = format!("preset:{}", preset.name);
        let replaced = |word: &&'static str| match *word {
            "preset:urllib3-usual" => strategy.as_str(),
            "5/s" => "120/s",
            "3m" => "10s",
            "50" => "5",
            word => word,
        };
        let words: Vec<&str> = IDLE[..17].iter().map(replaced).collect();
        let words = with(&words, &["--change", "library", "--unsure", "none"]);
        let answer = json(&words);
        if answer["decision"] == "keep" {
            continue;
        }
        let listed: Vec<String> = preset
            .knobs
            .iter()
            .flat_map(|knob| {
                let texts = knob.texts.iter().map(|text| knob.setting_of(text));
                texts
                    .chain(knob.values.iter().map(|value| knob.setting_of(&value.to_string())))
                    .collect::<Vec<_>>()
            })
            .collect();
        for setting in answer["settings"].as_array().unwrap() {
            assert_eq!(setting["of"], "library");
            assert!(listed.contains(&setting["text"].as_str().unwrap().to_owned()), "{setting}: {listed:?}");
        }
        changed += 1;
        let chosen = chosen(&answer)["strategy"].as_str().unwrap();
        let printed = loadgen(&["strategies", chosen, "--print-settings"]).exits(0).stdout;
        match answer["library_settings"].as_str() {
            Some(settings) => assert_eq!(settings, printed, "{chosen}"),
            None => {
                for setting in answer["settings"].as_array().unwrap() {
                    let text = setting["text"].as_str().unwrap();
                    assert!(printed.lines().any(|line| line == text), "{chosen}: {text}\n{printed}");
                }
            }
        }
    }
    assert!(changed >= full_or(10, 4), "only {changed} answers have settings of a library");
}

/// urllib3 raises an error if it cannot read the header that it should follow.
#[test]
fn a_client_that_cannot_read_the_advice_should_ignore_it() {
    let words = [
        "recommend",
        "--strategy",
        "preset:urllib3-usual",
        "--preset",
        "shopify-rest",
        "--in-flight",
        "4",
        "--ops",
        "300",
        "--mix",
        "GET /admin/orders.json",
        "--unsure",
        "none",
        "--change",
        "library",
    ];
    let text = loadgen(&words).exits(0).says(&[]).stdout;
    let joined = in_one_line(&text);
    assert!(joined.contains("Retry(respect_retry_after_header=False)"), "{text}");
    let why = "Library preset:urllib3-usual cannot read `Retry-After: 2.0` of shopify-rest (not verified)";
    assert!(joined.contains(why), "{text}");
}

/// On a constant network, 25/s leaves at most 0.4 % of the ops undone on each plausible server.
const AZURE: [&str; 15] = [
    "recommend",
    "--strategy",
    "preset:azure-go",
    "--in-flight",
    "20",
    "--preset",
    "azure-arm",
    "--api-keys",
    "1",
    "--mix",
    "GET /subscriptions/1 1",
    "--service-time",
    "lognormal(350ms,0.5)",
    "--change",
    "rate",
];

#[test]
fn a_rate_at_a_cliff_is_not_recommended() {
    let words = with(&AZURE, &["--ops", "2000", "--unsure", "reads.rate=17.5/s..25/s"]);
    let Recommended { text, document } = recommended(&words);
    assert_eq!(rate(document), Some(17.5), "{}", document["settings"]);
    let joined = in_one_line(text);
    for says in ["network uniform(70ms,130ms)", "--network-delay 'uniform(70ms,130ms)'", "(today ≥ "] {
        assert!(joined.contains(says), "no `{says}` in {text}");
    }
}

#[test]
fn late_ops_of_workers_count_as_undone() {
    let words =
        ["recommend", "--strategy", "full-jitter", "--in-flight", "20", "--ops", "600", "--within", "1s"];
    let answer = json(&with(&words, &["--max-busy", "10", "--change", "workers", "--unsure", "none"]));
    assert_eq!(answer["within_s"], 1.0);
    assert!(answer["fresh"]["today"]["undone"].as_f64().unwrap() > 0.1, "{}", answer["fresh"]["today"]);
    assert_eq!(answer["decision"], "change");
}

/// 6.97/s is above the lowest plausible capacity of 5.83/s, and 600 ops end before the burst of 500 is used up.
#[test]
fn an_answer_that_lives_on_the_burst_says_so() {
    let words = ["--ops", "600", "--unsure", "requests.rate=350/m..500/m", "--change", "rate"];
    let answer = json(&with(&with(&OPENAI[..5], &OPENAI[7..]), &words));
    assert!(rate(&answer).is_none_or(|rate| rate > 5.9), "{}", answer["settings"]);
    assert_eq!(answer["holds_for"]["ops"], 600);
    assert_eq!(answer["holds_for"]["rate_for_any_number_per_s"], 5.83);
    assert_eq!(ANSWER["holds_for"], Value::Null, "5.83/s holds for any number");
}

/// More than 6 700 ops on 15 servers are searched with shorter runs.
#[test]
fn the_order_of_the_flags_changes_nothing_and_the_best_run_with_all_ops() {
    let words =
        ["recommend", "--strategy", "preset:curl", "--in-flight", "60", "--ops", "8000", "--max-busy", "20"];
    let words = with(&words, &["--service-time", "200ms", "--change", "workers"]);
    let busy = ["--unsure", "max-busy=10..40"];
    let service = ["--unsure", "service-time=100ms..400ms"];
    let one = loadgen(&with(&with(&words, &busy), &service)).exits(0).stdout;
    let other = loadgen(&with(&with(&words, &service), &busy)).exits(0).stdout;
    assert_eq!(one, other);
    assert!(!one.contains("Left out"), "{one}");
    // Rejected attempts count on the corners that come last in this order.
    let openai = json(&with_few_ops(&asked()));
    let turned = with(&with(&with(&OPENAI, &RANGES[..4]), &RATE), &["--unsure", "requests.own=no,yes"]);
    assert_eq!(json(&with_few_ops(&turned))["fresh"], openai["fresh"]);
}

#[test]
fn where_no_op_is_done_in_time_no_setting_can() {
    let words =
        ["recommend", "--strategy", "preset:openai", "--rate", "5/s", "--ops", "60", "--within", "1ms"];
    let words = with(&words, &["--preset", "openai:tokens=off", "--unsure", "none"]);
    loadgen(&words).exits(1).says(&["No setting can: not one op is done within 1ms on any fresh server"]);
}

#[test]
fn the_printed_range_has_the_worst_server_of_the_search() {
    for (of, candidate) in [("today", &ANSWER["today"]), ("of_other", &ANSWER["fresh"]["other"])] {
        let most = ANSWER["fresh"][of]["most_undone"].as_f64().unwrap();
        let undone = self::candidate(&ANSWER, candidate)["undone"].as_array().unwrap();
        // A run that was ended because of its many attempts leaves nearly all undone.
        assert!(
            undone.iter().filter_map(Value::as_f64).all(|undone| undone <= most || undone >= 0.95),
            "{of}"
        );
    }
}

#[test]
fn an_answer_of_workers_that_is_fed_back_is_kept() {
    let of = |strategy: &str, in_flight: &str| {
        let words = ["recommend", "--strategy", strategy, "--in-flight", in_flight, "--ops", "1000"];
        let server = ["--max-busy", "32", "--service-time", "lognormal(80ms,0.4)", "--network-delay", "5ms"];
        json(&with(&with(&words, &server), &["--reject-time", "2ms", "--unsure", "max-busy=16..64"]))
    };
    let answer = of("preset:go-retryablehttp", "128");
    let chosen = chosen(&answer);
    let kept = of(chosen["strategy"].as_str().unwrap(), &chosen["in_flight"].to_string());
    assert_eq!(kept["decision"], "keep", "{} and then {}", answer["settings"], kept["settings"]);
}

#[test]
fn settings_of_a_library_without_a_format_are_printed_in_its_words() {
    let printed =
        loadgen(&["strategies", "preset:openai,max-attempts=6", "--print-settings"]).exits(0).stdout;
    assert_eq!(printed, "OpenAI(max_retries=5)\n");
}

fn refused(words: &[&str], why: &[&str]) -> Left {
    let started = std::time::Instant::now();
    let left = loadgen(words).exits(2).says(why);
    assert!(started.elapsed().as_secs() < 5, "a refusal comes before any run");
    left
}

#[test]
fn contradictory_flags_are_refused_before_any_run() {
    let of = |unsure: &'static str| with(&OPENAI, &["--unsure", unsure]);
    for (unsure, why) in [
        ("request.rate=350/m..500/m", "did you mean `requests.rate`?"),
        ("max-bussy=1..100", "did you mean `max-busy`?"),
        ("points.limit=1..1000", "is a stage of preset `github`, not of `openai`"),
        ("tokens.rate=1/m..1000000/m", "is switched off"),
        ("requests.burst=500", "`500` is a single value; write a range such as `250..1000`"),
        ("requests.burst=", "lacks a value"),
        ("requests.burst=500..8", "goes from 500 to 8"),
        ("requests.burst=500..500", "goes from 500 to 500"),
        ("requests.burst=8..100", "the nominal value `500` is not within `8..100`"),
        ("requests.burst=1s..2s", "must be whole numbers"),
        ("requests.own=maybe,no", "is not within"),
        ("service-time", "it must be KEY=LOW..HIGH"),
    ] {
        refused(&of(unsure), &[why]);
    }
    refused(&with(&of("none"), &["--unsure", "max-busy=1..100"]), &["excludes every other"]);
    let twice = with(&of("requests.burst=8..500"), &["--unsure", "requests.burst=9..500"]);
    refused(&twice, &["`requests.burst` is given twice"]);
    let nine = [
        "service-time=1s..4s",
        "requests.burst=8..500",
        "requests.rate=350/m..500/m",
        "requests.own=yes,no",
        "requests.later=keep,back",
        "reject-time=5ms..50ms",
        "network-delay=50ms..200ms",
        "loss=0,0.01",
        "reject-first=0,1",
    ];
    let nine: Vec<&str> = nine.iter().flat_map(|text| ["--unsure", text]).collect();
    refused(&with(&OPENAI, &nine), &["is given 9 times; at most 8"]);
}

#[test]
fn loads_and_strategies_without_sense_are_refused() {
    let base = ["recommend", "--strategy", "preset:openai"];
    refused(&with(&base, &["--rate", "5/s"]), &["`--rate` needs `--within`"]);
    refused(&base, &["the load is missing"]);
    refused(&["recommend", "--in-flight", "5"], &["--strategy"]);
    refused(&["recommend", "--strategy", "oracle", "--in-flight", "5"], &["`oracle` cannot be"]);
    let layered = ["recommend", "--strategy", "preset:openai over preset:envoy", "--in-flight", "5"];
    refused(&with(&layered, &["--change", "library"]), &["has several layers"]);
    refused(&with(&layered, &["--change", "library,workers,rate"]), &["has several layers"]);
    let working = with(&base, &["--in-flight", "5"]);
    refused(&with(&working, &["--target", "http://127.0.0.1:1"]), &["nothing is measured on a real server"]);
    refused(&with(&working, &["--duration", "30s"]), &["give `--ops` instead of `--duration`"]);
    refused(&with(&working, &["--repeats", "3"]), &["`--repeats` has no effect"]);
    refused(&with(&working, &["--change", "everything"]), &["invalid value"]);
}

#[test]
fn an_interrupted_search_has_no_answer() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let words = asked();
    let words: Vec<&str> = words.iter().map(|word| if *word == "1500" { "6000" } else { word }).collect();
    let (output, lines) = interrupted(directory.path(), &words, "server ");
    assert_eq!(output.status.code(), Some(130), "{lines:?}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(lines.iter().any(|line| line.contains("there is no answer")), "{lines:?}");
}
