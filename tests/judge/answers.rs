//! Bodies of the answers: usual ones, those of files, and those of presets.

use crate::support::{Folder, loadgen};

/// Returns what the client received in the situations 404, 429 and 503.
fn received(flags: &str) -> [String; 3] {
    let folder = Folder::new();
    folder.write("busy.xml", "<busy/>");
    folder.write("down.txt", "down");
    folder
        .write("client.sh", "curl --silent --write-out ' %{content_type}' \"$1/v1/x\" > $TAILBACK_SITUATION");
    folder.loadgen(&format!("judge --quiet --only 404,429,503 {flags} -- bash client.sh {{url}}")).exits(0);
    ["404", "429", "503"].map(|name| folder.read(name))
}

#[test]
fn rejections_have_bodies() {
    let [missing, busy, down] = received("");
    assert!(
        missing.contains(r#""code":"not_found""#) && busy.contains(r#""code":"rate_limited""#),
        "{missing}"
    );
    assert!(down.ends_with(r#""status":503} application/json"#), "{down}");
    let [missing, busy, down] = received("--body 429=busy.xml --body 5xx=down.txt --preset stripe");
    assert!(missing.contains("not_found"));
    assert_eq!([busy.as_str(), &down], ["<busy/> application/xml", "down text/plain; charset=utf-8"]);
    let [missing, busy, down] = received("--preset stripe");
    assert!(busy.contains("rate_limit") && down.contains("rate_limit") && !missing.contains("rate_limit"));
}

#[test]
fn a_client_that_cannot_parse_a_rejection_gets_the_remedy() {
    let client = "curl --silent $TAILBACK_URL/x; echo 'JSONDecodeError: Expecting value' >&2; exit 1";
    let left = loadgen(&["judge", "--only", "503", "--", "bash", "-c", client]).exits(0);
    let screen = left.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["| JSONDecodeError: Expecting value", "own error body with --body 503=FILE or --preset."] {
        assert!(screen.contains(words), "{screen}");
    }
    let unknown = loadgen(&["judge", "--preset", "opnai", "--", "true"]).exits(2);
    unknown.says(&["did you mean `openai`?"]);
}
