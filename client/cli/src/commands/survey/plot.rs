//! Plots of a survey. Each dot shows the time and the attempts of one strategy in one setting, as ratios to the reference strategy.

use dashboards::report::{Axis, Plot, Scale, Series, Shape, svg};
use experiments::survey::GROUPS;

use super::text::Judged;

pub(super) fn picture(judged: &Judged) -> String {
    let axis = |figure: &str| Axis {
        label: format!("{figure} ÷ {}", judged.reference_name()),
        scale: Scale::Logarithmic,
        ..Axis::default()
    };
    let plots: Vec<Plot> = GROUPS
        .iter()
        .filter(|group| group.is_whole)
        .map(|group| Plot {
            title: format!("{}: each dot is one setting", group.name),
            x: axis("time"),
            y: axis("attempts"),
            series: judged
                .compared()
                .enumerate()
                .map(|(look, against)| Series {
                    label: judged.survey.strategies[against.strategy].clone(),
                    look,
                    shape: Shape::Dots,
                    points: judged
                        .survey
                        .of_group(group, against.reference)
                        .map(|surveyed| (surveyed.time_ratio(against), surveyed.attempts_ratio(against)))
                        .collect(),
                    band: Vec::new(),
                })
                .collect(),
            note: "1 is the reference; left and below is better; dots beyond an axis lie at its end"
                .to_owned(),
        })
        .filter(|plot| plot.series.iter().any(|series| !series.points.is_empty()))
        .collect();
    svg(&plots)
}
