//! Picture of all settings on all servers: one row per setting, one mark per server. The horizontal axis is the excess of
//! undone ops in percentage points.

use dashboards::report::{Axis, Span, lines, marker};
use maud::{Markup, html};
use results::numbers::short;

use crate::lines::listed;
use crate::page::rows::{Place, Row};
use crate::recommendation::{Recommendation, RecommendationGoal};

const MAX_ROWS: usize = 45;

const WIDTH: f64 = 480.0;
const LEFT: f64 = 12.0;
const RIGHT: f64 = 462.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 26.0;
const ROW: f64 = 36.0;

const LABEL: f64 = 13.0;
/// Distance of the middle of a row's marks from the top of the row.
const MIDDLE: f64 = 24.0;
const SPREAD: f64 = 5.0;

const LINE: f64 = 15.0;
const LETTERS: usize = 62;
/// Maximum number of characters per line of a bold label. The labels of the chosen setting and of today's setting are
/// bold.
const BOLD_LETTERS: usize = 52;
/// Maximum number of lines of a label. The table has the whole text.
const MAX_LINES: usize = 3;

const TICKS: usize = 6;

const DIAMOND: usize = 3;
const CIRCLE: usize = 0;

struct Labelled<'a> {
    row: &'a Row<'a>,
    whole: String,
    label: Vec<String>,
}

impl<'a> Labelled<'a> {
    fn new(row: &'a Row<'a>) -> Self {
        let (name, marks) = (row.setting.name(), row.marks());
        let whole = if marks.is_empty() { name.clone() } else { format!("{name} – {marks}") };
        let is_bold = matches!(row.place, Place::Chosen | Place::Today);
        let letters = if is_bold { BOLD_LETTERS } else { LETTERS };
        let mut label = lines(&whole, letters);
        if label.len() > MAX_LINES {
            label = lines(&name, letters);
            label.truncate(MAX_LINES - 1);
            label.push(format!("… {marks}"));
        }
        Self { row, whole, label }
    }

    fn height(&self) -> f64 {
        ROW + self.more_lines()
    }

    fn more_lines(&self) -> f64 {
        LINE * self.label.len().saturating_sub(1) as f64
    }
}

pub(super) fn picture(document: &Recommendation, rows: &[Row<'_>]) -> Markup {
    let shown: Vec<Labelled<'_>> = rows.iter().take(MAX_ROWS).map(Labelled::new).collect();
    let values = shown.iter().flat_map(|shown| shown.row.known_excess()).map(|(_, excess)| excess);
    let span = Span::new(&Axis::default(), values, TICKS);
    let bottom = TOP + shown.iter().map(Labelled::height).sum::<f64>();
    let tops = shown.iter().scan(TOP, |next, row| {
        let top = *next;
        *next += row.height();
        Some(top)
    });
    let title = format!("Ops {} on each server, by setting", document.undone_word());
    html! {
        figure data-name="settings" {
            h3 { (title) }
            svg class="figure plot tried" viewBox=(format!("0 0 {WIDTH} {}", bottom + BOTTOM)) role="img" aria-label=(title) {
                (axis(&span, bottom, document.undone_word()))
                @for (row, top) in shown.iter().zip(tops) { (drawn(document, row, top, &span)) }
            }
            figcaption { (caption(document, rows)) }
        }
    }
}

/// Draws the axis with its numbers above and below the rows, because a picture of many rows is higher than a screen.
fn axis(span: &Span, bottom: f64, undone: &str) -> Markup {
    html! {
        text class="caption" x=(LEFT) y="14" { (undone) " ops above the least on the same server (points)" }
        @for (value, label) in &span.ticks {
            path class="grid" d=(format!("M{:.1} {TOP}V{bottom}", place(span, *value))) {}
            @for y in [TOP - 6.0, bottom + 17.0] {
                text x=(format!("{:.1}", place(span, *value))) y=(y) text-anchor="middle" { (label) }
            }
        }
    }
}

fn place(span: &Span, value: f64) -> f64 {
    LEFT + span.share(value) * (RIGHT - LEFT)
}

fn drawn(document: &Recommendation, labelled: &Labelled<'_>, top: f64, span: &Span) -> Markup {
    let row = labelled.row;
    let look = match row.place {
        Place::Chosen => "row s0",
        Place::Today => "row s1",
        _ => "row s6",
    };
    let middle = top + MIDDLE + labelled.more_lines();
    html! {
        g class=(look) {
            path class="grid" d=(format!("M{LEFT} {middle:.1}H{RIGHT}")) {}
            @for (index, line) in labelled.label.iter().enumerate() {
                text class="caption" x=(LEFT) y=(format!("{:.1}", top + LABEL + LINE * index as f64)) {
                    title { (labelled.whole) }
                    (line)
                }
            }
            @for (server, excess) in row.known_excess() {
                (mark(row.place, (place(span, excess), middle + aside(server)), &words(document, server, excess)))
            }
        }
    }
}

/// Returns the vertical distance of a server's mark from the middle of its row. A server's mark has this distance in
/// every row. The distances of consecutive servers are spread evenly (golden ratio).
fn aside(server: usize) -> f64 {
    const GOLDEN: f64 = 0.618_034;
    ((server as f64 * GOLDEN + 0.5).fract() - 0.5) * 2.0 * SPREAD
}

fn mark(kind: Place, (x, y): (f64, f64), words: &str) -> Markup {
    html! {
        @match kind {
            Place::Chosen => path class="dot" d=(marker(DIAMOND, x, y, 3.4)) { title { (words) } },
            Place::Today => path class="dot ring" d=(marker(CIRCLE, x, y, 3.2)) { title { (words) } },
            _ => circle class="dot" cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="2" { title { (words) } },
        }
    }
}

fn words(document: &Recommendation, server: usize, excess: f64) -> String {
    let server = document.servers.get(server).map(|server| listed(&server.changes, "nominal server"));
    let points = short(excess);
    let unit = if points == "1" { "point" } else { "points" };
    format!("{}: {points} {unit}", server.unwrap_or_default())
}

fn caption(document: &Recommendation, rows: &[Row<'_>]) -> String {
    let undone = document.undone_word();
    let shapes = if document.chosen == document.today {
        "Diamonds: today's setting, which is kept. Dots: the others."
    } else {
        "Diamonds: the chosen setting. Rings: today's setting. Dots: the others."
    };
    let mut sentences = vec![
        "Each row is a setting, and each mark in it one server of the search.".to_owned(),
        format!(
            "A mark's distance from the left is the share of {undone} ops, minus the least share that any setting had on the \
             same server, in percentage points."
        ),
        format!(
            "A good setting has all its marks at the left. Of such settings, {} decides, which the picture does not show.",
            match document.goal {
                RecommendationGoal::Finish => "the time to finish",
                RecommendationGoal::InTime => "the number of attempts per success",
            }
        ),
        shapes.to_owned(),
        "The height of a mark in its row has no meaning. Point at a mark to read its server.".to_owned(),
    ];
    if rows.iter().any(|row| row.setting.by_code) {
        sentences.push("The least share on a server is that of the settings that can be chosen.".to_owned());
    }
    if rows.iter().any(|row| row.setting.worst_excess_points.is_none()) {
        sentences.push(
            "A setting was dropped if it was far behind, or if the search ran out of attempts.".to_owned(),
        );
    }
    if rows.len() > MAX_ROWS {
        sentences.push(format!("The table has {} more settings.", rows.len() - MAX_ROWS));
    }
    sentences.join(" ")
}
