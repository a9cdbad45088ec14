//! Text for terminals: summaries, tables, warnings and progress lines.

pub mod causes;
pub mod notes;
pub mod progress;
pub mod ranking;
pub mod short_names;
pub mod stderr;
pub mod styled;
pub mod summary;
pub mod table;
pub mod wrapping;

pub use results::numbers as figures;
