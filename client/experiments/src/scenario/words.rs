//! Summary of the results of one claim of a scenario, in one line.

use results::ClaimVerdict;
use results::numbers::short;
use statistics::Summary;

use super::verdict::Found;

pub(super) fn together(found: &[Found], verdict: ClaimVerdict) -> String {
    if let [only] = found {
        return only.text.clone();
    }
    let (low, high) = found
        .iter()
        .flat_map(|one| one.middle.map_or([one.value, one.value], |(low, high)| [low, high]))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let mut text = format!("{}–{}", short(low), short(high));
    let shares = found.iter().filter_map(|one| Some(one.so_in? as f64 / one.runs as f64));
    if let Some(least) = shares.reduce(f64::min).filter(|_| verdict == ClaimVerdict::Holds) {
        text = format!("{text}, so in {:.0} % of runs at least", (least * 100.0).floor());
    }
    if found.iter().any(|one| one.runs == 1) {
        text.push_str(", 1 run");
    }
    let named = |wanted: &dyn Fn(ClaimVerdict) -> bool| {
        let cases = found.iter().filter(|one| wanted(one.verdict));
        cases.filter_map(|one| one.at.as_deref()).collect::<Vec<_>>()
    };
    if verdict != ClaimVerdict::HoldsPartly {
        return text;
    }
    let (so, not) =
        (named(&|one| one == ClaimVerdict::Holds), named(&|one| one == ClaimVerdict::DoesNotHold));
    let partly = named(&|one| one == ClaimVerdict::HoldsPartly);
    text = match (so.len(), not.len()) {
        (0, _) | (_, 0) => text,
        (some, others) if some <= others => format!("{text}; so: {}", so.join(", ")),
        _ => format!("{text}; not: {}", not.join(", ")),
    };
    if partly.is_empty() { text } else { format!("{text}; partly: {}", partly.join(", ")) }
}

pub(super) fn with_deviation(seeds: &Summary) -> String {
    match seeds.deviation {
        Some(deviation) => format!("{} ± {}", short(seeds.mean), short(deviation)),
        None => format!("{}, 1 run", short(seeds.mean)),
    }
}
