//! Sentences of an answer as HTML, with the names of strategies as code.

use maud::{Markup, html};
use results::{Part, Sentence};

pub(super) fn sentence(sentence: &Sentence) -> Markup {
    html! {
        @for part in &sentence.parts {
            @match part {
                Part::Words(words) => (words),
                Part::Name(name) => code { (name) },
            }
        }
    }
}
