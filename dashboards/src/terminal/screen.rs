//! Takeover of the terminal for drawing the dashboard, and its later restoration.

use std::io::{self, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal, backend::CrosstermBackend};

/// True while the dashboard occupies the terminal, which must then be restored. The flag is global, because a process
/// has one terminal.
static ENTERED: AtomicBool = AtomicBool::new(false);

#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("can't take over the terminal for the dashboard; use `--no-tui`")]
    Enter(#[source] io::Error),
    #[error("can't draw the dashboard")]
    Draw(#[source] io::Error),
    #[error("can't read keys from the terminal")]
    Read(#[source] io::Error),
    #[error("the terminal was closed")]
    HungUp,
}

/// Restores cursor, raw mode and screen of the terminal. Does nothing unless the terminal shows a dashboard.
///
/// Call this function before leaving the process without returning from [`watch`](crate::watch()).
pub fn restore() {
    // If no dashboard is open, `restore` returns without waiting for stdout, because a thread that writes to stdout may
    // block for ever.
    if !ENTERED.load(Ordering::SeqCst) {
        return;
    }
    // Taking the lock waits until another thread has finished drawing. If the drawing thread itself panics, it does not
    // block here, because it already holds the lock.
    let mut stdout = io::stdout().lock();
    if ENTERED.swap(false, Ordering::SeqCst) {
        // Errors are ignored, because a failed restoration cannot be reported any more. Raw mode ends last. Without raw
        // mode, the terminal echoes keys, and this echo must not appear across the picture.
        drop(execute!(stdout, LeaveAlternateScreen, Show));
        drop(disable_raw_mode());
    }
}

/// Alternate screen of the terminal in raw mode, until this value is dropped. The mouse is not captured, because copy
/// and paste need it.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<WhileOurs>>,
}

/// Writer to stdout that discards output unless the dashboard occupies the screen.
///
/// After the dashboard has ended, ratatui still writes an escape sequence that shows the cursor. On a closed terminal
/// this output would fail. ratatui would then report the failure to stderr, and would panic if stderr, too, leads to a
/// closed terminal.
struct WhileOurs(io::Stdout);

impl Write for WhileOurs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if ENTERED.load(Ordering::SeqCst) { self.0.write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if ENTERED.load(Ordering::SeqCst) { self.0.flush() } else { Ok(()) }
    }
}

impl Screen {
    pub(crate) fn enter() -> Result<Self, WatchError> {
        restore_before_panic_messages();
        Self::prepare().map_err(|error| {
            restore();
            WatchError::Enter(error)
        })
    }

    fn prepare() -> io::Result<Self> {
        enable_raw_mode()?;
        // `ENTERED` is set only after raw mode was entered. Without a terminal, entering raw mode fails. Nothing must
        // then be written to stdout, so `ENTERED` stays unset.
        ENTERED.store(true, Ordering::SeqCst);
        // `Terminal::clear` is not used, because it queries the position of the cursor and waits two seconds if there
        // is no answer.
        execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All))?;
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(WhileOurs(io::stdout())))? })
    }

    /// Draws the changes since the last frame. Does nothing if [`restore`] or a panic of another thread has restored
    /// the terminal, because the terminal then shows other output.
    pub(crate) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> Result<(), WatchError> {
        // The lock prevents other threads from restoring the terminal between the check and the end of the drawing.
        let mut stdout = io::stdout().lock();
        if !self.is_ours() {
            return Ok(());
        }
        self.terminal.draw(render).map_err(WatchError::Draw)?;
        stdout.flush().map_err(WatchError::Draw)
    }

    #[expect(clippy::unused_self, reason = "only the owner of a `Screen` may query it")]
    pub(crate) fn is_ours(&self) -> bool {
        ENTERED.load(Ordering::SeqCst)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Installs a panic hook that restores the terminal before the message of a panic is printed. On the alternate screen
/// the message would vanish, and in raw mode its lines would be garbled.
fn restore_before_panic_messages() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let message = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            message(info);
        }));
    });
}
