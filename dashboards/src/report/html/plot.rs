//! A plot in the report: title, legend, area and note.

use maud::{Markup, PreEscaped, html};

use crate::report::plot::Plot;
use crate::report::svg::{HEIGHT, WIDTH, area, swatch};

/// A plot under the registry's name of it.
pub(super) fn plot(name: &str, plot: &Plot) -> Markup {
    let area = area(plot);
    html! {
        figure data-name=(name) {
            h3 { (plot.title) }
            ul class="legend" {
                @for series in &plot.series {
                    li {
                        svg class="figure" viewBox="0 0 30 12" width="30" height="12" aria-hidden="true" {
                            (PreEscaped(swatch(series)))
                        }
                        (series.label)
                    }
                }
            }
            svg class="figure plot" viewBox={ "0 0 " (WIDTH.to_string()) " " (HEIGHT.to_string()) } role="img" aria-label=(plot.title)
                data-x=(area.x) data-y=(area.y) data-unit=(plot.x.unit) { (PreEscaped(area.drawn)) }
            figcaption { (plot.note) }
        }
    }
}
