//! Reports of reproductions: plots beside the text and claims that they belong to.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use crate::support::Folder;

/// Result and report of scenarios with every kind of plot, created once for all tests.
static REPRODUCED: LazyLock<(String, String)> = LazyLock::new(|| {
    let folder = Folder::new();
    let ended = folder.loadgen(
        "reproduce exploring-backoff occ retry-delays --repeats 2 --quiet --json all.json --html all.html",
    );
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    (folder.read("all.json"), folder.read("all.html"))
});

fn saved() -> Folder {
    let folder = Folder::new();
    folder.write("all.json", &REPRODUCED.0);
    folder
}

fn document() -> Value {
    serde_json::from_str(&REPRODUCED.0).unwrap()
}

fn plots(document: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let scenarios = document["scenarios"].as_array().unwrap().iter();
    scenarios
        .flat_map(|scenario| scenario["plots"].as_array().unwrap().iter().map(move |plot| (scenario, plot)))
}

#[test]
fn claims_are_counted_in_sentences_without_a_doubled_comma() {
    let page = &REPRODUCED.1;
    assert!(page.contains(" of this project, which no source makes: "), "the scenarios have some");
    assert!(!page.contains(",,"));
    let heading = page.split("</h1>").next().unwrap();
    assert_eq!(heading.matches("as expected").count(), 1, "{heading}");
}

#[test]
fn every_figure_stands_beside_its_words_and_claims() {
    let (document, page) = (document(), &REPRODUCED.1);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let plain = page.replace("&#39;", "'").replace("&quot;", "\"").replace("&lt;", "<");
    let mut exhibits = plain.split(" data-plot=\"").skip(1);
    for (scenario, plot) in plots(&document) {
        let exhibit = exhibits.next().expect("an exhibit for every plot, in their order");
        let exhibit = exhibit.split("<div class=\"exhibit").next().unwrap();
        assert!(exhibit.starts_with(plot["name"].as_str().unwrap()), "{}", plot["name"]);
        assert!(exhibit.contains("<figure") && exhibit.contains("class=\"series"), "{}", plot["name"]);
        assert!(exhibit.contains(plot["shows"].as_str().unwrap()), "{}", plot["name"]);
        for claim in plot["claims"].as_array().unwrap() {
            let claim = &scenario["claims"][usize::try_from(claim.as_u64().unwrap()).unwrap()];
            for key in ["says", "published", "ours", "verdict"] {
                let said = claim[key].as_str().unwrap().trim_start_matches('-');
                assert!(exhibit.contains(said), "{}: {said}", plot["name"]);
            }
        }
    }
    assert!(exhibits.next().is_none());
}

#[test]
fn a_saved_reproduction_makes_the_same_page() {
    let folder = saved();
    folder.done("report all.json -o again.html");
    assert!(REPRODUCED.1 == folder.read("again.html"));
}

#[test]
fn figures_of_every_kind_can_be_drawn_alone() {
    let (folder, document) = (saved(), document());
    let mut kinds = BTreeSet::new();
    for (_, plot) in plots(&document).filter(|(_, plot)| kinds.insert(plot["draw"].to_string())) {
        let name = plot["name"].as_str().unwrap();
        folder.done(&format!("plot all.json --figure {name} -o a.svg"));
        let svg = folder.read("a.svg");
        assert!(svg.contains("class=\"series") && !svg.contains("NaN"), "{name}");
        let text = folder.done(&format!("plot all.json --figure {name}"));
        assert!(
            text.lines().count() > 20 && text.lines().all(|line| line.chars().count() <= 110),
            "{name}:\n{text}"
        );
    }
    assert!(kinds.len() >= 6, "{kinds:?}");
    let ended = folder.loadgen("plot all.json --figure calls-exponentail");
    assert!(ended.code == Some(2) && ended.stderr.contains("did you mean `calls-exponential`?"), "{ended:?}");
}
