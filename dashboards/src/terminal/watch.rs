//! Main loop of the dashboard: refreshes and draws a frame, then waits for keys until the next frame is due.

use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEvent, KeyEventKind};

use super::keyboard;
use super::keys::handle_key;
use super::render::render;
use super::screen::{Screen, WatchError};
use super::state::State;
use super::theme::Theme;
use crate::{Action, Background, Frame, Header, Liveness};

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
    let theme = Theme::chosen(background);
    show(State::new(header), theme, refresh, act)
}

pub(crate) trait Dashboard {
    type Frame: Default;

    /// Counts one more frame, because the view measures time in frames. Called before the frame is drawn.
    fn on_frame(&mut self);

    fn handle_key(&mut self, key: KeyEvent, frame: &Self::Frame) -> Option<Action>;

    fn say(&mut self, words: String);

    fn render(&self, canvas: &mut ratatui::Frame<'_>, frame: &Self::Frame, theme: Theme);
}

pub(crate) fn show<D: Dashboard>(
    dashboard: D,
    theme: Theme,
    refresh: impl FnMut(&mut D::Frame) -> Liveness,
    act: impl FnMut(Action) -> Option<String>,
) -> Result<(), WatchError> {
    // After the terminal was closed, every failure is reported as `HungUp`.
    let reason = |error| if keyboard::is_closed() { WatchError::HungUp } else { error };
    draw_and_listen(dashboard, theme, refresh, act).map_err(reason)
}

fn draw_and_listen<D: Dashboard>(
    mut dashboard: D,
    theme: Theme,
    mut refresh: impl FnMut(&mut D::Frame) -> Liveness,
    mut act: impl FnMut(Action) -> Option<String>,
) -> Result<(), WatchError> {
    let mut frame = D::Frame::default();
    let mut screen = Screen::enter()?;
    let mut due = Instant::now();
    while refresh(&mut frame) == Liveness::Running {
        dashboard.on_frame();
        screen.draw(|canvas| dashboard.render(canvas, &frame, theme))?;
        due = (due + FRAME_TIME).max(Instant::now());
        while let Some(event) = next_event(&screen, due)? {
            if let Event::Key(key) = event
                && key.kind != KeyEventKind::Release
                && let Some(action) = dashboard.handle_key(key, &frame)
                && let Some(answer) = act(action)
            {
                dashboard.say(answer);
            }
            screen.draw(|canvas| dashboard.render(canvas, &frame, theme))?;
        }
    }
    Ok(())
}

impl Dashboard for State {
    type Frame = Frame;

    fn on_frame(&mut self) {
        self.notice.on_frame();
    }

    fn handle_key(&mut self, key: KeyEvent, frame: &Frame) -> Option<Action> {
        handle_key(self, key, frame)
    }

    fn say(&mut self, words: String) {
        self.notice.set(words);
    }

    fn render(&self, canvas: &mut ratatui::Frame<'_>, frame: &Frame, theme: Theme) {
        render(canvas, frame, self, theme);
    }
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
