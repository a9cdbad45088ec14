//! Joins pieces of HTML, with a separator between any two.

use maud::{Markup, html};

pub(super) fn joined(pieces: impl IntoIterator<Item = Markup>, between: &str) -> Markup {
    html! {
        @for (index, piece) in pieces.into_iter().enumerate() {
            @if index > 0 { (between) }
            (piece)
        }
    }
}
