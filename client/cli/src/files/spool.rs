//! Texts that wait for their place in a file: in memory while they are few, and then in a temporary file that has no name, so that
//! nothing of it stays behind, however the program ends.

use std::fs::File;
use std::io::{self, Seek, Write};

/// How much is kept in memory.
const IN_MEMORY_BYTES: usize = 1 << 20;

/// What was written so far, in its order.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    file: Option<File>,
    /// What comes after the file.
    memory: Vec<u8>,
}

impl Spool {
    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.file.is_none() && self.memory.is_empty()
    }

    /// Passes everything on.
    pub(crate) fn copy_to(&mut self, to: &mut dyn Write) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.rewind()?;
            io::copy(file, to)?;
        }
        to.write_all(&self.memory)
    }

    /// Where no temporary file can be made, memory must do.
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
                Some(file) => file.write_all(&memory)?,
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
    fn what_was_written_comes_back_in_its_order_however_much_it_is() {
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
