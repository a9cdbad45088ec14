//! Looks of series: colour, dash pattern and marker. Series can be distinguished even without colours, because their
//! dashes and markers differ, too.
//!
//! Colours and dashes are defined in `svg/plot.css`. The colours are those of Okabe and Ito ("Color Universal Design",
//! 2008). Light colours are darkened until they can be seen on white.

pub(super) const CSS: &str = include_str!("svg/plot.css");

pub(super) const LOOKS: usize = 8;

/// Looks that have a fixed meaning in all plots of a single strategy. Each constant is the index of a look (colour,
/// dash pattern, marker).
pub(super) const IN_FLIGHT: usize = 0;
pub(super) const REJECTED: usize = 1;
pub(super) const ACCEPTED: usize = 2;
pub(super) const WINDOW: usize = 4;
pub(super) const SSTHRESH: usize = 3;
pub(super) const CAP: usize = 6;

pub fn marker(look: usize, x: f64, y: f64, r: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corner = |(index, (dx, dy)): (usize, &(f64, f64))| {
            format!("{}{:.1} {:.1}", if index == 0 { 'M' } else { 'L' }, x + dx * r, y + dy * r)
        };
        corners.iter().enumerate().map(corner).collect::<String>() + "Z"
    };
    match look % LOOKS {
        0 => {
            let d = 2.0 * r;
            format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z", x - r)
        }
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
        3 => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        4 => polygon(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
        5 => format!("M{:.1} {y:.1}h{}M{x:.1} {:.1}v{}", x - r, 2.0 * r, y - r, 2.0 * r),
        6 => polygon(&[
            (0.0, -1.6),
            (0.4, -0.4),
            (1.6, 0.0),
            (0.4, 0.4),
            (0.0, 1.6),
            (-0.4, 0.4),
            (-1.6, 0.0),
            (-0.4, -0.4),
        ]),
        _ => format!("M{:.1} {:.1}l{d} {d}M{:.1} {:.1}l{d} -{d}", x - r, y - r, x - r, y + r, d = 2.0 * r),
    }
}
