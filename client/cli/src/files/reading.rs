//! Files that are read as a whole, as long as that is sensible.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most that is read of a file with settings, certificates or a body.
pub(crate) const SMALL: u64 = 64 << 20;

/// The most that is read of a file with results.
pub(crate) const LARGE: u64 = 1 << 30;

/// The bytes of a file; an error when it has more than `most`, as `/dev/zero` has.
pub(crate) fn bytes_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // Of a pipe or a device nothing is known; a file that has more by now is read to its end, too.
    let length = usize::try_from(file.metadata()?.len().min(most)).unwrap_or_default();
    read_into(Vec::with_capacity(length + 1), file, most)
}

/// The same of whatever can be read.
pub(crate) fn bytes(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    read_into(Vec::new(), source, most)
}

fn read_into(mut bytes: Vec<u8>, source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    source.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let words = format!("it has more than {} MiB, the most that is read", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(bytes)
}

/// The same of a file that is text.
pub(crate) fn text_of(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(bytes_of(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_refused_and_what_just_fits_is_read() {
        assert_eq!(bytes(io::repeat(7).take(1 << 20), 1 << 20).unwrap().len(), 1 << 20);
        let error = bytes(io::repeat(7), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 1 MiB, the most that is read");
    }
}
