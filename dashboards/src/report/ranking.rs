//! The order of a document's strategies, and where each stands.

use results::{RunFigures, Score, Standing};

use super::document::Document;
use super::strategy::Strategy;

/// A strategy, and where it stands among those of its document.
pub(super) struct Ranked<'a> {
    pub(super) strategy: &'a Strategy,
    pub(super) standing: Standing,
}

impl Ranked<'_> {
    /// Its share of ops done, as that of 0 to 1, in time where that was asked for.
    pub(super) fn share(&self) -> f64 {
        self.standing.share
    }

    /// The mean of the attempts that a success cost; nothing when a run had none.
    pub(super) fn effort(&self) -> Option<f64> {
        Some(self.standing.figure_of_all(Score::attempts_per_success())?.mean)
    }
}

/// In the order that the comparison found, if there is one, else in that of `results`. `None` when they cannot be compared.
pub(super) fn ranked(document: &Document) -> Option<Vec<&Strategy>> {
    let places = match places(document)? {
        Some(places) => places,
        None => by_results(document, &standings(document)),
    };
    Some(in_order(&places).into_iter().map(|index| &document.strategies[index]).collect())
}

/// The same with their standings, where the strategies did not do the same work and the share of ops done comes before all else.
pub(super) fn ranked_by_share(document: &Document) -> Option<Vec<Ranked<'_>>> {
    let found = places(document)?;
    // Ranks of those that did all alike take no share, and a while to find.
    let alike = |strategy: &Strategy| {
        let limited =
            |run: &super::run::Run| run.result.as_ref().is_some_and(|run| run.config.within.is_some());
        strategy.complete() && !strategy.runs.iter().any(limited)
    };
    if document.strategies.len() < 2 || document.strategies.iter().all(alike) {
        return None;
    }
    let standings = standings(document);
    if !results::ranked_by_share(&standings) {
        return None;
    }
    let places = found.unwrap_or_else(|| by_results(document, &standings));
    let names = names(document);
    let ranked = |index: usize| {
        let standing = standings.iter().find(|standing| standing.strategy == names[index])?.clone();
        Some(Ranked { strategy: &document.strategies[index], standing })
    };
    in_order(&places).into_iter().map(ranked).collect()
}

/// The place of every strategy in the ranking that the document holds, if it holds one of all. `None` when they cannot be compared.
#[expect(clippy::option_option, reason = "that nobody may rank is another matter than that nobody has")]
fn places(document: &Document) -> Option<Option<Vec<usize>>> {
    let strategies = &document.strategies;
    let conditions = strategies.first()?.conditions();
    if strategies.iter().any(|strategy| strategy.conditions() != conditions) {
        return None;
    }
    let found =
        |strategy: &Strategy| document.ranking.iter().position(|name| *name == strategy.runs[0].strategy);
    Some(strategies.iter().map(found).collect())
}

fn in_order(places: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|index| places[*index]);
    order
}

/// The places of strategies by the ranking of `results`.
fn by_results(document: &Document, standings: &[Standing]) -> Vec<usize> {
    let place = |name: &String| standings.iter().position(|standing| standing.strategy == *name);
    names(document).iter().enumerate().map(|(number, name)| place(name).unwrap_or(number)).collect()
}

/// By the names below.
fn standings(document: &Document) -> Vec<Standing> {
    let kept = |strategy: &Strategy| {
        let runs = strategy.runs.iter().filter_map(|run| run.result.as_deref());
        RunFigures::of(RunFigures::ranked(document.by), runs)
    };
    let named: Vec<(String, RunFigures)> =
        names(document).into_iter().zip(document.strategies.iter().map(kept)).collect();
    results::standings(&named, document.by, 1)
}

/// The strategies' own names, which say who knows the future; or else numbers, which tell groups of one strategy apart.
fn names(document: &Document) -> Vec<String> {
    let names: Vec<&str> =
        document.strategies.iter().map(|strategy| strategy.runs[0].strategy.as_str()).collect();
    let unique = (1..names.len()).all(|index| !names[..index].contains(&names[index]));
    let name = |(number, name): (usize, &&str)| if unique { (*name).to_owned() } else { number.to_string() };
    names.iter().enumerate().map(name).collect()
}
