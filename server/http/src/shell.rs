//! The command line, told to shells and to the manual.

use std::io::{self, Write};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

/// Prints what a shell needs to complete.
pub(crate) fn completions(shell: Shell, mut command: Command) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "mockserver", &mut script);
    print(&script)
}

/// Prints the man page.
pub(crate) fn man(command: Command) -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    print(&page)
}

/// Whoever closed stdout does not want to read more: that is no failure.
pub(crate) fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
