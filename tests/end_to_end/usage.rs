//! Invalid command lines: exit code 2, a message that names the value, and nothing on stdout. Also covers texts that explain the usage.

use std::process::Command;

use crate::support::{Folder, loadgen, start_mockserver};

/// A duration that once overflowed its parser.
const OVERFLOWS: &str = "18446744073709551615s0.5s0.5s";

#[test]
fn bad_usage_exits_2_and_names_the_value_and_what_is_accepted() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["--strategy", "amid"], &["unknown strategy `amid`", "did you mean `aimd`?", "loadgen strategies"]),
        (&["--strategy", "aimd:bta=0.5"], &["`bta`", "`beta`"]),
        (&["--strategy", "aimd:beta=1.5"], &["1.5", "beta"]),
        (&["--strategy", "aimd:beta=half"], &["half", "beta"]),
        (&["--strategy", "constant:delay=soon"], &["soon", "delay"]),
        (&["--strategy", ""], &["--strategy"]),
        (&["--strategy", "constant+full-jitter"], &["retry polic"]),
        (&["--ops", "0"], &["--ops 0: ", "from 1 to 4000000000", "2k or 1M"]),
        (&["--ops", "-5"], &["--ops -5: ", "from 1 to 4000000000"]),
        (&["--seed", "-1"], &["--seed -1: ", "a whole number from 0"]),
        (&["--reject-status", "teapot"], &["--reject-status teapot: ", "from 400 to 599"]),
        (&["--rate", "-5/s"], &["--rate -5/s: "]),
        (&["--timeout", "-1s"], &["--timeout -1s: "]),
        (&["--loss", "half"], &["--loss half: ", "50%"]),
        (&["--loss", "150%"], &["--loss 150%: it must be at most 100%"]),
        (&["--strategy", "aimd:beta=0.5,beta=0.6"], &["`beta` twice"]),
        (&["--strategy", "aimd:max-attempts=3+full-jitter:max-attempts=5"], &["`max-attempts` twice"]),
        (&["--policy", "descriptor-pool:descriptors=5,descriptors=6"], &["`descriptors` twice"]),
        (
            &["reproduce", "occ", "--set", "repeats=1", "--set", "repeats=2"],
            &["--set", "`repeats` is set twice"],
        ),
        (&["plot", "no-such-file", "-f", "window", "-o", "x.png"], &["`x.png`", "SVG", "`x.svg`"]),
        (&["report", "no-such-file", "-o", "x.pdf"], &["`x.pdf`", "HTML", "`x.html`"]),
        (&["--ops", "many"], &["--ops many: "]),
        (&["--rate", "fast"], &["--rate fast: ", "/s"]),
        (&["--rate", "0/s"], &["--rate 0/s: "]),
        (&["--duration", "soon"], &["--duration soon: ", "50ms"]),
        (&["--duration", "0s"], &["--duration 0s: ", "longer than zero"]),
        (&["--duration", "1000000h"], &["--duration 1000000h: ", "longer than 100 years"]),
        (&["--service-time", OVERFLOWS], &["--service-time", "longer than 100 years"]),
        (&["--timeout", OVERFLOWS], &["--timeout", "longer than 100 years"]),
        (&["--outages", "1s..18446744073709551615s0.5s0.5s"], &["--outages", "longer than 100 years"]),
        (&["--strategy", "constant:delay=18446744073709551615s0.5s0.5s"], &["--strategy", "1day"]),
        (&["--timeout=-1s"], &["--timeout -1s: "]),
        (&["--header", "nonsense"], &["--header …: "]),
        (&["--method", "G T"], &["'G T'", "--method"]),
        (&["--mix", "GET repos"], &["--mix", "`repos` does not begin with `/`", "METHOD PATH[?QUERY]"]),
        (&["--mix", "GET /", "--method", "PUT"], &["--mix", "--method"]),
        (&["--mix", "GET /", "--kind", "read-modify-write"], &["--mix", "--kind read-modify-write"]),
        (&["--mix", "GET /metrics"], &["`/metrics` (--mix)", "admin endpoint of the mockserver"]),
        (
            &["--mix", "GET /metrics", "--simulate"],
            &["`/metrics` (--mix)", "admin endpoint of the mockserver"],
        ),
        (&["--api-keys", "0"], &["--api-keys 0: ", "from 1 to 1000000"]),
        (&["--api-keys", "3", "-H", "Authorization: x"], &["`--header authorization`", "`--api-keys`"]),
        (&["--arrivals", "burst", "--duration", "1s"], &["--arrivals burst", "--ops"]),
        (&["--drain", "1s"], &["--drain", "--duration"]),
        (&["--in-flight", "5", "--rate", "5/s"], &["--in-flight", "--rate"]),
        (&["--in-flight", "0"], &["--in-flight 0: "]),
        (&["--clients", "0"], &["--clients 0: "]),
        (&["--time-scale", "0"], &["--time-scale 0: ", "0.001 to 1000"]),
        (&["--max-busy", "0"], &["`max_busy` is 0", "1 to 1000000"]),
        (&["--reject-status", "200"], &["`reject_status` is 200", "400 to 599"]),
        (&["--service-time", "later"], &["--service-time later: "]),
        (&["--target", "ftp://127.0.0.1"], &["ftp://127.0.0.1", "http://127.0.0.1:8503/"]),
        (&["--target", "http://127.0.0.1:1", "--max-busy", "5"], &["--max-busy", "--target"]),
        (&["--body", "@no-such-file"], &["no-such-file", "--body"]),
        (&["--body", "@/dev/zero"], &["/dev/zero", "--body", "larger than 64 MiB"]),
        (&["--cacert", "/dev/zero"], &["/dev/zero", "--cacert", "larger than 64 MiB"]),
        (&["merge", "/dev/zero"], &["`/dev/zero` cannot be read", "larger than 1024 MiB"]),
        (&["reproduce", "--scenario", "/dev/zero"], &["/dev/zero", "--scenario", "larger than 64 MiB"]),
        (&["--cacert", "no-such-file"], &["no-such-file", "--cacert"]),
        (&["--no-such-flag"], &["--no-such-flag"]),
        (&["--strateggy", "aimd"], &["--strateggy", "--strategy"]),
        (&["no-such-command"], &["no-such-command"]),
        (&["strategies", "amid"], &["unknown strategy `amid`", "did you mean `aimd`?"]),
    ];
    for (args, words) in cases {
        let left = loadgen(args);
        assert_eq!(left.code, Some(2), "{args:?}: {left:?}");
        assert_eq!(left.stdout, "", "{args:?}");
        for word in *words {
            assert!(left.stderr.contains(word), "{args:?}: no `{word}` in: {}", left.stderr);
        }
        assert!(!left.stderr.contains("panicked"), "{args:?}: {}", left.stderr);
    }
}

/// Program, words before the answer, arguments and answer.
type Mistake = (&'static str, &'static str, &'static [&'static str], &'static str);

const MISTAKES: &[Mistake] = &[
    (
        "loadgen",
        "",
        &["compare", "http://localhost:8503", "-s", "none,aimd"],
        "a URL goes to --target: --target http://localhost:8503",
    ),
    ("loadgen", "", &["http://a", "http://b"], "a run has one target; leave out all URLs but one"),
    ("loadgen", "", &["http://a", "-t", "http://b"], "a run has one target; leave out all URLs but one"),
    ("loadgen", "", &["-n", "5", "compare"], "a subcommand comes first: loadgen compare"),
    ("loadgen", "", &["-q", "50"], "-q is --quiet and takes no value; a rate is `--rate 50/s`"),
    ("loadgen", "", &["-q", "50/s", "http://a"], "-q is --quiet and takes no value; a rate is `--rate 50/s`"),
    ("loadgen", "", &["-q50", "-n", "5"], "-q is --quiet and takes no value; a rate is `--rate 50/s`"),
    ("loadgen", "", &["-n", "5", "-q", "2.5"], "-q is --quiet and takes no value; a rate is `--rate 2.5/s`"),
    (
        "loadgen",
        "",
        &["sweep", "--simulate", "--vary", "ops=1", "-q=50"],
        "-q is --quiet and takes no value; a rate is `--rate 50/s`",
    ),
    (
        "loadgen",
        "",
        &["compar"],
        "unrecognized subcommand 'compar' (did you mean `compare`?); `loadgen --help` lists all commands",
    ),
    (
        "loadgen",
        "",
        &["-n", "5", "result.json"],
        "unrecognized subcommand 'result.json'; `loadgen --help` lists all commands",
    ),
    ("loadgen", "", &["run", "--strategy", "aimd"], "a run needs no subcommand: loadgen --strategy aimd"),
    ("loadgen", "", &["simulate", "--ops", "5"], "a run needs no subcommand: loadgen --simulate --ops 5"),
    ("mockserver", "", &["--port", "9999"], "a port is set with --listen; write --listen 127.0.0.1:9999"),
    (
        "mockserver",
        "",
        &["--rate", "10/s"],
        "a rate limit is set with --policy; write --policy token-bucket:rate=10/s,burst=10",
    ),
    (
        "loadgen",
        "--strategy preset:openai,max-retries=5: `preset:openai` has no parameter `max-retries`; ",
        &["--strategy", "preset:openai,max-retries=5"],
        "did you mean max-attempts=6? (attempts = retries + 1)",
    ),
    (
        "loadgen",
        "--strategy preset:urllib3,total=5: `preset:urllib3` has no parameter `total`; ",
        &["--strategy", "preset:urllib3,total=5"],
        "did you mean max-attempts=6? (attempts = retries + 1)",
    ),
    (
        "loadgen",
        "--fail-if 'p99 > 100': ",
        &["--simulate", "--fail-if", "p99 > 100"],
        "did you mean op_latency_ms.p99 (ms) or attempt_latency_ms.p99?",
    ),
    ("loadgen", "", &["--simulate", "--loss", "150%"], "--loss 150%: it must be at most 100%"),
    ("mockserver", "", &["--loss", "150%"], "--loss 150%: it must be at most 100%"),
    (
        "loadgen",
        "",
        &["reproduce", "--scenario", "yaml.yaml"],
        "yaml.yaml is not TOML (it looks like YAML); scenarios are TOML, see docs/scenarios.md",
    ),
    (
        "loadgen",
        "",
        &["reproduce", "--scenario", "mine.json"],
        "mine.json is not TOML (it looks like JSON); scenarios are TOML, see docs/scenarios.md",
    ),
    (
        "loadgen",
        "--preset open-ai: ",
        &["--preset", "open-ai"],
        "unknown preset `open-ai` (did you mean `openai`?)",
    ),
    ("loadgen", "", &["aimd", "-n", "5"], "a strategy goes to --strategy: loadgen --strategy aimd -n 5"),
    (
        "loadgen",
        "",
        &["compare", "aimd", "full-jitter", "--simulate"],
        "strategies go to --strategies: loadgen compare --strategies aimd,full-jitter",
    ),
    (
        "loadgen",
        "",
        &["strategies", "aimd", "--print-settings", "urllib3"],
        "urllib3 has no limiter like `aimd`; nearest: `loadgen strategies 'preset:urllib3-usual' \
             --print-settings urllib3`",
    ),
];

#[test]
fn frequent_mistakes_are_answered_with_the_correct_command() {
    let folder = Folder::new();
    folder.write("yaml.yaml", "# mine\nname: occ\nexperiment:\n  - ops: 5\n");
    folder.write("mine.json", "{\"name\": \"occ\"}");
    for (program, before, args, words) in MISTAKES {
        let path = if *program == "loadgen" {
            env!("CARGO_BIN_EXE_loadgen")
        } else {
            env!("CARGO_BIN_EXE_mockserver")
        };
        let output = Command::new(path).args(*args).current_dir(folder.path(".")).output().unwrap();
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            format!("error: {before}{words}\n"),
            "{args:?}"
        );
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    }
}

#[test]
fn flags_of_other_load_generators_and_negations_are_accepted() {
    let config = |args: &[&str]| {
        let mut config = loadgen(&[args, &["--print-config"]].concat()).exits(0).json();
        config.as_object_mut().unwrap().remove("command_line");
        config
    };
    let short = config(&["-n", "100", "-c", "10", "-z", "5s"]);
    assert_eq!(short, config(&["--ops", "100", "--in-flight", "10", "--duration", "5s"]));
    let negated = config(&["--no-retry-failed", "--no-rejects-occupy"]);
    assert_eq!(negated, config(&["--retry-failed", "false", "--rejects-occupy", "false"]));
    assert_ne!(negated, config(&[]));
    assert_eq!(config(&["--retry-failed", "true", "--rejects-occupy", "true"]), config(&[]));
}

#[test]
fn bad_usage_of_the_server_exits_2_and_names_the_value() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["--listen", "nowhere"], &["nowhere", "--listen", "127.0.0.1:8503"]),
        (&["--listen", ":8503"], &[":8503", "--listen", "`127.0.0.1:8503`", "`0.0.0.0:8503`"]),
        (&["--listen", "localhost:81"], &["--listen", "`127.0.0.1:81`"]),
        (&["--max-busy", "-5"], &["-5", "--max-busy"]),
        (&["--listen", "127.0.0.1:99999"], &["127.0.0.1:99999"]),
        (&["--max-busy", "0"], &["`max_busy` is 0"]),
        (&["--max-busy", "-1"], &["-1"]),
        (&["--seed", "one"], &["one", "--seed", "a whole number from 0"]),
        (&["--threads", "-1"], &["-1", "--threads", "from 1 to 256"]),
        (&["--service-time", "exp(soon)"], &["exp(soon)", "--service-time"]),
        (&["--service-time", OVERFLOWS], &["--service-time", "longer than 100 years"]),
        (&["--rejects-occupy", "maybe"], &["maybe", "--rejects-occupy"]),
        (&["--reject-status", "99999"], &["99999", "--reject-status"]),
        (&["--time-scale", "NaN"], &["NaN", "0.001 to 1000"]),
        (&["--no-such-flag"], &["--no-such-flag"]),
    ];
    for (args, words) in cases {
        let left = start_mockserver(args).finish();
        assert_eq!((left.code, left.stdout.as_str()), (Some(2), ""), "{args:?}: {left:?}");
        for word in *words {
            assert!(left.stderr.contains(word), "{args:?}: no `{word}` in: {}", left.stderr);
        }
    }
}

#[test]
fn what_is_hardly_meant_is_run_with_a_warning() {
    let strategy = "aimd+aimd+full-jitter:base=1h,cap=1s";
    let several = ["--strategies", &format!("none,{strategy}"), "--repeats", "2"];
    for args in [
        [&["--strategy", strategy][..]].concat(),
        [&["compare"], &several[..]].concat(),
        [&["sweep", "--vary", "max-busy=5,6"], &several[..]].concat(),
    ] {
        let left = loadgen(&[&args[..], &["--simulate", "--ops", "5"]].concat()).exits(0);
        let said = left.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in ["warning: ", "`aimd` more than once", "`cap=1s` is below `base=1h`"] {
            assert!(said.contains(words), "{args:?}: no `{words}` in: {said}");
        }
    }
}

#[test]
fn thousands_and_shares_are_read_as_people_write_them() {
    let config = |args: &[&str]| {
        let mut config = loadgen(&[args, &["--print-config"]].concat()).exits(0).json();
        config.as_object_mut().unwrap().remove("command_line");
        config
    };
    let given = config(&[
        "--ops",
        "1.5k",
        "--clients",
        "2K",
        "--max-busy",
        "1k",
        "--loss",
        "50%",
        "--in-flight",
        "1k",
    ]);
    assert_eq!(given["workload"]["ops"], 1500);
    assert_eq!(
        (&given["workload"]["clients"], &given["workload"]["in_flight"]),
        (&2000.into(), &1000.into())
    );
    assert_eq!(
        (&given["server_model"]["max_busy"], &given["server_model"]["loss"]),
        (&1000.into(), &0.5.into())
    );
    assert_eq!(config(&["--ops", "2M", "--max-busy", "50"])["workload"]["ops"], 2_000_000);
}

#[test]
fn strategies_are_listed_and_explained() {
    let list = loadgen(&["strategies", "--explain"]).exits(0).stdout;
    let names = [
        "none",
        "immediate",
        "constant",
        "uniform",
        "linear",
        "exponential",
        "full-jitter",
        "equal-jitter",
        "decorrelated-jitter",
        "thain",
        "fixed-window",
        "aimd",
        "oracle",
        "retry-budget",
        "breaker",
    ];
    for name in names {
        let listed = list.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert!(listed, "no `{name}` in: {list}");
        let explained = loadgen(&["strategies", name]).exits(0).stdout;
        assert!(explained.contains(name), "{explained}");
    }
    let aimd = loadgen(&["strategies", "aimd"]).exits(0).stdout;
    for words in ["beta", "0.9", "initial", "20", "ssthresh", "1024", "variant", "reno"] {
        assert!(aimd.contains(words), "no `{words}` in: {aimd}");
    }
}

/// Values of headers are left out, because they may be secrets.
#[test]
fn print_config_shows_every_default_and_runs_nothing() {
    let args =
        ["--print-config", "--strategy", "aimd:beta=0.5", "--max-busy", "7", "-H", "authorization: secret"];
    let left = loadgen(&args).exits(0);
    assert_eq!(left.stderr, "");
    let config = left.json();
    assert_eq!(config["server"], "embedded");
    assert_eq!(config["strategy"][0]["name"], "aimd");
    assert_eq!(config["strategy"][0]["parameters"]["beta"], "0.5");
    assert_eq!(config["strategy"][0]["parameters"]["initial"], "20");
    assert_eq!(config["workload"]["ops"], 2000);
    assert_eq!(config["workload"]["arrivals"], "poisson");
    assert_eq!(config["timeout"], "30s");
    assert_eq!((config["seed"].as_u64(), config["repeats"].as_u64()), (Some(1), Some(1)));
    assert_eq!(config["server_model"]["max_busy"], 7);
    assert_eq!(config["server_model"]["service_time"], "500ms");
    assert!(!left.stdout.contains("secret"), "values of headers may be secrets");
}

#[test]
fn help_shows_examples_and_exit_codes_and_version_is_printed() {
    let help = loadgen(&["--help"]).exits(0).stdout;
    for words in ["Examples:", "loadgen --strategy aimd --ops 2000", "Exit codes:", "69", "74", "130"] {
        assert!(help.contains(words), "no `{words}` in: {help}");
    }
    let measuring = ["0 ", "1 ", "2 ", "69 ", "70 ", "74 ", "129, 130 and 143 interrupted."];
    for (command, more) in [("compare", &["99 "][..]), ("sweep", &[]), ("reproduce", &[])] {
        let help = loadgen(&[command, "--help"]).exits(0).stdout;
        let codes = help.split_once("Exit codes: ").map(|(_, codes)| codes.replace('\n', " ")).unwrap();
        for code in measuring.iter().chain(more) {
            assert!(codes.contains(code), "no `{code}` in: {codes}");
        }
    }
    let help = start_mockserver(&["--help"]).finish().exits(0).stdout;
    assert!(help.contains("Examples:") && help.contains("--max-busy"), "{help}");
    for signalled in ["129", "130", "143"] {
        assert!(help.contains(signalled), "no `{signalled}` in: {help}");
    }
    assert!(loadgen(&["--version"]).exits(0).stdout.starts_with("loadgen "));
}
