//! All presets, with and without options behind their names.

use super::*;

fn refused(text: &str) -> String {
    expand(text, None).unwrap_err().to_string()
}

#[test]
fn every_preset_is_valid_scaled_and_without_any_one_limit() {
    for preset in server_presets() {
        for scale in [None, Some(0.02), Some(1e-6), Some(10.0)] {
            let Expanded { policy, answers, .. } = expand(&preset.name, scale).unwrap();
            let labels = policy.labels();
            let names: Vec<&str> = preset.limits.iter().map(|limit| &*limit.name).collect();
            assert_eq!(labels, names);
            crate::AnswerSet::read(&answers, names)
                .unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        }
        for limit in preset.limits.iter().filter(|_| preset.limits.len() > 1) {
            let text = format!("{}:{}=off", preset.name, limit.name);
            let Expanded { policy, answers, .. } = expand(&text, None).unwrap();
            let labels = policy.labels();
            crate::AnswerSet::read(&answers, labels.iter().map(String::as_str))
                .unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}

#[test]
fn every_figure_of_every_file_has_a_source_or_is_marked() {
    for preset in server_presets() {
        assert!(preset.read.starts_with("2026-"), "{}", preset.name);
        for limit in &preset.limits {
            assert!(!limit.about.is_empty() && (!limit.source.is_empty() || !limit.verified), "{limit:?}");
        }
        for fact in &preset.facts {
            assert!(!fact.about.is_empty() && (!fact.source.is_empty() || !fact.verified), "{fact:?}");
        }
    }
}

const MAX_UNSURE: usize = 7;

#[test]
fn unsure_figures_are_few_and_have_a_number_and_a_range() {
    for preset in server_presets() {
        assert!(preset.unsure.len() <= MAX_UNSURE, "{}", preset.name);
        for (figure, range) in &preset.unsure {
            let shown = format!("{}: {figure}={range}", preset.name);
            let (limit, key) = figure.split_once('.').expect(&shown);
            assert!(["rate", "burst", "limit", "cap", "queue"].contains(&key), "{shown}");
            let policy = preset.limit(limit).expect(&shown).policy().expect(&shown);
            let value = policy.parameters().iter().find(|info| info.key == key).expect(&shown).value.as_str();
            // The period of a rate follows a slash.
            let count: f64 = value.split('/').next().unwrap_or_default().parse().expect(&shown);
            let (low, high) = range.split_once("..").expect(&shown);
            let (low, high): (f64, f64) = (low.parse().expect(&shown), high.parse().expect(&shown));
            assert!(count > 0.0 && 0.0 < low && low <= 1.0 && 1.0 <= high && low < high, "{shown}");
        }
    }
}

#[test]
fn limits_are_set_and_switched_off_by_their_names() {
    let stack = |text: &str, scale| expand(text, scale).unwrap().policy.to_string();
    let all = stack("github", None);
    assert!(all.starts_with("primary=fixed-window:limit=5000,window=1h,align=first,key="), "{all}");
    let few = stack("github:points=off, creations=off,primary.limit=10", None);
    assert_eq!(
        few,
        "primary=fixed-window:limit=10,window=1h,align=first,key=header:authorization|address,\
         cost=GET /rate_limit 0|1 then \
         concurrent=concurrency:cap=100,queue=0,queue-timeout=5s,order=fifo,key=header:authorization|address"
    );
    // Values given by the user are not scaled.
    let scaled = stack("github:concurrent=off,creations=off,primary.limit=10", Some(0.02));
    assert!(scaled.starts_with("primary=fixed-window:limit=10,window=1h,"), "{scaled}");
    assert!(scaled.contains("points=fixed-window:limit=18,window=1m,"), "{scaled}");
    let keyed = stack("stripe:global-rate.key=all", None);
    assert!(
        keyed.starts_with("global-rate=token-bucket:rate=100/s,burst=100,refill=continuous then "),
        "{keyed}"
    );
}

#[test]
fn an_invalid_preset_reports_the_error_and_alternatives() {
    for (text, words) in [
        ("githup", "unknown preset `githup` (did you mean `github`?)"),
        (
            "github:point=off",
            "preset `github` has no limit `point` (did you mean `points`?); its limits are `primary`, `concurrent`, `points`, `creations`",
        ),
        ("github:secondary.limit=3", "preset `github` has no limit `secondary`"),
        (
            "github:points=10",
            "preset `github`: `points=10` is not a valid setting; switch off a limit, such as `points=off`, or set a parameter of a limit, such as `points.limit=900`",
        ),
        ("github:points", "preset `github`: `points` is not a valid setting"),
        ("github:points.limit", "preset `github`: `points.limit` is not a valid setting"),
        ("github:points=off,points=off", "preset `github` sets `points` twice"),
        (
            "github:points=off,points.limit=3",
            "preset `github`: `points` is switched off, so its parameters cannot be set; leave out `points=off` or `points.limit=3`",
        ),
        ("aws-api-gateway:account=off", "preset `aws-api-gateway`: every limit is switched off"),
        (
            "github:primary.limt=3",
            "preset `github`, limit `primary`: policy `fixed-window` has no parameter `limt` (did you mean `limit`?)",
        ),
        (
            "github:primary.limit=0",
            "preset `github`, limit `primary`: policy `fixed-window`: `limit=0` is not accepted",
        ),
        (
            "acme",
            "unknown preset `acme`; `mockserver presets` lists all presets. Describe another limit by `--policy ",
        ),
    ] {
        let error = refused(text);
        assert!(error.starts_with(words), "{text}: {error}");
    }
    let error = expand("github", Some(0.0)).unwrap_err().to_string();
    assert_eq!(error, "`scale` is 0; it must be a number from 0.000001 to 1000000, such as 0.02");
}

#[test]
fn a_preset_file_must_name_the_source_of_every_part() {
    let read = |text: &str| text.parse::<ServerPreset>().map_err(|error| error.to_string());
    let head = "name = 'x'\ntitle = 'X'\nread = '2026-11-21'\n";
    let limit = "[[limit]]\nname = 'a'\nabout = 'all'\npolicy = 'gcra'\n";
    for (rest, words) in [
        (limit.to_owned(), "`a` does not name a source; add `source`, or mark it with `verified = false`"),
        (limit.replace("gcra", "grca"), "the limit `a`: unknown policy `grca` (did you mean `gcra`?)"),
        (
            format!("{limit}source = 's'\n[reject.a]\nstatus = 429\n"),
            "no `[[fact]]` states the source of `[reject.a]`; add one",
        ),
        (
            format!("{limit}verified = false\n[[fact]]\nof = 'every'\nabout = 'x'\nsource = 's'\n"),
            "a `[[fact]]` has `of = \"every\"`, which is not a table of this file; the tables are ",
        ),
    ] {
        let error = read(&format!("{head}{rest}")).unwrap_err();
        assert!(error.starts_with(words), "{rest}: {error}");
    }
    assert!(read(&format!("{head}{limit}verified = false\n")).is_ok());
    assert!(
        read(&format!("{head}{limit}verfied = false\n")).unwrap_err().contains("unknown field `verfied`")
    );
}
