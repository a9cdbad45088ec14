//! Rules for the headers of answers: valid names, valid values, and the maximum number of headers.

/// Maximum number of headers of one answer. HTTP clients accept only about a hundred headers.
pub(crate) const MAX_HEADERS: usize = 64;

/// Maximum length of a header's value, in bytes.
pub(crate) const MAX_VALUE: usize = 8 << 10;

/// Headers that HTTP itself uses. Presets, scripts and templates must not set these headers. They must not set headers with the prefix
/// `OURS` either, which the server and our load generator use between each other.
const RESERVED: &[&str] =
    &["connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
const OURS: &str = "x-tailback-";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    #[error("`{0}` is not a valid header name")]
    Name(String),
    #[error("the server sets the header `{0}` itself; leave it out")]
    Reserved(String),
    #[error(
        "the value of the header `{0}` cannot be sent; use only visible ASCII characters and spaces, at \
         most {MAX_VALUE} of them"
    )]
    Value(String),
}

/// Returns the header's name in lower case. Returns an error if answers may not set this header.
pub(crate) fn checked_name(name: &str) -> Result<String, HeaderError> {
    // A header name consists of the characters of a token in RFC 9110, section 5.6.2.
    if !is_name(name) {
        return Err(HeaderError::Name(name.to_owned()));
    }
    let name = name.to_ascii_lowercase();
    if RESERVED.contains(&name.as_str()) || name.starts_with(OURS) {
        return Err(HeaderError::Reserved(name));
    }
    Ok(name)
}

/// Whether `name` consists of the characters of a token in RFC 9110, section 5.6.2.
pub(crate) fn is_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.len() <= 256 && name.bytes().all(is_token)
}

pub(crate) fn is_value(text: &str) -> bool {
    text.len() <= MAX_VALUE && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

pub(crate) fn is_final(status: u16) -> bool {
    (200..=599).contains(&status)
}
