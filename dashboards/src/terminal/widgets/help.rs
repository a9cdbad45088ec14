//! Help shown over the dashboard: all keys, generated from the key table, and explanations of the charts.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Borders, Clear, Paragraph, Widget};

use crate::terminal::keys::bindings;
use crate::terminal::state::Shown;
use crate::terminal::{Role, Surface};

/// Width in columns of the help's longest line, including the border.
const WIDTH: u16 = 56;

pub(crate) fn draw<F: Shown>(screen: Rect, surface: &mut Surface<'_>) {
    let theme = surface.theme;
    let faint = theme.style(Role::Faint);
    let listed = bindings::<F>().filter(|(binding, help)| !binding.label.is_empty() && !help.is_empty());
    let keys = listed.map(|(binding, help)| {
        let key = Span::styled(format!(" {:<4} ", binding.label), theme.style(Role::Title));
        Line::from_iter([key, Span::raw(help)])
    });
    let legend =
        std::iter::once(&"").chain(F::LEGEND).map(|line| Line::from(format!(" {line}")).style(faint));
    let lines: Vec<_> = keys.chain(legend).collect();
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
    let area = centred(screen, WIDTH, height);
    Clear.render(area, surface.buf);
    // On a low screen, only the top of the border is drawn, because the keys matter more than a whole border.
    let frame = if height > area.height { Borders::TOP } else { Borders::ALL };
    let block = Block::new()
        .borders(frame)
        .border_type(BorderType::Rounded)
        .border_style(faint)
        .title(" Keys ")
        .title_style(theme.style(Role::Title));
    Paragraph::new(lines).block(block).render(area, surface.buf);
}

fn centred(screen: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let (x, y) = ((screen.width - width) / 2, (screen.height - height) / 2);
    Rect { x: screen.x + x, y: screen.y + y, width, height }
}
