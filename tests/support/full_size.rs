//! Experiments that `cargo test` thins, because their full size takes minutes.

/// Returns true if the variable `TAILBACK_FULL_SIZE` is set, so that nothing is thinned.
pub(crate) fn is_full_size() -> bool {
    std::env::var_os("TAILBACK_FULL_SIZE").is_some()
}

/// Returns `full` in full size, and otherwise `thinned`.
pub(crate) fn full_or<T>(full: T, thinned: T) -> T {
    if is_full_size() { full } else { thinned }
}

/// Returns the words of a page's command. A reproduction has few runs, unless its command sets their number.
pub(crate) fn thinned<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let is_long = words.contains(&"reproduce") && !words.contains(&"--repeats");
    let few: &[&str] = if is_long && !is_full_size() { &["--repeats", "3"] } else { &[] };
    [words, few].concat()
}
