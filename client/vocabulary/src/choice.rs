//! Enums whose values are typed as words: value and word stand together in one table, and nowhere else.

/// An enum whose values have words.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value with its word, in the order in which help texts list them.
    const CHOICES: &'static [(&'static str, Self)];
}

/// A field that holds a [`Choice`], whichever.
pub trait ChoiceField {
    /// The words that it can be set to.
    fn words(&self) -> Vec<&'static str>;

    /// The word of its value.
    fn word(&self) -> &'static str;

    /// Sets it to the value of this word; false, and nothing else, when no value has it.
    fn choose(&mut self, word: &str) -> bool;
}

impl<T: Choice> ChoiceField for T {
    fn words(&self) -> Vec<&'static str> {
        T::CHOICES.iter().map(|(word, _)| *word).collect()
    }

    fn word(&self) -> &'static str {
        let chosen = T::CHOICES.iter().find(|(_, value)| value == self);
        chosen.map_or("", |(word, _)| word)
    }

    fn choose(&mut self, word: &str) -> bool {
        let chosen = T::CHOICES.iter().find(|(known, _)| *known == word);
        if let Some((_, value)) = chosen {
            *self = *value;
        }
        chosen.is_some()
    }
}
