//! Scenarios that say what is to be drawn: each plot beside what its source says of it, and the claims that it belongs to.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::plot;
use crate::report::document::Document;
use crate::report::escaping::escaped;
use crate::report::exhibit::Exhibit;
use crate::report::experiment::{Claim, Scenario};
use crate::report::named::plots_for;
use crate::report::number::number;
use crate::report::plot::{Plot, Shape};

/// More places than that are read off a picture more easily than off a table.
const FEW: usize = 12;

/// What may become of a claim, in the words of its verdict.
const VERDICTS: [&str; 4] = ["holds", "holds partly", "does not hold", "too few runs"];

/// How many claims of every scenario's source came out how, with links to their plots.
pub(super) fn overview(document: &Document) -> String {
    let plotted: Vec<&Scenario> = plotted(document).collect();
    if plotted.is_empty() {
        return String::new();
    }
    let mut table = "<div class=\"scroll\"><table>\n<thead><tr><th>scenario</th><th>claims</th>".to_owned();
    for verdict in VERDICTS {
        let _ = write!(table, "<th>{verdict}</th>");
    }
    table.push_str("<th>not as expected</th></tr></thead>\n<tbody>\n");
    for (index, scenario) in plotted.iter().enumerate() {
        let sources = || scenario.claims.iter().filter(|claim| !claim.ours_alone);
        let count = |of: &dyn Fn(&Claim) -> bool| sources().filter(|claim| of(claim)).count();
        let _ = write!(
            table,
            "<tr><td><a href='#scenario-{index}'>{}</a> <small>{}</small></td><td>{}</td>",
            escaped(&scenario.name),
            escaped(&scenario.title),
            sources().count()
        );
        for verdict in VERDICTS {
            let _ = write!(table, "<td>{}</td>", count(&|claim| claim.verdict == verdict));
        }
        let _ = writeln!(table, "<td>{}</td></tr>", count(&|claim| !claim.as_expected));
    }
    table + "</tbody></table></div>\n"
}

/// A section for every such scenario.
pub(super) fn exhibits(document: &Document) -> String {
    plotted(document).enumerate().map(|(index, scenario)| section(index, scenario)).collect()
}

fn plotted(document: &Document) -> impl Iterator<Item = &Scenario> {
    document.scenarios.iter().filter(|scenario| !scenario.exhibits.is_empty())
}

fn section(index: usize, scenario: &Scenario) -> String {
    let title = if scenario.title.is_empty() { &scenario.name } else { &scenario.title };
    let mut section = format!(
        "<section class=\"exhibits\" id=\"scenario-{index}\"><h2>{}</h2>\n<p class=\"note\">{}</p>\n<p class=\"about\">{}</p>\n",
        escaped(title),
        escaped(&scenario.source),
        escaped(&scenario.about)
    );
    for shown in &scenario.exhibits {
        section.push_str(&exhibit(shown, scenario));
    }
    let shown: BTreeSet<usize> =
        scenario.exhibits.iter().flat_map(|exhibit| exhibit.claims.iter().copied()).collect();
    let others: Vec<usize> = (0..scenario.claims.len()).filter(|claim| !shown.contains(claim)).collect();
    if !others.is_empty() {
        let _ = write!(
            section,
            "<div class=\"exhibit rest\"><h3>Claims that no figure shows</h3>\n{}</div>\n",
            claims(&others, scenario)
        );
    }
    section + "</section>\n"
}

fn exhibit(exhibit: &Exhibit, scenario: &Scenario) -> String {
    let plots = plots_for(exhibit);
    let drawn: String = plots.iter().map(|plot| plot::plot(&exhibit.draws, plot)).collect();
    let drawn = if drawn.is_empty() {
        "<p class=\"note\">There was nothing to draw: the runs do not have what it needs.</p>".to_owned()
    } else {
        drawn
    };
    // A plot that is alone bears the title itself.
    let heading = match plots.as_slice() {
        [_] => String::new(),
        _ => format!("<h3>{}</h3>\n", escaped(&exhibit.title)),
    };
    let shows = match exhibit.shows.as_str() {
        "" => String::new(),
        shows => format!("<p class=\"shows\"><b>The source says:</b> {}</p>\n", escaped(shows)),
    };
    let note = match exhibit.note.as_str() {
        "" => String::new(),
        note => format!("<p class=\"note\">{}</p>\n", escaped(note)),
    };
    // Several plots stand side by side, below the words.
    let class = if plots.len() > 1 { "exhibit several" } else { "exhibit" };
    format!(
        "<div class=\"{class}\" data-plot=\"{}\">{heading}<div class=\"drawn\">{drawn}</div>\n\
         <div class=\"said\">{shows}{note}{}{}</div></div>\n",
        escaped(&exhibit.name),
        claims(&exhibit.claims, scenario),
        plots.iter().map(values).collect::<String>()
    )
}

/// Claims with their verdicts.
fn claims(numbers: &[usize], scenario: &Scenario) -> String {
    let claims: Vec<&Claim> = numbers.iter().filter_map(|index| scenario.claims.get(*index)).collect();
    if claims.is_empty() {
        return String::new();
    }
    let mut list = "<ul class=\"claims\">\n".to_owned();
    for claim in claims {
        let mut published = String::new();
        for (what, text) in [("published", &claim.published), ("tested:", &claim.condition)] {
            if !["", "-"].contains(&text.as_str()) {
                let _ = write!(published, "{what} {}; ", escaped(text));
            }
        }
        let ours = if claim.ours_alone { " <em>(ours, not the source’s)</em>" } else { "" };
        let note = if claim.note.is_empty() { String::new() } else { format!(". {}", escaped(&claim.note)) };
        let unexpected = if claim.as_expected { "" } else { " <strong>(not as expected)</strong>" };
        let class = if claim.verdict == "holds" { "verdict" } else { "verdict other" };
        let _ = writeln!(
            list,
            "<li><span class=\"{class}\">{}</span> {}{ours}{unexpected}<small>{published}here {}{note}</small></li>",
            escaped(&claim.verdict),
            escaped(&claim.says),
            escaped(&claim.ours)
        );
    }
    list + "</ul>\n"
}

/// The values of a plot with few of them, as a table.
fn values(plot: &Plot) -> String {
    let mut places: Vec<f64> = plot
        .series
        .iter()
        .flat_map(|series| &series.points)
        .map(|(x, _)| *x)
        .filter(|x| x.is_finite())
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let lines = plot.series.iter().all(|series| !matches!(series.shape, Shape::Events | Shape::Marks));
    if !lines || places.is_empty() || places.len() > FEW {
        return String::new();
    }
    let mut table = format!(
        "<details><summary>values</summary><div class=\"scroll\"><table><thead><tr><th>{}</th>",
        escaped(&plot.x.caption())
    );
    for series in &plot.series {
        let _ = write!(table, "<th>{}</th>", escaped(&series.label));
    }
    table.push_str("</tr></thead><tbody>\n");
    for place in places {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is an index")]
        let name = plot.x.names.get(place as usize).cloned().unwrap_or_else(|| number(place));
        let _ = write!(table, "<tr><td>{}</td>", escaped(&name));
        for series in &plot.series {
            let at = series.points.iter().find(|(x, _)| x.total_cmp(&place).is_eq());
            let _ = write!(table, "<td>{}</td>", at.map_or_else(|| "–".to_owned(), |(_, y)| number(*y)));
        }
        table.push_str("</tr>\n");
    }
    table + "</tbody></table></div></details>\n"
}
