//! Buffer for text that is written later, when its position in the output is reached. A small amount of text stays in memory. More text
//! goes to an unnamed temporary file, which vanishes however the program ends.

use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom, Write};

const IN_MEMORY_BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct Spool {
    file: Option<File>,
    in_file: u64,
    /// Bytes in memory, which follow the bytes already written to the temporary file.
    memory: Vec<u8>,
}

impl Spool {
    pub(crate) fn is_empty(&self) -> bool {
        self.file.is_none() && self.memory.is_empty()
    }

    pub(crate) fn copy_to(&mut self, to: &mut dyn Write) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.rewind()?;
            io::copy(file, to)?;
        }
        to.write_all(&self.memory)
    }

    pub(crate) fn length(&self) -> u64 {
        self.in_file + self.memory.len() as u64
    }

    /// Returns `length` bytes from offset `from`. These bytes must have been written in one call of `write`.
    pub(crate) fn piece(&mut self, from: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut piece = vec![0; length];
        match (&mut self.file, from.checked_sub(self.in_file)) {
            (Some(file), None) => {
                file.seek(SeekFrom::Start(from))?;
                file.read_exact(&mut piece)?;
                file.seek(SeekFrom::End(0))?;
            }
            (_, place) => {
                let mut rest = usize::try_from(place.unwrap_or_default())
                    .ok()
                    .and_then(|place| self.memory.get(place..));
                rest.get_or_insert_default().read_exact(&mut piece)?;
            }
        }
        Ok(piece)
    }

    /// Opens the temporary file. Returns `None` if the file cannot be created; the text then stays in memory.
    fn file(&mut self) -> Option<&mut File> {
        if self.file.is_none() {
            self.file = tempfile::tempfile().ok();
        }
        self.file.as_mut()
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > IN_MEMORY_BYTES {
            let memory = std::mem::take(&mut self.memory);
            match self.file() {
                Some(file) => {
                    file.write_all(&memory)?;
                    self.in_file += memory.len() as u64;
                }
                None => self.memory = memory,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_in_one_go_is_found_again_wherever_it_is() {
        let mut spool = Spool::default();
        let text = |number: u64| number.to_string().repeat(100);
        let mut places = Vec::new();
        for number in 0..5_000 {
            places.push(spool.length());
            spool.write_all(text(number).as_bytes()).unwrap();
            if number % 1_000 == 0 {
                assert_eq!(spool.piece(0, 100).unwrap(), text(0).as_bytes());
            }
        }
        assert!(spool.in_file > 0 && !spool.memory.is_empty());
        for (number, place) in (0..).zip(places) {
            assert_eq!(spool.piece(place, text(number).len()).unwrap(), text(number).as_bytes());
        }
        spool.piece(spool.length(), 1).unwrap_err();
    }

    #[test]
    fn written_bytes_are_read_back_in_order_at_any_size() {
        let mut spool = Spool::default();
        assert!(spool.is_empty());
        let mut expected = Vec::new();
        for number in 0..300_000 {
            let text = format!("{number},");
            spool.write_all(text.as_bytes()).unwrap();
            expected.extend_from_slice(text.as_bytes());
        }
        assert!(!spool.is_empty() && spool.memory.len() <= IN_MEMORY_BYTES);
        for _ in 0..2 {
            let mut read = Vec::new();
            spool.copy_to(&mut read).unwrap();
            assert!(read == expected);
        }
    }
}
