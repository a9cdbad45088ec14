//! Secrets of the judged client: the words of its command, its output and the values of its queries reach no file.

use super::serve::Session;
use crate::support::{Folder, loadgen, request};

const SECRET: &str = "hunter-2";

#[test]
fn no_secret_of_the_client_reaches_a_file() {
    let folder = Folder::new();
    folder.write(
        "client.sh",
        "curl --silent \"$1/login?user=$2\"; for i in 1 2; do curl --silent \"$1/v1/things?key=$2&limit=3\"; done; echo; echo $2",
    );
    let files =
        ["client.sh", "j.json", "j.xml", "r.json"].map(|name| folder.path(name).display().to_string());
    let [client, json, junit, recording] = &files;
    let flags = ["judge", "--only", "404", "--call", "GET /v1/*", "--json", json, "--junit", junit];
    let command = ["--recording", recording, "--", "bash", client, "{url}", SECRET, SECRET];
    let left = loadgen(&[&flags[..], &command].concat()).exits(99);
    assert!(left.stdout.contains(&format!("| {SECRET}")), "the terminal has the output: {}", left.stdout);
    for file in ["j.json", "j.xml", "r.json"] {
        let text = folder.read(file);
        assert!(!text.contains(SECRET) && text.contains(client.as_str()), "{file}: {text}");
    }
    let document: serde_json::Value = serde_json::from_str(&folder.read("j.json")).unwrap();
    assert_eq!(document["command"], serde_json::json!(["bash", client]));
    let run = &document["situations"][0]["runs"][0];
    assert_eq!(run["attempts"][1]["target"], "/v1/things?key=…&limit=…");
    assert_eq!(run["others"][0]["target"], "/login?user=…");
}

#[test]
fn no_secret_of_the_answer_or_of_a_refused_value_is_written() {
    let folder = Folder::new();
    folder.write("answer.json", &format!("{{\"token\":\"{SECRET}\"}}"));
    folder.write("client.sh", "curl --silent \"$1/x\"; curl --silent \"$1/x\"");
    let [answer, client, recording] =
        ["answer.json", "client.sh", "r.json"].map(|name| folder.path(name).display().to_string());
    let header = format!("Set-Cookie: {SECRET}");
    let flags = ["judge", "--only", "503", "-H", &header, "--body", &answer, "--recording", &recording];
    loadgen(&[&flags[..], &["--", "bash", &client, "{url}"]].concat());
    let text = folder.read("r.json");
    assert!(text.contains("\"steps\"") && !text.contains(SECRET), "{text}");
    for value in [format!("Authorization {SECRET}"), format!("Authorization: {SECRET}\nx"), SECRET.to_owned()]
    {
        for args in [&["--header", &value][..], &["judge", "--env", &value]] {
            let left = loadgen(args).exits(2);
            assert!(!left.stderr.contains(SECRET), "{args:?}: {}", left.stderr);
        }
    }
}

/// Without an id, ops are distinguished by their whole query, although no record has its values.
#[test]
fn no_value_of_a_query_reaches_the_records_of_a_session() {
    let folder = Folder::new();
    let file = folder.path("j.json");
    let session = Session::start(&["--only", "429", "--json", file.to_str().unwrap()]);
    let send =
        |key: &str| request(session.address("429"), "GET", &format!("/things?key={SECRET}{key}"), "").status;
    assert_eq!([send("a"), send("b"), send("a"), send("a")], [429, 429, 429, 200]);
    let ended = session.end("429").to_string();
    session.finish();
    for text in [ended, folder.read("j.json")] {
        assert!(!text.contains(SECRET) && text.contains("/things?key=…"), "{text}");
    }
}
