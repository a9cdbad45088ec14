//! Sentence on whether the winner stays the same against servers whose configuration is slightly changed (`--sensitivity`).

use super::sentence::Sentence;
use crate::Variation;

/// Returns a sentence such as `Same winner with cap ±20 %, lognormal service, jittered network.` If the winner changes, the sentence states
/// the first change, such as `! with cap +20 % full-jitter is first`. Returns `None` without changed servers. Also returns `None` for
/// documents of earlier versions, which lack the winner.
pub fn same_winner_sentence(variations: &[Variation]) -> Option<Sentence> {
    if variations.is_empty() || variations.iter().any(|tried| tried.same_winner.is_none()) {
        return None;
    }
    if let Some(tried) = variations.iter().find(|tried| tried.same_winner == Some(false)) {
        let start = Sentence::default().words(format!("! with {} ", tried.name));
        let named = match &tried.winner {
            Some(winner) => start.name(winner),
            None => start.words("no strategy"),
        };
        return Some(named.words(" is first"));
    }
    let mut names: Vec<&str> = variations.iter().map(|tried| tried.name.as_str()).collect();
    let caps = names.iter().filter(|name| name.starts_with("cap ")).count();
    if caps == 2 {
        names.retain(|name| !name.starts_with("cap "));
        names.insert(0, "cap ±20 %");
    }
    let same = if variations[0].winner.is_some() { "Same winner" } else { "Also no certain winner" };
    Some(Sentence::default().words(format!("{same} with {}.", names.join(", "))))
}
