//! A plot in the report: title, legend, area and note.

use std::fmt::Write as _;

use crate::report::escaping::escaped;
use crate::report::plot::Plot;
use crate::report::svg::{HEIGHT, WIDTH, area, swatch};

/// The plots of one name.
pub(super) fn plots(name: &str, plots: &[Plot]) -> String {
    plots.iter().map(|drawn| plot(name, drawn)).collect()
}

/// One plot.
pub(super) fn plot(name: &str, plot: &Plot) -> String {
    let mut legend = String::new();
    for series in &plot.series {
        let _ = write!(
            legend,
            "<li><svg class=\"figure\" viewBox=\"0 0 30 12\" width=\"30\" height=\"12\" aria-hidden=\"true\">{}</svg>{}</li>",
            swatch(series),
            escaped(&series.label)
        );
    }
    let title = escaped(&plot.title);
    let area = area(plot);
    format!(
        "<figure data-name=\"{name}\"><h3>{title}</h3>\n<ul class=\"legend\">{legend}</ul>\n\
         <svg class=\"figure plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\" data-x=\"{}\" data-y=\"{}\" \
         data-unit=\"{}\">{}</svg>\n<figcaption>{}</figcaption></figure>\n",
        area.x,
        area.y,
        escaped(plot.x.unit),
        area.drawn,
        escaped(&plot.note)
    )
}
