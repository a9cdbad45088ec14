//! "Did you mean …?" for names that do not exist.

/// What is longer is no name that was mistyped, in bytes.
const LONGEST: usize = 200;

/// The known name nearest to what was typed, when it is near enough to be meant.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .filter(|_| typed.len() <= LONGEST)
        .map(|name| (strsim::damerau_levenshtein(&typed.to_lowercase(), name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 3 && *distance < typed.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `; did you mean `NAME`?`, or nothing when no known name is near.
pub fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, known).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_noise_finds_none() {
        let known = ["aimd", "full-jitter", "exponential"];
        assert_eq!(nearest("ful-jitter", known), Some("full-jitter"));
        assert_eq!(nearest("exponentail", known), Some("exponential"));
        assert_eq!(nearest("AIMD", known), Some("aimd"));
        assert_eq!(nearest("zzzzzz", known), None);
        assert_eq!(nearest("c", ["a"]), None);
        assert_eq!(did_you_mean("amid", known), "; did you mean `aimd`?");
    }
}
