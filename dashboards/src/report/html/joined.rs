//! Pieces of markup one after the other.

use maud::{Markup, html};

/// The pieces, with a text between any two.
pub(super) fn joined(pieces: impl IntoIterator<Item = Markup>, between: &str) -> Markup {
    html! {
        @for (index, piece) in pieces.into_iter().enumerate() {
            @if index > 0 { (between) }
            (piece)
        }
    }
}
