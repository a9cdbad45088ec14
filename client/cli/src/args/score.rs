//! What strategies are ranked by, as it is typed.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use results::Score;

/// Reads a score by its key.
pub(crate) fn score() -> impl TypedValueParser<Value = Score> {
    let values = Score::all().map(|score| PossibleValue::new(score.key()).help(score.help()));
    PossibleValuesParser::new(values).try_map(|key| key.parse::<Score>())
}
