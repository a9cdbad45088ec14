//! Prints the shell completions and the man page of `mockserver`.

use std::io::{self, Write};
use std::os::fd::AsFd;

use clap::Command;
use clap_complete::Shell;
use rustix::termios::tcgetwinsize;

use crate::{fitted, man_page};

pub fn completions(shell: Shell, mut command: Command) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "mockserver", &mut script);
    print(&script)
}

pub fn man(mut command: Command) -> io::Result<()> {
    command.build();
    print(&man_page(&command)?)
}

/// Prints a text in lines that fit the terminal.
pub fn print_table(text: &str) -> io::Result<()> {
    let text = vocabulary::printable(text);
    print(columns_of(&io::stdout()).map_or(text.clone(), |columns| fitted(&text, columns)).as_bytes())
}

/// Returns the width in columns of a stream that is a terminal.
pub fn columns_of(stream: &impl AsFd) -> Option<usize> {
    tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

pub fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
