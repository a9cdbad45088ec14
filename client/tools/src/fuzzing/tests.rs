//! Test of the seeds in `fuzz/seeds/`, because a target learns nothing from a seed that its parser refuses.

use std::collections::BTreeMap;
use std::fs;

use dashboards::report::Document;
use experiments::checks::{Condition, refuse_unknown};
use judge::SuiteText;
use loadgen_core::Mix;
use mockserver_core::{AnswerSet, AnswersConfig, Config, Faults, Outages, Schedule, Script, read_patch};
use results::MergePart;
use tailback::{AdviceForms, StrategySpec};
use vocabulary::{Distribution, TextField, duration_text};

/// Whether a parser accepts a text.
type Accepts = fn(&str) -> bool;

/// Parsers of the fuzz targets, as the targets call them.
const PARSERS: [(&str, Accepts); 19] = [
    ("advice", |text| {
        let forms = text.lines().next().unwrap_or_default();
        TextField::read(&mut AdviceForms::default(), forms).is_ok()
    }),
    ("answers", |text| {
        let config = serde_json::from_str::<AnswersConfig>(text);
        config.is_ok_and(|config| AnswerSet::read(&config, ["primary", "secondary"]).is_ok())
    }),
    ("axis", crate::fuzzing::axis),
    ("condition", |text| {
        text.parse::<Condition>().is_ok_and(|condition| refuse_unknown(&[condition]).is_ok())
    }),
    ("distribution", |text| text.parse::<Distribution>().is_ok()),
    ("duration", |text| duration_text::parse(text).is_ok()),
    ("faults", |text| text.parse::<Faults>().is_ok()),
    ("formula", |text| format!("backoff:max-attempts=6,formula={text}").parse::<StrategySpec>().is_ok()),
    ("mix", |text| text.parse::<Mix>().is_ok()),
    ("outages", |text| text.parse::<Outages>().is_ok()),
    ("patch", |text| {
        read_patch(text.as_bytes()).is_ok_and(|patch| Config::default().patched(&patch).is_ok())
    }),
    ("recording", |text| {
        let (strategy, text) = text.split_once('\n').unwrap_or_default();
        let is_recording = recordings::read(text).is_ok_and(|recording| !recording.pairs.is_empty());
        let is_map = || recordings::Map::default().add_toml(text).is_ok();
        strategy.parse::<StrategySpec>().is_ok() && (is_recording || is_map())
    }),
    ("results", |text| {
        Document::read(&[("seed.json".to_owned(), text.to_owned())]).is_ok() || crate::fuzzing::baseline(text)
    }),
    ("scenario", crate::fuzzing::scenario),
    ("schedule", |text| text.parse::<Schedule>().is_ok()),
    ("script", |text| text.parse::<Script>().is_ok() || Script::from_json(text).is_ok()),
    ("shards", |text| MergePart::read(text).is_ok()),
    ("spec", |text| text.parse::<StrategySpec>().is_ok()),
    ("suite", |text| SuiteText::new(text.to_owned(), 3).parse().is_ok()),
];

/// Returns the names of the fuzz targets, each with its seeds, as `fuzz/run` collects them.
fn seeds() -> BTreeMap<String, Vec<String>> {
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let read = |path: &str| fs::read_to_string(format!("{client}/{path}"));
    let files_in = |folder: String| {
        let entries = fs::read_dir(format!("{client}/{folder}")).into_iter().flatten();
        entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| fs::read_to_string(path).unwrap())
            .collect::<Vec<_>>()
    };
    let manifest = read("../fuzz/Cargo.toml").unwrap();
    let names = manifest.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let with_seeds = |name: &str| {
        let lines = read(&format!("../fuzz/seeds/{name}.txt")).unwrap_or_default();
        let more = match name {
            "scenario" => files_in("tools/reproduce/scenarios".to_owned()),
            "suite" => files_in("tools/judge/suites".to_owned()),
            _ => Vec::new(),
        };
        let lines = lines.lines().map(str::to_owned);
        let all = lines.chain(files_in(format!("../fuzz/seeds/{name}"))).chain(more);
        (name.to_owned(), all.collect())
    };
    names.filter(|name| *name != "tailback-fuzz").map(with_seeds).collect()
}

#[test]
fn each_seed_of_a_fuzz_target_is_accepted_by_its_parser() {
    let seeds = seeds();
    assert!(seeds.keys().eq(PARSERS.map(|(name, _)| name).iter()), "{:?}", seeds.keys());
    let refused: Vec<_> = PARSERS
        .iter()
        .flat_map(|(name, accepts)| {
            assert!(!seeds[*name].is_empty(), "{name} has no seeds");
            seeds[*name].iter().filter(|seed| !accepts(seed)).map(move |seed| (name, seed))
        })
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
