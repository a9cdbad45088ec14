//! Buffer for text that is written later, when its position in the output is reached. A small amount of text stays in memory. More text
//! goes to an unnamed temporary file, which vanishes however the program ends.

use std::fs::File;
use std::io::{self, Seek as _, Write};

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
