//! Command that runs today's setting and the other one on the nominal server, with the seed of the search.

use experiments::recommend::Candidate;

use super::flags::{Flags, quoted};

pub(super) fn again(flags: &Flags, today: &Candidate, other: Option<&Candidate>) -> String {
    let same_text = other.is_none_or(|other| other.text == today.text);
    let strategies = match other {
        Some(other) if !same_text => format!("{},{}", today.text, other.text),
        _ => today.text.clone(),
    };
    let strategies = quoted(&strategies);
    let words = |flags: &Flags| flags.words().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let workers = other.filter(|other| other.in_flight != today.in_flight).and_then(|other| other.in_flight);
    let command = match (workers, today.in_flight) {
        (Some(workers), Some(of_today)) => format!(
            "loadgen sweep --simulate --repeats 1 --strategies {strategies} --vary in-flight={workers},{of_today} {}",
            words(&flags.without("in-flight"))
        ),
        _ if same_text => format!("loadgen --simulate --strategy {strategies} {}", words(flags)),
        _ => format!("loadgen compare --simulate --repeats 1 --strategies {strategies} {}", words(flags)),
    };
    command.trim_end().to_owned()
}
