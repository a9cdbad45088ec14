//! A program on a pseudo-terminal, read and operated as by a person.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{ControlModes, LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

use super::screen::{SIZE, Screen};
use crate::support::eventually;

pub(crate) struct Terminal {
    program: Program,
    keyboard: File,
    /// The program's side of the terminal. While it is open, written text is not lost.
    line: OwnedFd,
    before: Termios,
    screen: Arc<Mutex<Screen>>,
    closing: Arc<AtomicBool>,
    reader: JoinHandle<()>,
}

pub(crate) struct LeftTerminal {
    pub(crate) code: Option<i32>,
    pub(crate) screen: Screen,
    modes: [String; 2],
}

impl Terminal {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_with(args, |_| ())
    }

    pub(crate) fn start_in(columns: u16, args: &[&str]) -> Self {
        Self::start_sized((columns, SIZE.1), args, |_| ())
    }

    pub(crate) fn start_with(args: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        Self::start_sized(SIZE, args, change)
    }

    pub(crate) fn start_sized(size: (u16, u16), args: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        Self::start_program(size, &[&[env!("CARGO_BIN_EXE_loadgen")], args].concat(), change)
    }

    /// Starts `setsid` with these arguments, which end with a program's path and its arguments.
    pub(crate) fn start_program(
        (columns, rows): (u16, u16),
        args: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let line = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&line, size).unwrap();
        let before = tcgetattr(&line).unwrap();

        let screen = Arc::new(Mutex::new(Screen::new()));
        let keyboard = File::from(master);
        let closing = Arc::new(AtomicBool::new(false));
        let reader = read(keyboard.try_clone().unwrap(), screen.clone(), closing.clone());
        // A session of its own keeps the terminal of the test run out of reach.
        let mut command = Command::new("setsid");
        command.args(args);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let end = || line.try_clone().unwrap();
        command.stdin(end()).stdout(end()).stderr(end());
        change(&mut command);
        let program = Program(command.spawn().unwrap());
        Self { program, keyboard, line, before, screen, closing, reader }
    }

    pub(crate) fn screen(&self) -> Screen {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn wait<T>(&self, what: &str, find: impl Fn(&Screen) -> Option<T>) -> T {
        eventually(what, || {
            assert!(!self.screen.is_poisoned(), "the terminal was given nonsense");
            find(&self.screen())
        })
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program.0), signal).unwrap();
    }

    /// Whether the terminal passes on keys one by one and without echo, including Ctrl-C.
    pub(crate) fn is_raw(&self) -> bool {
        let cooked = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        !tcgetattr(&self.line).unwrap().local_modes.intersects(cooked)
    }

    /// Closes the terminal as a window would be closed, and returns the program's exit code.
    pub(crate) fn hang_up(self) -> Option<i32> {
        let Self { mut program, keyboard, line: _line, closing, reader, .. } = self;
        // The reader keeps the terminal open until the next output.
        closing.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        drop(keyboard);
        eventually("a program ends by itself", || program.0.try_wait().unwrap()).code()
    }

    pub(crate) fn insist(mut self, act: impl Fn(&Self)) -> LeftTerminal {
        eventually("a program ends by insistence", || {
            let over = self.program.0.try_wait().unwrap().is_some();
            if !over {
                act(&self);
            }
            over.then_some(())
        });
        self.finish()
    }

    pub(crate) fn finish(self) -> LeftTerminal {
        let Self { mut program, keyboard: _keyboard, line, before, screen, reader, .. } = self;
        let status = eventually("a program ends by itself", || program.0.try_wait().unwrap());
        let modes = [before, tcgetattr(&line).unwrap()].map(described);
        // All writers are closed now, so the reader ends.
        drop(line);
        reader.join().unwrap();
        let screen = screen.lock().unwrap().clone();
        // A program killed by a signal has the exit code that a shell reports.
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        LeftTerminal { code, screen, modes }
    }
}

impl LeftTerminal {
    pub(crate) fn restored(self, case: &str, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{case}: {}", self.screen.normal);
        assert!(!self.screen.alternate, "{case}: the alternate screen is left");
        assert_eq!(self.screen.strays, 0, "{case}: only text on the normal screen");
        assert!(self.screen.cursor_shown, "{case}: the cursor is shown");
        assert_eq!(self.modes[0], self.modes[1], "{case}: the terminal's modes are what they were");
        self
    }
}

/// Describes the relevant modes of a terminal. Its speed is left out, because it has no meaning here and the kernel resets it.
fn described(modes: Termios) -> String {
    let Termios { input_modes, output_modes, local_modes, special_codes, .. } = modes;
    let framing = ControlModes::CSIZE | ControlModes::CSTOPB | ControlModes::PARENB | ControlModes::PARODD;
    let control =
        modes.control_modes & (framing | ControlModes::CREAD | ControlModes::HUPCL | ControlModes::CLOCAL);
    format!("{input_modes:?} {output_modes:?} {control:?} {local_modes:?} {special_codes:?}")
}

struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // The program may have ended already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Reads the terminal's output in a thread, until all writers are closed or the terminal is being closed.
fn read(mut master: File, screen: Arc<Mutex<Screen>>, closing: Arc<AtomicBool>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = master.read(&mut bytes) {
            screen.lock().unwrap().feed(&bytes[..length]);
            if closing.load(Ordering::Relaxed) {
                break;
            }
        }
    })
}
