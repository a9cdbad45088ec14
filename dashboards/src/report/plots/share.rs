//! What it costs to get ops done, where not all are: attempts, and the server's time, per success against the share done. Whoever is
//! below and to the right of another is better.

use results::{Figure, Score};

use super::drawn;
use crate::report::document::Document;
use crate::report::palette::CAP;
use crate::report::plot::{Axis, Plot, Series, Shape};
use crate::report::ranking::{Ranked, ranked_by_share};
use crate::report::run::Run;
use crate::report::strategy::Strategy;

/// A plot for every load, of which the first has the front that ranks are about.
pub(in crate::report) fn pareto(document: &Document) -> Vec<Plot> {
    let Some(ranked) = ranked_by_share(document) else { return Vec::new() };
    let loads = [
        (
            "attempts per success",
            Axis::logarithmic("attempts per success", ""),
            Score::attempts_per_success().path(),
        ),
        (
            "server time per success",
            Axis::logarithmic("server time per success", "ms"),
            "server_work_per_success_ms",
        ),
    ];
    let limit = ranked.iter().find_map(|ranked| ranked.standing.limit.clone());
    let share = limit.map_or_else(|| "ops done".to_owned(), |limit| format!("ops done within {limit}"));
    let plots = loads.into_iter().filter_map(|(load, y, path)| {
        let mut series: Vec<Series> = drawn(document)
            .map(|(look, strategy)| Series {
                shape: Shape::Marks,
                ..Series::line(&strategy.label, look, points(strategy, path))
            })
            .collect();
        if path == Score::attempts_per_success().path() {
            series.push(Series::line("Pareto front of means", CAP, front(&ranked)));
        }
        let title = format!("{} against {share}", super::capitalised(load));
        let note = "every run a point, the median run a larger one".to_owned();
        Plot { title, x: Axis::linear(&share, "%"), y, series, note }.if_any()
    });
    plots.collect()
}

/// The median run, then all.
fn points(strategy: &Strategy, load: &str) -> Vec<(f64, f64)> {
    let of = |run: &Run, path: &str| Figure::find(path)?.of(run.result.as_deref()?);
    let point = |run: &Run| Some((of(run, Score::done_share().path())? * 100.0, of(run, load)?));
    std::iter::once(strategy.median()).chain(&strategy.runs).filter_map(point).collect()
}

/// Those than which no other gets more done and needs less for it, from the left to the right.
fn front(ranked: &[Ranked<'_>]) -> Vec<(f64, f64)> {
    let on_front = ranked.iter().filter(|ranked| ranked.standing.on_front);
    let mut points: Vec<(f64, f64)> =
        on_front.filter_map(|ranked| Some((ranked.share() * 100.0, ranked.effort()?))).collect();
    points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    points
}
