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
pub use results::numbers::{at_least, counted, dash, milliseconds, percent, seconds, short, thousands};
pub use stderr::{labelled_to_stderr, to_stderr};
pub use styled::{Styled, to_people};
pub use table::{Column, LongNames, Table};
pub use wrapping::{labelled, terminal_width, widest, wrapped, wrapped_to};
