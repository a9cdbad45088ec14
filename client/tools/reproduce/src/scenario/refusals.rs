//! Tests of invalid scenario files. Such files are rejected before anything runs, with an error that names the position and a remedy.

use experiments::words_of;

use crate::scenario::{Text, load};

/// A valid scenario file. Each test case replaces one of its lines.
const GOOD: &str = r#"name = "mine"
title = "Mine"
repeats = 1
[workload]
ops = 3
duration = "10s"
drain = "10s"
[server]
max_busy = 50
[strategies]
a = "immediate"
b = "exponential:base=50ms"
[experiment.main]
strategies = ["a", "b"]
vary = { max_busy = [10, 20] }
columns = [{ title = "attempts", figure = "attempts.total" }]
[[claim]]
says = "As many"
experiment = "main"
figure = "attempts.total"
of = "a"
at = 10
printed = "3"
"#;

fn refusal(contents: &str, settings: &[&str]) -> Option<String> {
    let text = Text { name: "mine.toml".to_owned(), text: contents.to_owned() };
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    load(&text, &settings).err().map(|error| words_of(&error))
}

fn lacking(refusal: Option<String>, words: &[&str]) -> Option<String> {
    let text = refusal.unwrap_or_else(|| "nothing is wrong".to_owned());
    let whole = words.iter().all(|word| text.contains(word)) && text.len() < 2000;
    (!whole).then(|| format!("wanted {words:?}, got: {}", text.chars().take(600).collect::<String>()))
}

#[test]
fn nothing_is_wrong_with_a_good_file() {
    assert_eq!(refusal(GOOD, &[]), None);
    let github =
        GOOD.replace("max_busy = 50", "preset = \"github:points=off\"\nadvice = \"ms\"\nscale = 0.02");
    assert_eq!(refusal(&github.replace("max_busy = [10, 20]", "reject_first = [10, 20]"), &[]), None);
    assert_eq!(
        refusal(&github.replace("max_busy = [10, 20]", "scale = [10, 20]"), &["server.advice=none"]),
        None
    );
}

#[test]
fn figures_that_only_some_runs_have_are_accepted() {
    // Some runs lack some figures. Fairness needs several clients, wasted time needs a mockserver, and lateness needs a deadline.
    for figure in ["fairness.jain", "fairness.slowest_over_median", "wasted_server_s", "late_share"] {
        assert_eq!(
            refusal(&GOOD.replace("attempts.total", figure), &["workload.clients=4"]),
            None,
            "{figure}"
        );
    }
}

/// Test cases: a line of [`GOOD`], its replacement, and the words that the error must contain.
const ONE_LINE: &[(&str, &str, &[&str])] = &[
    ("repeats = 1", "repeets = 1", &["mine.toml:3", "`repeets`", "did you mean `repeats`?"]),
    ("repeats = 1", "repeats = 0", &["mine.toml", "`repeats` is 0"]),
    ("repeats = 1", "repeats = -1", &["mine.toml:3"]),
    ("repeats = 1", "repeats = \"many\"", &["mine.toml:3", "many"]),
    ("ops = 3", "arivals = \"burst\"", &["mine.toml:5", "`arivals`", "did you mean `arrivals`?"]),
    ("ops = 3", "arrivals = \"brust\"", &["mine.toml:5", "did you mean `burst`?", "\"poisson\""]),
    (
        "duration = \"10s\"",
        "duration = \"18446744073709551615s0.5s0.5s\"",
        &["mine.toml:6", "longer than 100 years"],
    ),
    ("ops = 3", "ops = 0", &["mine.toml:5", "`ops` is 0"]),
    ("ops = 3", "ops = 9223372036854775807", &["mine.toml:5", "`ops` is 9223372036854775807"]),
    ("ops = 3", "clients = 4294967295", &["mine.toml:5", "`clients` is 4294967295"]),
    ("ops = 3", "in_flight = 4294967295", &["mine.toml:5", "`in_flight` is 4294967295"]),
    ("ops = 3", "at = []", &["mine.toml:5", "`at` is an empty list"]),
    ("ops = 3", "at = [\"1s\"]\nin_flight = 3", &["mine.toml:5", "exclude one another"]),
    (
        "ops = 3",
        "scatter = [{ ops = 9223372036854775807, from = \"0s\", to = \"1s\" }, { ops = 9223372036854775807, from = \"0s\", to = \"1s\" }]",
        &["mine.toml:5", "all groups together at most 10000000"],
    ),
    (
        "figure = \"attempts.total\"\nof = \"a\"",
        "figure = \"calls\"\nof = \"a\"\nat = 10\nprinted = \"3\"\n[figure.calls]\nkind = \"sum\"\nseries = \"sent\"\nfrom = 0\nto = 9223372036854775807\n[[claim]]\nsays = \"\"\nfigure = \"attempts.total\"\nof = \"a\"",
        &["mine.toml", "the range 0 to 9223372036854775807 is not valid"],
    ),
    (
        "figure = \"attempts.total\"\nof = \"a\"",
        "figure = \"calls\"\nof = \"a\"\nat = 10\nprinted = \"3\"\n[figure.calls]\nkind = \"sum\"\nseries = \"sent\"\nfrom = 0\nto = 9\n[[claim]]\nsays = \"\"\nfigure = \"attempts.total\"\nof = \"a\"",
        &["mine.toml", "`calls` needs calls in bins"],
    ),
    ("ops = 3", "clients = 0", &["mine.toml:5", "`clients` is 0"]),
    ("ops = 3", "in_flight = 0", &["mine.toml:5", "`in_flight` is 0"]),
    ("ops = 3", "rate = \"-1/s\"", &["mine.toml:5", "`rate`"]),
    ("ops = 3", "kind = \"write\"", &["mine.toml:5", "`kind`", "\"read-modify-write\""]),
    ("ops = 3", "timeout = \"0s\"", &["mine.toml:5", "`timeout`", "longer than zero"]),
    ("ops = 3", "timeout = \"-1s\"", &["mine.toml:5", "`timeout`"]),
    ("ops = 3", "bins = \"0s\"", &["mine.toml:5", "`bins`"]),
    (
        "ops = 3",
        "scatter = [{ ops = 3, from = \"0s\", to = \"20s\" }]",
        &["mine.toml:5", "`scatter`", "until 20s", "10s"],
    ),
    (
        "ops = 3",
        "scatter = [{ ops = 3, from = \"5s\", to = \"5s\" }]",
        &["mine.toml:5", "`scatter`", "from 5s to 5s"],
    ),
    (
        "ops = 3",
        "scatter = [{ ops = 3, from = \"5s\", to = \"1s\" }]",
        &["mine.toml:5", "`scatter`", "from 5s to 1s"],
    ),
    ("ops = 3", "at = [\"1s\", \"-2s\"]", &["mine.toml:5", "`at`", "-2s"]),
    ("max_busy = 50", "max_bussy = 50", &["mine.toml:9", "`max_bussy`", "did you mean `max_busy`?"]),
    ("max_busy = 50", "service_time = \"-5ms\"", &["mine.toml:9", "`service_time`", "-5ms"]),
    ("max_busy = 50", "network_delay = 5", &["mine.toml:9", "`network_delay`"]),
    ("max_busy = 50", "network_delay = \"normal(-1ms,2ms)\"", &["mine.toml:9", "`network_delay`"]),
    ("max_busy = 50", "loss = 1.5", &["mine.toml:9", "`loss` is 1.5", "from 0 to 1"]),
    ("max_busy = 50", "loss = nan", &["mine.toml:9", "`loss` is nan", "a finite number"]),
    ("max_busy = 50", "preset = \"github\"\nscale = inf", &["mine.toml:10", "`scale` is inf"]),
    ("max_busy = 50", "advice = \"second\"", &["mine.toml:9", "did you mean `seconds`?"]),
    (
        "max_busy = 50",
        "policy = \"token-bucket\"",
        &["mine.toml", "`max_busy` sets the number of requests served at once, but the policy `token-bucket"],
    ),
    ("max_busy = 50", "policy = \"concurency-cap\"", &["mine.toml:9", "did you mean `concurrency-cap`?"]),
    (
        "max_busy = 50",
        "policy = \"overwhelmed-queue:capacity=0\"",
        &["mine.toml:9", "`policy`", "`capacity", "0"],
    ),
    (
        "max_busy = 50",
        "policy = \"overwhelmed-queue:capasity=1\"",
        &["mine.toml:9", "`policy`", "did you mean `capacity`?"],
    ),
    (
        "max_busy = 50",
        "policy = \"descriptor-pool:descriptors=0\"",
        &["mine.toml:9", "`policy`", "`descriptors"],
    ),
    (
        "max_busy = 50",
        "outages = \"0s..10s,5s..20s\"",
        &["mine.toml:9", "`outages`", "begins before the outage before it has ended"],
    ),
    ("max_busy = 50", "outages = \"9s..3s\"", &["mine.toml:9", "`outages`", "ends before it begins"]),
    ("max_busy = 50", "outages = \"soon\"", &["mine.toml:9", "`outages`", "has no `..`"]),
    // The position of a varied value is not checked, because errors name the position of the table whose value is replaced.
    ("vary = { max_busy = [10, 20] }", "vary = { max_busy = [10, 0] }", &["mine.toml:", "`max_busy` is 0"]),
    (
        "vary = { max_busy = [10, 20] }",
        "vary = { max_bussy = [10] }",
        &["mine.toml:", "did you mean `max_busy`?"],
    ),
    ("vary = { max_busy = [10, 20] }", "vary = { max_busy = [] }", &["mine.toml:15", "has no values"]),
    (
        "vary = { max_busy = [10, 20] }",
        "vary = { max_busy = [10], ops = [1], clients = [1] }",
        &["mine.toml:15", "at most two"],
    ),
    (
        "b = \"exponential:base=50ms\"",
        "b = \"exponentail\"",
        &["mine.toml:12", "did you mean `exponential`?"],
    ),
    ("b = \"exponential:base=50ms\"", "b = \"exponential:base=-1ms\"", &["mine.toml:12", "base"]),
    ("b = \"exponential:base=50ms\"", "b = \"immediate+none\"", &["mine.toml:12", "two retry policies"]),
    ("b = \"exponential:base=50ms\"", "b = \"\"", &["mine.toml:12"]),
    ("b = \"exponential:base=50ms\"", "b = 7", &["mine.toml:12"]),
    (
        "strategies = [\"a\", \"b\"]",
        "strategies = [\"a\", \"c\"]",
        &["mine.toml:14", "labelled `c`", "`a`, `b`"],
    ),
    (
        "columns = [{ title = \"attempts\", figure = \"attempts.total\" }]",
        "columns = [{ title = \"attempts\", figure = \"attempts.totl\" }]",
        &["mine.toml:16", "`attempts.totl`", "did you mean `attempts.total`?"],
    ),
    (
        "figure = \"attempts.total\"",
        "figure = \"luck\"",
        &["mine.toml:20", "unknown figure `luck`", "[figure]"],
    ),
    ("figure = \"attempts.total\"", "figgure = \"attempts.total\"", &["mine.toml:20", "`figgure`"]),
    ("experiment = \"main\"", "experiment = \"man\"", &["mine.toml:19", "`main`"]),
    ("of = \"a\"", "of = \"c\"", &["mine.toml:21", "`c` is not run in experiment `main`"]),
    ("at = 10", "at = 30", &["mine.toml:22", "no point 30"]),
    ("at = 10", "over = [10, 30]", &["mine.toml", "no point 30"]),
    ("at = 10", "growth = [10, 30]", &["mine.toml", "no point 30"]),
    ("of = \"a\"", "of = []", &["mine.toml:21", "`of` names no strategy"]),
    ("of = \"a\"", "of = 3", &["mine.toml:21", "a strategy's label, or a list of labels"]),
    ("at = 10", "at = { max_busi = 10 }", &["mine.toml:22", "no point"]),
    ("at = 10\n", "", &["mine.toml", "several points", "`over`"]),
    ("at = 10", "at = 10\nover = [10]", &["mine.toml:22", "exclude one another"]),
    ("printed = \"3\"", "", &["mine.toml:18", "a claim needs a condition", "`at_most`"]),
    ("printed = \"3\"", "accept = [3, 3]", &["mine.toml:23", "unknown key `accept`"]),
    ("printed = \"3\"", "at_lest = \"3\"", &["mine.toml:23", "did you mean `at_least`?"]),
    ("printed = \"3\"", "at_least = 3", &["mine.toml:23", "`at_least = 3` interprets the source", "`means`"]),
    ("printed = \"3\"", "above = 1", &["mine.toml:23", "`means`"]),
    (
        "printed = \"3\"",
        "above = \"4\"\nat_most = \"3\"",
        &["mine.toml:23", "nothing is above 4 and at most 3"],
    ),
    ("printed = \"3\"", "above = \"3\"\nat_least = \"3\"", &["mine.toml:24", "two bounds on the same side"]),
    ("printed = \"3\"", "above = nan\nmeans = \"m\"", &["mine.toml:23", "`above` is NaN"]),
    (
        "printed = \"3\"",
        "above = [3, 3]",
        &["mine.toml:23", "a number, or a number quoted from the source, in quotation marks"],
    ),
    ("printed = \"3\"", "printed = \"3 s\"", &["mine.toml:23", "leave the unit out"]),
    ("printed = \"3\"", "printed = \"3\"\nbelow = \"9\"", &["mine.toml:24", "exclude one another"]),
    ("printed = \"3\"", "printed = \"3\"\nprecision = 1", &["mine.toml:24", "give the reason in `means`"]),
    ("printed = \"3\"", "printed = \"3\"\nagainst = [\"b\", \"c\"]", &["mine.toml:24", "`c` is not run"]),
    ("printed = \"3\"", "printed = \"3\"\nagainst = []", &["mine.toml:24", "`against` names no strategy"]),
    ("printed = \"3\"", "printed = \"3\"\nagainst = { at = 10 }", &["mine.toml:24", "compared with itself"]),
    ("printed = \"3\"", "printed = \"3\"\nagainst = { at = 30 }", &["mine.toml:24", "no point 30"]),
    (
        "printed = \"3\"",
        "printed = \"3\"\nagainst = { published = [1, 2] }",
        &["mine.toml:24", "one figure for every point of `over`: 2 for 0"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\nagainst = { experiment = \"mian\" }",
        &["mine.toml:24", "did you mean `main`?"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\nagainst = { figure = \"luck\" }",
        &["mine.toml:20", "unknown figure `luck`"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\nagainst = { off = \"b\" }",
        &["mine.toml:24", "a table of `of`, `at`"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\nstat = \"max\"\none_run = true",
        &["mine.toml:24", "leave one of them out"],
    ),
    ("printed = \"3\"", "printed = \"3\"\nstat = \"average\"", &["mine.toml:24", "`average`"]),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[http]\nexperiments = [\"mian\"]",
        &["mine.toml:25", "did you mean `main`?"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"cals\"",
        &["mine.toml:26", "unknown figure `cals`", "did you mean `calls`?", "`per-client`"],
    ),
    ("printed = \"3\"", "printed = \"3\"\n[plot.p]\ndraw = \"calls\"", &["mine.toml:24", "`title`"]),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"calls\"",
        &["mine.toml:24", "several points", "`at`"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"calls\"\nat = 30",
        &["mine.toml:27", "no point 30"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"calls\"\nat = 10\nstrategies = [\"c\"]",
        &["mine.toml:28", "`c` is not run in experiment `main`"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"calls\"\nat = 10\ncolumns = [\"attempts\"]",
        &["mine.toml:28", "`columns` has no effect on plots of kind `calls`"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"varied\"\ncolumns = [\"atempts\"]",
        &["mine.toml:27", "did you mean `attempts`?"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"varied\"\nexperiment = \"mian\"",
        &["mine.toml:27", "did you mean `main`?"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"service\"\nat = 10",
        &["mine.toml:26", "`step = \"100ms\"`"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"service\"\nat = 10\nstep = \"0s\"",
        &["mine.toml:28", "`step` must be longer than zero"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"service\"\nat = 10\nseries = [\"sends\"]",
        &["mine.toml:28", "`sends`", "`sent`"],
    ),
    (
        "printed = \"3\"",
        "printed = \"3\"\n[plot.p]\ntitle = \"P\"\ndraw = \"calls\"\nat = 10\nuntill = \"1s\"",
        &["mine.toml:28", "did you mean `until`?"],
    ),
    (
        "printed = \"3\"",
        "plot = \"costs\"\nprinted = \"3\"\n[plot.cost]\ntitle = \"P\"\ndraw = \"varied\"",
        &["mine.toml:23", "`[plot.costs]`", "did you mean `cost`?"],
    ),
    ("printed = \"3\"", "printed = \"3", &["mine.toml:2"]),
    ("title = \"Mine\"", "title = \"Mine", &["mine.toml:2"]),
];

#[test]
fn a_bad_line_is_named_with_what_is_accepted() {
    let mut poor = Vec::new();
    for (line, instead, words) in ONE_LINE {
        // If the scenario file contains the tested line several times, the last one is replaced, because the keys of claims come last in
        // the file.
        let (before, after) = GOOD.rsplit_once(line).unwrap_or_else(|| panic!("no line {line}"));
        let refusal = refusal(&format!("{before}{instead}{after}"), &[]);
        poor.extend(lacking(refusal, words).map(|lack| format!("{instead}: {lack}")));
    }
    assert!(poor.is_empty(), "{}", poor.join("\n"));
}

#[test]
fn files_that_are_not_scenarios_are_refused() {
    let nested = "[".repeat(1 << 20);
    let nested_value = format!("a = {}", "[".repeat(1 << 20));
    let dotted = format!("a{} = 1", ".a".repeat(1 << 18));
    let files: &[(&str, &[&str])] = &[
        ("", &["mine.toml", "`name`"]),
        ("# nothing\n", &["mine.toml", "`name`"]),
        ("\0\0\0\0", &["mine.toml:1"]),
        (&nested, &["mine.toml:1"]),
        (&nested_value, &["mine.toml:1"]),
        (&dotted, &["mine.toml"]),
    ];
    let poor: Vec<String> =
        files.iter().filter_map(|(contents, words)| lacking(refusal(contents, &[]), words)).collect();
    assert!(poor.is_empty(), "{}", poor.join("\n"));
}

#[test]
fn a_bad_setting_is_named() {
    let settings: &[(&str, &[&str])] = &[
        ("server.max_busy", &["`--set server.max_busy`", "write a key"]),
        ("=3", &["`--set =3`", "the key is empty"]),
        ("", &["--set", "write a key"]),
        ("repeats.often=3", &["`--set repeats.often=3`", "`repeats` holds no keys"]),
        ("server.max_bussy=3", &["did you mean `max_busy`?"]),
        ("server.loss=2", &["`loss` is 2"]),
        ("server.preset=githup", &["did you mean `github`?"]),
        ("server.scale=0.02", &["`scale` multiplies the limits of a preset"]),
        ("server.reject_first=many", &["`reject_first`", "many"]),
        ("repeets=3", &["--set repeets=3", "did you mean `repeats`?"]),
        ("repeats=0", &["`repeats` is 0"]),
        ("experiment.man.repeats=3", &["there is no experiment `man` (did you mean `main`?)"]),
        ("server.max_busy=0", &["experiment `main` varies this key"]),
        ("strategies.a=imediate", &["did you mean `immediate`?"]),
        ("strategies.c=immediate", &["`--set strategies.c=immediate`", "labelled `c`", "`a`, `b`"]),
        ("strategies.'a '=immediate", &["no experiment runs a strategy"]),
        ("experiment.mian={}", &["there is no experiment `mian` (did you mean `main`?)"]),
        ("figure.calls={}", &["there is no figure `calls`"]),
        ("workload.ops=[[[[", &["mine.toml", "[[[["]),
    ];
    let mut poor = Vec::new();
    for (setting, words) in settings {
        poor.extend(lacking(refusal(GOOD, &[setting]), words).map(|lack| format!("{setting}: {lack}")));
    }
    assert!(poor.is_empty(), "{}", poor.join("\n"));
}
