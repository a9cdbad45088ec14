//! Text for terminals: summaries, tables, warnings and progress lines.

pub(crate) mod causes;
pub(crate) mod notes;
pub(crate) mod progress;
pub(crate) mod ranking;
pub(crate) mod short_names;
pub(crate) mod stderr;
pub(crate) mod styled;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod wrapping;

pub(crate) use results::numbers as figures;
