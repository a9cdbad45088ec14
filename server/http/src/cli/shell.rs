//! Prints the shell completions and the man page of `mockserver`.

use std::io::{self, Write};

use clap::Command;
use clap_complete::Shell;

use crate::cli::help::man_page;

pub(crate) fn completions(shell: Shell, mut command: Command) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "mockserver", &mut script);
    print(&script)
}

pub(crate) fn man(mut command: Command) -> io::Result<()> {
    command.build();
    print(&man_page(&command)?)
}

pub(crate) fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
