//! Situations that depend on the client: the status of forms of advice, time zones, further runs and tables.

use super::{document, findings, judged, verdict};
use crate::support::{Folder, loadgen};

#[test]
fn forms_of_advice_come_with_the_status_that_is_retried() {
    let Some(document) = document(&["--only", "garbage,day"], "only-503", &[]) else { return };
    let title = |name: &str| {
        let all = document["situations"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap()["title"].clone()
    };
    assert_eq!([title("garbage"), title("day")], ["503, Retry-After: soon", "503, Retry-After: 86400"]);
    assert_eq!([verdict(&document, "garbage").0, verdict(&document, "day").0], ["passed", "passed"]);
}

#[test]
fn one_sentence_stands_for_all_situations_of_a_status_that_is_never_retried() {
    let command = ["--", "curl", "--silent", "--fail", "{url}/x"];
    let left =
        loadgen(&[&["judge", "--strict", "--only", "429,throttled,date,garbage"], &command[..]].concat());
    let left = left.exits(99).says(&["failed: 5 of 6 situations are skipped (--strict)"]);
    let sentence = "429 is never retried, so 4 situations tell nothing: 429, throttled, date,\n    garbage.";
    assert!(left.stdout.contains(sentence), "{}", left.stdout);
}

#[test]
fn a_date_that_is_taken_for_local_time_is_found_in_its_time_zone() {
    let Some(found) = document(&["--only", "date"], "local-time", &[]) else { return };
    assert_eq!(findings(&found, "fail"), ["early-retry@date"]);
    let text = found["situations"].as_array().unwrap().last().unwrap()["findings"][0]["text"].to_string();
    assert!(text.contains("with TZ=Asia/Tokyo"), "{text}");
    let utc = document(&["--only", "date", "--env", "TZ=UTC"], "local-time", &[]).unwrap();
    assert_eq!(findings(&utc, "fail"), [""; 0]);
}

#[test]
fn own_delays_near_the_advice_are_no_pass() {
    let Some(document) = document(&["--only", "throttled"], "slow", &[]) else { return };
    assert_eq!(findings(&document, "fail"), ["early-retry@throttled"]);
    let text = document["situations"].as_array().unwrap().last().unwrap()["findings"][0]["text"].to_string();
    assert!(text.contains("instead of 6 s") && text.contains("when the advice was twice as long"), "{text}");
}

#[test]
fn an_emptied_body_and_another_number_of_attempts_are_failures() {
    let Some(found) = document(&["--only", "503"], "emptied", &[]) else { return };
    assert_eq!(findings(&found, "fail"), ["body-changed@503"]);
    let attempts = |number| {
        findings(
            &document(&["--only", "forever", "--expect-attempts", number], "correct", &[]).unwrap(),
            "fail",
        )
    };
    assert_eq!(attempts("3"), ["unexpected-attempts@forever"]);
    assert_eq!(attempts("4"), [""; 0]);
}

#[test]
fn tables_have_no_verdict() {
    let Some(document) = document(&["--only", "statuses,should-retry"], "correct", &[]) else { return };
    let rows: Vec<String> = document["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row["name"].as_str().unwrap(), row["reaction"].as_str().unwrap()))
        .collect();
    assert_eq!(
        (rows.len(), rows[0].as_str(), rows[8].as_str()),
        (9, "408 not_retried", "should-retry ignored")
    );
    assert_eq!(document["situations"].as_array().unwrap().len(), 2, "the controls of the advice");
    let screen = judged(&["--only", "500"], "correct", &[]).unwrap();
    assert_eq!(screen.stdout, "", "--quiet");
}

#[test]
fn long_names_do_not_run_into_the_title() {
    let folder = Folder::new();
    let name = "a-name-of-20-letters";
    let text = format!(
        "[[situation]]\nname = \"{name}\"\ntitle = \"404\"\nwhy = \"w\"\nsteps = [{{ status = 404 }}]\n"
    );
    folder.write("s.toml", &text);
    let left = folder.loadgen("judge --suite s.toml -- curl --silent {url}/x").exits(0);
    assert!(left.stdout.starts_with(&format!("{name}  404  ")), "{}", left.stdout);
}
