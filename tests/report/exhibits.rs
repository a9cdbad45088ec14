//! Pages of reproductions: figures beside the words and claims that they belong to.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::Folder;

/// A desk with the results of scenarios that ask for every kind of figure, and its page.
fn reproduced() -> (Folder, Value, String) {
    let desk = Folder::new();
    let ended = desk.loadgen(
        "reproduce exploring-backoff occ retry-delays --repeats 2 --quiet --json all.json --html all.html",
    );
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let (document, page) = (serde_json::from_str(&desk.read("all.json")).unwrap(), desk.read("all.html"));
    (desk, document, page)
}

fn plots(document: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let scenarios = document["scenarios"].as_array().unwrap().iter();
    scenarios
        .flat_map(|scenario| scenario["plots"].as_array().unwrap().iter().map(move |plot| (scenario, plot)))
}

#[test]
fn every_figure_stands_beside_its_words_and_claims() {
    let (_desk, document, page) = reproduced();
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
    let (desk, _, page) = reproduced();
    desk.done("report all.json -o again.html");
    assert!(page == desk.read("again.html"));
}

#[test]
fn figures_of_every_kind_can_be_drawn_alone() {
    let (desk, document, _) = reproduced();
    let mut kinds = BTreeSet::new();
    for (_, plot) in plots(&document).filter(|(_, plot)| kinds.insert(plot["draw"].to_string())) {
        let name = plot["name"].as_str().unwrap();
        desk.done(&format!("plot all.json --figure {name} -o a.svg"));
        let svg = desk.read("a.svg");
        assert!(svg.contains("class=\"series") && !svg.contains("NaN"), "{name}");
        let text = desk.done(&format!("plot all.json --figure {name}"));
        assert!(
            text.lines().count() > 20 && text.lines().all(|line| line.chars().count() <= 110),
            "{name}:\n{text}"
        );
    }
    assert!(kinds.len() >= 6, "{kinds:?}");
    let ended = desk.loadgen("plot all.json --figure calls-exponentail");
    assert!(ended.code == Some(2) && ended.stderr.contains("did you mean `calls-exponential`?"), "{ended:?}");
}
