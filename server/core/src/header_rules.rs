//! What can be sent as a header: names, values, and how many.

/// The most headers of one answer: HTTP clients read no more than about a hundred.
pub(crate) const MOST_HEADERS: usize = 64;

/// The length of a header's value at most.
pub(crate) const LONGEST_VALUE: usize = 8 << 10;

/// Headers by which HTTP itself works, and the prefix of those by which the programs know one another: nobody else sets them.
const RESERVED: &[&str] =
    &["connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
const OURS: &str = "x-tailback-";

/// What cannot be sent as a header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// A name that no header can have.
    #[error("`{0}` cannot be the name of a header")]
    Name(String),
    /// A header that the server itself sets.
    #[error("the header `{0}` is set by the server itself")]
    Reserved(String),
    /// A value that no header can have.
    #[error(
        "the header `{0}` has a value that cannot be sent: visible ASCII characters and spaces only, at most {LONGEST_VALUE}"
    )]
    Value(String),
}

/// The name in lower case, if a header of ours may have it.
pub(crate) fn checked_name(name: &str) -> Result<String, HeaderError> {
    // RFC 9110, section 5.6.2: what a token is made of.
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > 256 || !name.bytes().all(is_token) {
        return Err(HeaderError::Name(name.to_owned()));
    }
    let name = name.to_ascii_lowercase();
    if RESERVED.contains(&name.as_str()) || name.starts_with(OURS) {
        return Err(HeaderError::Reserved(name));
    }
    Ok(name)
}

/// Whether it can be sent as a header's value.
pub(crate) fn is_value(text: &str) -> bool {
    text.len() <= LONGEST_VALUE && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Whether an answer can have this status: one that is final.
pub(crate) fn is_final(status: u16) -> bool {
    (200..=599).contains(&status)
}
