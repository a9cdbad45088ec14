//! Plots of the cost per completed op, for comparisons in which not all ops were completed. The cost is the number of
//! attempts, or the server time, per success. It is drawn against the share of ops done.
//!
//! A point below and to the right of another is better. If there are more strategies than distinguishable looks, only
//! strategies on the Pareto front are named. All others are dots.

use results::{Figure, RankedStrategy, Score};

use super::drawn;
use crate::report::palette::CAP;
use crate::report::{Axis, Document, LOOKS, Plot, Ranking, Run, Scale, Series, Shape, Strategy};

const OTHERS: usize = LOOKS - 1;

/// Draws one plot per kind of cost. The first plot also shows the Pareto front, which determines the ranks.
pub(in crate::report) fn pareto(document: &Document) -> Vec<Plot> {
    let ranking = document.ranking.as_ref();
    let Some(ranking) = ranking.filter(|ranking| results::ranked_by_share(&ranking.standings)) else {
        return Vec::new();
    };
    let loads = [
        ("attempts per success", "", Score::attempts_per_success().path()),
        ("server time per success", "ms", "server_work_per_success_ms"),
    ];
    let limit = ranking.answer.limit.as_ref();
    let share = limit.map_or_else(|| "ops done".to_owned(), |limit| format!("ops done within {limit}"));
    let plots = loads.into_iter().filter_map(|(load, unit, path)| {
        let is_effort = path == Score::attempts_per_success().path();
        let many = document.strategies.len() > LOOKS;
        let mut series: Vec<Series> = if many {
            named_and_others(ranking, path)
        } else {
            drawn(document)
                .map(|(look, strategy)| Series::marks(&strategy.label, look, points(strategy, path)))
                .collect()
        };
        if is_effort {
            let front = Series::line("Pareto front of means", CAP, front(ranking));
            series.insert(if many { 0 } else { series.len() }, front);
        }
        let title = format!("{} against {share}", super::capitalised(load));
        let x = Axis::linear(&share, "%");
        let (x, note) = if many {
            let note = "means; strategies that stalled are not ranked and not drawn";
            (Axis { scale: Scale::Fitted, ..x }, note)
        } else {
            (x, "each run is a point; the median run is a larger point")
        };
        Plot::new(title, x, Axis::logarithmic(load, unit), series, note)
    });
    plots.collect()
}

/// Returns the mean point of each ranked strategy. Only strategies on the Pareto front are named, and at most as many
/// as can be distinguished. The first series contains all unnamed strategies. After it, each named strategy has a
/// series of its own.
fn named_and_others(ranking: &Ranking, load: &str) -> Vec<Series> {
    let ranked = || ranking.standings.iter().filter(|standing| standing.rank.is_some());
    let point = |standing: &RankedStrategy| Some((standing.share * 100.0, standing.figure(load)?.mean));
    let looks = (0..LOOKS).filter(|look| ![CAP, OTHERS].contains(look));
    let on_front: Vec<&RankedStrategy> =
        ranked().filter(|standing| standing.on_front).take(LOOKS - 2).collect();
    let is_named = |standing: &&RankedStrategy| on_front.iter().any(|named| std::ptr::eq(*named, *standing));
    let others: Vec<(f64, f64)> = ranked().filter(|standing| !is_named(standing)).filter_map(point).collect();
    let label = format!("{} others", others.len());
    let dots = Series { shape: Shape::Dots, ..Series::line(&label, OTHERS, others) };
    let named = on_front.iter().zip(looks).map(|(standing, look)| {
        Series::marks(&standing.strategy, look, point(standing).into_iter().collect())
    });
    std::iter::once(dots).chain(named).collect()
}

fn points(strategy: &Strategy, load: &str) -> Vec<(f64, f64)> {
    let of = |run: &Run, path: &str| Figure::find(path)?.of(&run.result);
    strategy.median_and_runs(|run| Some((of(run, Score::done_share().path())? * 100.0, of(run, load)?)))
}

/// Returns the Pareto front from left to right. It consists of the strategies for which no other strategy does more ops
/// at a lower cost per op.
fn front(ranking: &Ranking) -> Vec<(f64, f64)> {
    let on_front = ranking.standings.iter().filter(|standing| standing.on_front);
    let point = |standing: &RankedStrategy| {
        Some((standing.share * 100.0, standing.figure_of_all(Score::attempts_per_success())?.mean))
    };
    let mut points: Vec<(f64, f64)> = on_front.filter_map(point).collect();
    points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    points
}
