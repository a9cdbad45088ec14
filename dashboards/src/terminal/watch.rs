//! Main loop of the dashboard: refreshes and draws a frame, then waits for keys until the next frame is due.

use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEventKind};

use super::keys::handle_key;
use super::render::render;
use super::screen::{Screen, WatchError};
use super::state::{Shown, State};
use super::{Theme, keyboard};
use crate::{Action, Background, Frame, Header, Lanes, LanesHeader, Liveness};

const FRAME_TIME: Duration = Duration::from_millis(100);

/// Shows a run on the terminal until `refresh` returns [`Liveness::Over`].
///
/// Ten times a second, `refresh` updates a frame, and the dashboard draws it. Keys take effect at once. If a key
/// requests an action, the action is passed to `act` on the same thread. `act` may return a sentence for the bottom
/// line.
///
/// After [`Action::Quit`] the dashboard stays open and shows that the run is stopping, until `refresh` returns
/// [`Liveness::Over`]. Another `q` requests the end again. In raw mode Ctrl-C is a key and means the same as `q`.
///
/// The caller handles signals. If `refresh` returns `Over` after SIGINT or SIGTERM, `watch` restores the terminal and
/// returns within 100 ms. Another thread that ends the process must call [`restore`](crate::restore) first.
///
/// The terminal is also restored after an error, and before a panic of any thread prints its message. After `restore`
/// or a panic, `watch` draws nothing any more and waits for the end of the run.
///
/// # Errors
/// Fails if the terminal cannot be used. Fails with [`WatchError::HungUp`] within 100 ms after the terminal was closed.
/// In both cases the run goes on.
pub fn watch(
    header: Header,
    background: Background,
    refresh: impl FnMut(&mut Frame) -> Liveness,
    act: impl FnMut(Action) -> Option<String>,
) -> Result<(), WatchError> {
    show(header, background, refresh, act)
}

/// Shows strategies side by side on the terminal until `refresh` returns [`Liveness::Over`].
///
/// Works like [`watch`], except that [`Action::Quit`] is the only action. Keys cannot change the server, because the
/// server must be the same for all strategies.
///
/// # Errors
/// Fails as [`watch`] does.
pub fn watch_lanes(
    header: LanesHeader,
    background: Background,
    refresh: impl FnMut(&mut Lanes) -> Liveness,
    mut act: impl FnMut(Action),
) -> Result<(), WatchError> {
    let act = |action| {
        act(action);
        None
    };
    show(header, background, refresh, act)
}

fn show<F: Shown>(
    header: F::Header,
    background: Background,
    refresh: impl FnMut(&mut F) -> Liveness,
    act: impl FnMut(Action) -> Option<String>,
) -> Result<(), WatchError> {
    let theme = Theme::chosen(background);
    // After the terminal was closed, every failure is reported as `HungUp`.
    let reason = |error| if keyboard::is_closed() { WatchError::HungUp } else { error };
    draw_and_listen(State::new(header), theme, refresh, act).map_err(reason)
}

fn draw_and_listen<F: Shown>(
    mut state: State<F>,
    theme: Theme,
    mut refresh: impl FnMut(&mut F) -> Liveness,
    mut act: impl FnMut(Action) -> Option<String>,
) -> Result<(), WatchError> {
    let mut frame = F::default();
    let mut screen = Screen::enter()?;
    let mut due = Instant::now();
    while refresh(&mut frame) == Liveness::Running {
        state.notice.on_frame();
        screen.draw(|canvas| render(canvas, &frame, &state, theme))?;
        due = (due + FRAME_TIME).max(Instant::now());
        while let Some(event) = next_event(&screen, due)? {
            if let Event::Key(key) = event
                && key.kind != KeyEventKind::Release
                && let Some(action) = handle_key(&mut state, key, &frame)
                && let Some(answer) = act(action)
            {
                state.notice.set(answer);
            }
            screen.draw(|canvas| render(canvas, &frame, &state, theme))?;
        }
    }
    Ok(())
}

/// Returns the next terminal event before the instant `due`, if any. If the terminal was already restored, only waits
/// until `due`.
fn next_event(screen: &Screen, due: Instant) -> Result<Option<Event>, WatchError> {
    let left = due.saturating_duration_since(Instant::now());
    if !screen.is_ours() {
        thread::sleep(left);
        return Ok(None);
    }
    if left.is_zero() { Ok(None) } else { keyboard::next_event(due) }
}
