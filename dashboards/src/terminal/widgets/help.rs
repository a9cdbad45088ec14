//! Help shown over the dashboard: all keys, generated from the key table, and explanations of the charts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Borders, Clear, Paragraph, Widget};

use crate::terminal::keys::bindings;
use crate::terminal::state::Shown;
use crate::terminal::theme::{Role, Theme};

/// Width in columns of the help's longest line, including the border.
const WIDTH: u16 = 56;

pub(crate) fn draw<F: Shown>(screen: Rect, buf: &mut Buffer, legend: &[&str], theme: Theme) {
    let listed = bindings::<F>().filter(|(binding, help)| !binding.label.is_empty() && !help.is_empty());
    let keys = listed.map(|(binding, help)| {
        let key = Span::styled(format!(" {:<4} ", binding.label), theme.style(Role::Title));
        Line::from_iter([key, Span::raw(help)])
    });
    let legend = std::iter::once(&"")
        .chain(legend)
        .map(|line| Line::from(format!(" {line}")).style(theme.style(Role::Faint)));
    let lines: Vec<_> = keys.chain(legend).collect();
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
    let area = centred(screen, WIDTH, height);
    Clear.render(area, buf);
    // On a low screen, only the top of the border is drawn, because the keys matter more than a whole border.
    let frame = if height > area.height { Borders::TOP } else { Borders::ALL };
    let block = Block::new()
        .borders(frame)
        .border_type(BorderType::Rounded)
        .border_style(theme.style(Role::Faint))
        .title(" Keys ")
        .title_style(theme.style(Role::Title));
    Paragraph::new(lines).block(block).style(Style::new()).render(area, buf);
}

fn centred(screen: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let (x, y) = ((screen.width - width) / 2, (screen.height - height) / 2);
    Rect { x: screen.x + x, y: screen.y + y, width, height }
}
