//! Parser of `--by`, the figure that strategies are ranked by.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use results::Score;

pub(crate) fn score() -> impl TypedValueParser<Value = Score> {
    let values = Score::all().map(|score| PossibleValue::new(score.key()).help(score.help()));
    PossibleValuesParser::new(values).try_map(|key| key.parse::<Score>())
}
