//! The terminal as it was found, and the screen that is drawn on meanwhile.

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

/// Whether there is something to restore. It is there once per process, like the terminal.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// The terminal can't be used.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Raw mode or the alternate screen could not be entered.
    #[error("can't take over the terminal for the dashboard; use `--no-tui`")]
    Enter(#[source] io::Error),
    /// Drawing failed: the terminal is gone.
    #[error("can't draw the dashboard")]
    Draw(#[source] io::Error),
    /// Keys can't be read.
    #[error("can't read keys from the terminal")]
    Read(#[source] io::Error),
    /// Whoever looked on is gone: the window was closed, or the connection to it lost.
    #[error("the terminal was closed")]
    HungUp,
}

/// Gives the terminal back as it was found: cursor, raw mode, screen. Does nothing unless a dashboard is on it.
///
/// Call this before leaving the process without returning from [`watch`](crate::watch()).
pub fn restore() {
    // Without a dashboard nothing is waited for: whoever writes to stdout may be held up for ever.
    if !ENTERED.load(Ordering::SeqCst) {
        return;
    }
    // Waits for what another thread is drawing. The thread that draws has the lock already, and may panic.
    let mut stdout = io::stdout().lock();
    if ENTERED.swap(false, Ordering::SeqCst) {
        // There is nobody left to tell when this fails. The modes come last: with them the terminal shows what is typed,
        // and it must not do so across the picture.
        drop(execute!(stdout, LeaveAlternateScreen, Show));
        drop(disable_raw_mode());
    }
}

/// The alternate screen in raw mode, until it is dropped. The mouse is left alone: it belongs to copy and paste.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<WhileOurs>>,
}

/// Stdout as long as the screen is ours; what is written later is left out. ratatui shows the cursor once more when it ends, and
/// panics where even stderr leads to a terminal that was closed.
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
    /// Takes over the terminal.
    pub(crate) fn enter() -> Result<Self, WatchError> {
        restore_before_panic_messages();
        Self::prepare().map_err(|error| {
            restore();
            WatchError::Enter(error)
        })
    }

    fn prepare() -> io::Result<Self> {
        enable_raw_mode()?;
        // Not before: where there is no terminal nothing must be written to stdout.
        ENTERED.store(true, Ordering::SeqCst);
        // Not `Terminal::clear`: it asks where the cursor is, and waits for two seconds where nobody answers.
        execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All))?;
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(WhileOurs(io::stdout())))? })
    }

    /// Draws what has changed. Does nothing when the screen was given back meanwhile, by [`restore`] or by a panic
    /// of another thread: the terminal shows something else now.
    pub(crate) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> Result<(), WatchError> {
        // Nobody gives the screen back between the question and the end of the drawing.
        let mut stdout = io::stdout().lock();
        if !self.is_ours() {
            return Ok(());
        }
        self.terminal.draw(render).map_err(WatchError::Draw)?;
        stdout.flush().map_err(WatchError::Draw)
    }

    /// Whether the screen was not given back meanwhile.
    #[expect(clippy::unused_self, reason = "only who has a screen can lose it")]
    pub(crate) fn is_ours(&self) -> bool {
        ENTERED.load(Ordering::SeqCst)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// A panic's message must not be written to the alternate screen, where it would vanish, nor in raw mode.
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
