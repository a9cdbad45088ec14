//! A figure on the page: title, legend, plot and note.

use std::fmt::Write as _;

use crate::report::escaping::escaped;
use crate::report::plot::Figure;
use crate::report::svg::{HEIGHT, WIDTH, plot, swatch};

/// The figures of one name.
pub(super) fn pictures(name: &str, figures: &[Figure]) -> String {
    figures.iter().map(|figure| picture(name, figure)).collect()
}

/// One figure.
pub(super) fn picture(name: &str, figure: &Figure) -> String {
    let mut legend = String::new();
    for series in &figure.series {
        let _ = write!(
            legend,
            "<li><svg class=\"figure\" viewBox=\"0 0 30 12\" width=\"30\" height=\"12\" aria-hidden=\"true\">{}</svg>{}</li>",
            swatch(series),
            escaped(&series.label)
        );
    }
    let title = escaped(&figure.title);
    let plot = plot(figure);
    format!(
        "<figure data-name=\"{name}\"><h3>{title}</h3>\n<ul class=\"legend\">{legend}</ul>\n\
         <svg class=\"figure plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\" data-x=\"{}\" data-y=\"{}\" \
         data-unit=\"{}\">{}</svg>\n<figcaption>{}</figcaption></figure>\n",
        plot.x,
        plot.y,
        escaped(figure.x.unit),
        plot.drawn,
        escaped(&figure.note)
    )
}
