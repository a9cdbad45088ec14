//! Reading of whole files, up to a maximum size.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum size in bytes of a file with settings, certificates or a body.
pub const SMALL: u64 = 64 << 20;

/// Maximum size in bytes of a file with results.
pub const LARGE: u64 = 1 << 30;

/// Size in bytes of one read if the length of the file is unknown. A growing buffer that doubles would take up to three times the bytes
/// read.
const PIECE: usize = 16 << 20;

pub fn bytes_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // Pipes and devices report length 0, and a file may grow while it is read. So all bytes up to the end are read, whatever the reported
    // length.
    let length = usize::try_from(file.metadata()?.len().min(most)).unwrap_or_default();
    read(file, most, if length == 0 { PIECE } else { length + 1 })
}

pub fn bytes(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    read(source, most, PIECE)
}

fn read(source: impl Read, most: u64, mut piece: usize) -> io::Result<Vec<u8>> {
    let mut source = source.take(most + 1);
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(piece)?;
        let full = source.by_ref().take(piece as u64).read_to_end(&mut bytes)? == piece;
        pieces.push(bytes);
        if !full {
            break;
        }
        piece = PIECE;
    }
    if source.limit() == 0 {
        let words = format!("the file is larger than {} MiB, the maximum", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(if pieces.len() == 1 { pieces.swap_remove(0) } else { pieces.concat() })
}

pub fn text_of(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(bytes_of(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_input_is_refused_and_input_that_just_fits_is_read() {
        assert_eq!(bytes(io::repeat(7).take(1 << 20), 1 << 20).unwrap().len(), 1 << 20);
        let error = bytes(io::repeat(7), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "the file is larger than 1 MiB, the maximum");
    }

    #[test]
    fn what_is_read_is_whole_whatever_its_length() {
        for length in [0, 1, PIECE, PIECE + 1, 2 * PIECE + 7] {
            let text = b"ab".repeat(length / 2 + 1);
            assert!(bytes(&text[..length], LARGE).unwrap() == text[..length], "{length}");
        }
    }

    #[test]
    fn endless_input_takes_bounded_memory() {
        let (before, most) = (peak_rss(), 512 << 20);
        bytes(io::repeat(7), most).unwrap_err();
        let grown = peak_rss() - before;
        assert!(grown < most + most / 2, "{grown} bytes");
    }

    fn peak_rss() -> u64 {
        loadgen_http::peak_rss_bytes().expect("this is Linux")
    }
}
