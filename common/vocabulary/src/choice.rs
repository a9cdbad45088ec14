//! Enums whose values are configured as words. One table pairs each value with its word.

pub trait Choice: Copy + PartialEq + 'static {
    /// Every value of the enum with its word, in the order of help texts.
    const CHOICES: &'static [(&'static str, Self)];
}

pub trait ChoiceField {
    fn words(&self) -> Vec<&'static str>;

    fn word(&self) -> &'static str;

    /// Sets the field to the value that is configured by `word`. Returns false and changes nothing if no value of the
    /// enum has this word.
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

/// Defines an enum whose values are configured as words, each value beside its word. Without attributes of its own, the enum
/// derives `Clone`, `Copy`, `Debug`, `PartialEq` and `Eq`.
///
/// ```
/// vocabulary::choices! {
///     enum Jitter {
///         None = "none",
///         Full = "full",
///     }
/// }
/// # use vocabulary::ChoiceField as _;
/// assert_eq!(Jitter::Full.word(), "full");
/// ```
#[macro_export]
macro_rules! choices {
    ($(#[doc = $doc:expr])* $visible:vis enum $choice:ident $values:tt) => {
        $crate::choices! {
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            $visible enum $choice $values
        }
    };
    ($(#[$meta:meta])* $visible:vis enum $choice:ident { $($(#[$about:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        $visible enum $choice {
            $($(#[$about])* $value,)+
        }

        impl $crate::Choice for $choice {
            const CHOICES: &'static [(&'static str, Self)] = &[$(($word, Self::$value)),+];
        }
    };
}
