//! Token that gives other hosts access to the admin endpoints. It comes from the command line, a file or the environment.

use std::fs::File;
use std::io::Read;

use subtle::ConstantTimeEq;

/// Environment variable that contains the token, for `mockserver` and `loadgen`. A token in this variable does not appear in process lists.
pub const ADMIN_TOKEN_ENV: &str = "TAILBACK_ADMIN_TOKEN";

/// Maximum length of the admin token, in bytes.
const LONGEST: u64 = 1024;

#[derive(Clone)]
pub struct AdminToken(String);

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdminTokenError {
    #[error("the file `{path}` with the token ({origin}) cannot be read: {source}")]
    File { path: String, origin: String, source: std::io::Error },
    #[error(
        "the token ({origin}) must have 1 to {LONGEST} visible ASCII characters and no spaces; `openssl \
         rand -hex 16` creates a valid one"
    )]
    Unfit {
        /// Source of the token: the flag, the file or the variable. This text never contains the token itself.
        origin: String,
    },
    #[error(
        "`{flag}` needs a token: set the environment variable {ADMIN_TOKEN_ENV}, or write `{flag} @FILE` to \
         read it from a file"
    )]
    Missing { flag: &'static str },
}

impl AdminToken {
    /// Returns the admin token that `text` specifies. `text` is the value of the command-line flag `flag`. The value is the token itself,
    /// or `@FILE`, or empty. An empty value means the variable [`ADMIN_TOKEN_ENV`].
    ///
    /// # Errors
    /// Fails if there is no token, or if it is too long or not valid in a header.
    pub fn typed(flag: &'static str, text: &str) -> Result<Self, AdminTokenError> {
        match text.strip_prefix('@') {
            Some(path) => Self::new(format!("{flag} {text}"), &read(flag, path)?),
            None if text.is_empty() => Self::environment()?.ok_or(AdminTokenError::Missing { flag }),
            None => Self::new(flag.to_owned(), text),
        }
    }

    /// Returns the token in the variable [`ADMIN_TOKEN_ENV`], or `None` if the variable is not set.
    ///
    /// # Errors
    /// Fails if the token is empty, too long or not valid in a header.
    pub fn environment() -> Result<Option<Self>, AdminTokenError> {
        std::env::var_os(ADMIN_TOKEN_ENV)
            .map(|token| Self::new(ADMIN_TOKEN_ENV.to_owned(), &token.to_string_lossy()))
            .transpose()
    }

    fn new(origin: String, text: &str) -> Result<Self, AdminTokenError> {
        let fits = !text.is_empty()
            && text.len() as u64 <= LONGEST
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(AdminTokenError::Unfit { origin }) }
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns true if the value of an `Authorization` header contains this token. The duration of the check depends only on the lengths of
    /// the two texts.
    pub(crate) fn is_in(&self, authorization: &[u8]) -> bool {
        let Some((scheme, token)) = authorization.split_at_checked("Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(token.trim_ascii().ct_eq(self.0.as_bytes()))
    }
}

impl std::fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AdminToken(…)")
    }
}

fn read(flag: &str, path: &str) -> Result<String, AdminTokenError> {
    let mut text = String::new();
    File::open(path)
        // Reads at most one byte more than the longest token with its line end. If the file is longer, the check of the token's length then
        // fails.
        .and_then(|file| file.take(LONGEST + 3).read_to_string(&mut text))
        .map_err(|source| AdminTokenError::File { path: path.to_owned(), origin: flag.to_owned(), source })?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_in_its_header_and_no_other_is() {
        let token = AdminToken::typed("--flag", "s3cret").unwrap();
        for (header, expected) in [
            (&b"Bearer s3cret"[..], true),
            (b"bearer  s3cret ", true),
            (b"Bearer s3cre", false),
            (b"Bearer s3cret2", false),
            (b"Bearer", false),
            (b"Bearer ", false),
            (b"Basic s3cret", false),
            (b"s3cret", false),
            (b"", false),
            ("Bearer \u{e9}".as_bytes(), false),
        ] {
            assert_eq!(token.is_in(header), expected, "{header:?}");
        }
        assert!(!format!("{token:?}").contains("s3cret"));
    }

    #[test]
    fn what_is_no_token_is_refused_without_repeating_it() {
        let long = "x".repeat(1025);
        for text in ["two words", "\u{e9}", "a\nb", &long] {
            let error = AdminToken::typed("--flag", text).unwrap_err().to_string();
            assert!(error.contains("--flag") && !error.contains(text), "{error}");
        }
        let error = AdminToken::typed("--flag", "@/no/such/file").unwrap_err().to_string();
        assert!(error.contains("/no/such/file") && error.contains("--flag"), "{error}");
    }
}
