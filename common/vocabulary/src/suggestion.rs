//! Suggestions ("did you mean …?") for names that do not exist.

/// Maximum length in bytes of an unknown name for which a similar known name is searched.
const LONGEST: usize = 200;

/// Minimum length in bytes of an unknown name that may match a part of a known name. Shorter names are not searched for
/// as words inside known names.
const MIN_PART: usize = 3;

/// Returns the known name that differs from `typed` by the fewest typing errors. If no known name is similar enough,
/// returns the shortest known name that contains `typed` as a word: `fixed` is found in `fixed-window`.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let known: Vec<&str> = known.into_iter().filter(|_| typed.len() <= LONGEST).collect();
    let distances = known.iter().map(|name| (strsim::damerau_levenshtein(&typed, name), *name));
    let mistyped = distances
        .filter(|(distance, name)| *distance <= 1 + name.len() / 3 && *distance < typed.len())
        .min_by_key(|(distance, _)| *distance);
    let has_word = |name: &&&str| typed.len() >= MIN_PART && name.split(['-', ':']).any(|word| word == typed);
    let longer = || known.iter().filter(has_word).min_by_key(|name| name.len()).copied();
    mistyped.map(|(_, name)| name).or_else(longer)
}

pub fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, known).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_noise_finds_none() {
        let known = ["aimd", "full-jitter", "exponential"];
        assert_eq!(nearest("ful-jitter", known), Some("full-jitter"));
        assert_eq!(nearest("exponentail", known), Some("exponential"));
        assert_eq!(nearest("jitter", known), Some("full-jitter"));
        assert_eq!(nearest("AIMD", known), Some("aimd"));
        assert_eq!(nearest("zzzzzz", known), None);
        assert_eq!(nearest("c", ["a"]), None);
        assert_eq!(did_you_mean("amid", known), " (did you mean `aimd`?)");
    }
}
