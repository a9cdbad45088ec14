//! Generated parts of the pages in `docs/`.

/// Compares a generated text with the one in a page, between the comments that name the part and its test. With `WRITE_DOCS`,
/// writes the text to the page instead.
pub(crate) fn is_current(page: &str, name: &str, test: &str, content: &str) {
    let file = format!("{}/docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let (begin, end) = (format!("<!-- {name}: written by {test} -->\n"), format!("<!-- end of {name} -->\n"));
    let whole = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = whole.split_once(&begin).unwrap_or_else(|| panic!("docs/{page} has no {begin}"));
    let (there, after) = rest.split_once(&end).unwrap_or_else(|| panic!("docs/{page} has no {end}"));
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&file, format!("{before}{begin}{content}{end}{after}")).unwrap();
        return;
    }
    let module = test.trim_end_matches(".rs").rsplit('/').next().unwrap();
    let first = content.lines().zip(there.lines()).find(|(now, there)| now != there);
    assert!(
        there == content,
        "docs/{page}: {name} is not current; `WRITE_DOCS=1 cargo test --test programs {module}` writes it; now and there: {first:?}"
    );
}
