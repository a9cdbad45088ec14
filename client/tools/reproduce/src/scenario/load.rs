//! Loading of scenarios: the whole scenario is checked before any run begins.

use crate::scenario::cells::{Cell, cells};
use crate::scenario::check::{check_claim, check_figures, check_http, check_labels};
use crate::scenario::drawable::Drawable;
use crate::scenario::file::Scenario;
use crate::scenario::location::Text;
use crate::scenario::parse::parse;
use experiments::{Error, ErrorKind};

/// Parses a scenario, applies the `--set` settings to it, and checks the result. `plots` lists the plots that a report can draw.
///
/// # Errors
/// The error contains the position of the fault in the scenario's text, and the values that are accepted at this position.
pub fn load(text: &Text, settings: &[String], plots: &[Drawable]) -> Result<(Scenario, Vec<Cell>), Error> {
    let mut scenario = parse(text, settings)?;
    let with = if settings.is_empty() {
        String::new()
    } else {
        format!(" with `--set {}`", settings.join("` `--set "))
    };
    let refuse = |path: &[&str], words: String| {
        Error::because(ErrorKind::Usage, format!("scenario {}{with}", text.of(path)), words)
    };
    let borrowed =
        |path: &[String], words: String| refuse(&path.iter().map(String::as_str).collect::<Vec<_>>(), words);
    let cells = cells(&scenario).map_err(|fault| borrowed(&fault.path, fault.words))?;
    check_labels(&scenario, &cells, settings).map_err(Error::usage)?;
    check_figures(&scenario).map_err(|(path, words)| borrowed(&path, words))?;
    for (index, claim) in scenario.claim.iter().enumerate() {
        let index = index.to_string();
        check_claim(&scenario, claim, &cells)
            .map_err(|wrong| refuse(&["claim", &index, wrong.key], wrong.to_string()))?;
    }
    let mut found = Vec::new();
    for (name, plot) in &scenario.plot {
        found.push(match plot.check(&scenario, &cells, plots) {
            Ok(basis) => Some(basis),
            // `--set` may reduce the strategies or points of a scenario. A plot that needs one of the removed strategies or points is then
            // left out, and is not an error.
            Err(_) if !settings.is_empty() => None,
            Err(wrong) => return Err(refuse(&["plot", name, wrong.key], wrong.to_string())),
        });
    }
    for (plot, basis) in scenario.plot.values_mut().zip(found) {
        plot.basis = basis;
    }
    scenario.plot.retain(|_, plot| plot.basis().is_some());
    check_http(&scenario).map_err(|wrong| refuse(&["http", wrong.key], wrong.to_string()))?;
    Ok((scenario, cells))
}
