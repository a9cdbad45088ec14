//! Drawing on a terminal with a resolution finer than a character: eighths of a block for areas, braille dots for
//! lines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::{Role, Surface, Theme};

const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Bits of the eight dots of a braille character. Each entry is a row of dots, from top to bottom, with the bit of the
/// left dot and the bit of the right dot.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

const BLANK_BRAILLE: u32 = 0x2800;

/// Painter for a rectangle of the screen. Heights are shares of the rectangle's height, 0 to 1.
pub(crate) struct Painter<'a> {
    buf: &'a mut Buffer,
    theme: Theme,
    area: Rect,
}

impl<'a> Painter<'a> {
    pub(crate) fn new(surface: &'a mut Surface<'_>, area: Rect) -> Self {
        let area = area.intersection(surface.buf.area);
        Self { buf: surface.buf, theme: surface.theme, area }
    }

    /// Draws a bar from the bottom up to a height. A bar of positive height is at least one eighth of a row high.
    pub(crate) fn bar(&mut self, column: u16, height: f64, role: Role) {
        let rows = self.area.height;
        let eighths = steps(height, rows * 8).max(u16::from(height > 0.0));
        for row in 0..rows {
            let filled = eighths.saturating_sub(row * 8).min(8);
            if filled > 0 {
                self.set(column, rows - 1 - row, EIGHTHS[usize::from(filled)], role);
            }
        }
    }

    pub(crate) fn level(&mut self, column: u16, height: f64, role: Role) {
        let rows = self.area.height;
        if rows > 0 {
            let thirds = steps(height, rows * 3).clamp(1, rows * 3) - 1;
            let (row, third) = (rows - 1 - thirds / 3, usize::from(thirds % 3));
            self.make_room(column, row, third);
            self.set(column, row, ["▁", "─", "▔"][third], role);
        }
    }

    /// Makes room for a level line in a character that shows the end of a bar, because a character cannot show both.
    /// The end of the bar moves to the nearer edge of this row, or to the upper edge if the bar reaches above the level
    /// line.
    fn make_room(&mut self, column: u16, row: u16, third: usize) {
        let symbol = self.symbol(column, row).map(String::from).unwrap_or_default();
        let bar = EIGHTHS.iter().position(|eighths| *eighths == symbol).unwrap_or(0);
        let full = bar >= 4 || bar * 3 > (third + 1) * 8;
        if let Some(cell) = self.buf.cell_mut((self.area.x + column, self.area.y + row)).filter(|_| bar > 0) {
            cell.set_symbol(EIGHTHS[if full { 8 } else { 0 }]);
        }
    }

    pub(crate) fn hair_line(&mut self, column: u16, role: Role) {
        for row in 0..self.area.height {
            if self.symbol(column, row) == Some(' ') {
                self.set(column, row, "┊", role);
            }
        }
    }

    pub(crate) fn stroke(&mut self, dot_column: u16, low: f64, high: f64, role: Role) {
        let last = (self.area.height * 4).saturating_sub(1);
        for dot_row in steps(low, last)..=steps(high, last) {
            self.dot(dot_column, last - dot_row, role);
        }
    }

    fn dot(&mut self, dot_column: u16, dot_row: u16, role: Role) {
        let (column, row) = (dot_column / 2, dot_row / 4);
        let bit = DOTS[usize::from(dot_row % 4)][usize::from(dot_column % 2)];
        let Some(symbol) = self.symbol(column, row) else { return };
        let there = u32::from(symbol);
        let dots = if (BLANK_BRAILLE..BLANK_BRAILLE + 256).contains(&there) { there } else { BLANK_BRAILLE };
        let braille = char::from_u32(dots | bit).unwrap_or(' ');
        self.set(column, row, braille.encode_utf8(&mut [0; 4]), role);
    }

    fn symbol(&self, column: u16, row: u16) -> Option<char> {
        let inside = column < self.area.width && row < self.area.height;
        let cell = inside.then(|| self.buf.cell((self.area.x + column, self.area.y + row)))??;
        cell.symbol().chars().next()
    }

    /// Sets a character on the screen. If the character replaces a full block, the block's colour becomes its
    /// background. Without colours, the character is shown in reverse video.
    fn set(&mut self, column: u16, row: u16, symbol: &str, role: Role) {
        if self.symbol(column, row).is_some()
            && let Some(cell) = self.buf.cell_mut((self.area.x + column, self.area.y + row))
        {
            let mut style = self.theme.style(role);
            match (cell.symbol(), cell.fg) {
                ("█", Color::Reset) if symbol != "█" => style = style.add_modifier(Modifier::REVERSED),
                ("█", colour) => cell.bg = colour,
                _ => {}
            }
            cell.set_symbol(symbol).set_style(style);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the share is between 0 and 1")]
pub(crate) fn steps(share: f64, steps: u16) -> u16 {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    (share * f64::from(steps)).round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(width: u16, height: u16, paint: impl FnOnce(&mut Painter<'_>)) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        paint(&mut Painter::new(&mut Surface { buf: &mut buf, theme: Theme::Dark }, area));
        let row = |y| (0..width).map(|x| buf[(x, y)].symbol()).collect();
        (0..height).map(row).collect()
    }

    #[test]
    fn bars_grow_in_eighths_and_a_little_is_not_nothing() {
        let rows = painted(4, 2, |painter| {
            for (column, height) in [(0, 0.0), (1, 0.001), (2, 0.5), (3, 0.75)] {
                painter.bar(column, height, Role::Plain);
            }
        });
        assert_eq!(rows, ["   ▄", " ▁██"]);
    }

    #[test]
    fn strokes_share_their_characters() {
        let rows = painted(1, 1, |painter| {
            painter.stroke(0, 0.0, 1.0, Role::Plain);
            painter.stroke(1, 0.0, 0.0, Role::Plain);
        });
        assert_eq!(rows, ["⣇"]);
    }

    #[test]
    fn levels_are_exact_to_a_third_of_a_row() {
        let rows = painted(3, 1, |painter| {
            for (column, height) in [(0, 0.2), (1, 0.6), (2, 1.0)] {
                painter.level(column, height, Role::Plain);
            }
        });
        assert_eq!(rows, ["▁─▔"]);
    }

    #[test]
    fn a_level_can_be_seen_on_bars_of_every_height() {
        let area = Rect::new(0, 0, 9, 2);
        let mut buf = Buffer::empty(area);
        let mut surface = Surface { buf: &mut buf, theme: Theme::Dark };
        let mut painter = Painter::new(&mut surface, area);
        for (column, eighths) in (0..9).zip(8_u8..) {
            painter.bar(column, f64::from(eighths) / 16.0, Role::InFlight);
            painter.level(column, 0.75, Role::Plain);
        }
        let row = |y| (0..9).map(move |x| (x, y));
        assert!(row(0).all(|at| buf[at].symbol() == "─"), "{buf:?}");
        let behind: Vec<bool> = row(0).map(|at| buf[at].bg == Color::Indexed(25)).collect();
        assert_eq!(behind, [false, false, false, false, true, true, true, true, true]);
        assert!(row(1).all(|at| buf[at].symbol() == "█"), "{buf:?}");
    }

    #[test]
    fn what_is_outside_is_not_drawn() {
        let rows = painted(1, 1, |painter| {
            painter.bar(7, 1.0, Role::Plain);
            painter.stroke(9, -3.0, f64::NAN, Role::Plain);
        });
        assert_eq!(rows, [" "]);
    }
}
