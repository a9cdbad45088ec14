//! Rows of the table of a comparison: rank, figures and ratios to the best strategy, one row per strategy.

use statistics::{Level, Margin};

use crate::figures::numbers::{dash, ratio_decimals, thousands, three};
use crate::{RankedStrategy, Score, paired_ratio};

const EARLY: &str = "advice.early_shared";

/// Minimum number of seeds for which intervals and ranks are shown.
pub const MIN_SEEDS: usize = 5;

#[derive(Clone, Debug)]
pub struct Row {
    pub strategy: String,
    pub place: RowRank,
    /// True if the strategy did the same work as the best one, so that their scores can be compared.
    pub is_comparable: bool,
    /// Value that the column `× best` compares with the best strategy. It is the geometric mean of the score of `--by`, or the mean share
    /// of ops done.
    pub figure: Option<f64>,
    pub times_best: Option<Times>,
    /// Geometric mean over runs of the number of attempts sent.
    pub attempts: Option<f64>,
    pub attempts_times_best: Option<Times>,
    pub makespan_times_best: Option<Times>,
    /// Geometric mean of the makespan, in seconds; only for strategies that did every op.
    pub makespan_s: Option<f64>,
    pub per_done: Option<f64>,
    /// 99th percentile of the latency of ops that were done, in milliseconds; mean over runs.
    pub p99_ms: Option<f64>,
    /// Time that the server's slots spent on useless attempts of a strategy, such as rejected ones, in seconds. It is the mean over runs.
    pub wasted_s: Option<f64>,
    /// Number of attempts that were sent although the server had asked their client to wait, as a mean over runs.
    pub early: f64,
    /// Share of a strategy's ops that were done, 0 to 1, as a mean over runs.
    pub done: f64,
    /// True if `done` is only a lower bound, because a run was stopped before all of its ops had ended.
    pub done_is_lower_bound: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRank {
    /// Rank among the strategies other than oracles, from 1. Strategies that cannot be distinguished have the same rank.
    Ranked {
        rank: u64,
        is_tied: bool,
    },
    /// Strategy without a rank. Either it lacks the score, or some of its runs stalled or were interrupted. The number of its runs is `of`.
    Stopped {
        stalled: usize,
        interrupted: usize,
        of: usize,
    },
    KnowsServer,
}

impl RowRank {
    pub fn mark(self) -> String {
        match self {
            Self::Ranked { rank, is_tied } => format!("{rank}{}", if is_tied { "=" } else { "" }),
            Self::Stopped { .. } => "!".to_owned(),
            Self::KnowsServer => "*".to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub ratio: f64,
    pub interval: Option<(f64, f64)>,
}

impl Times {
    /// Returns the ratio of one strategy's values (`of`) to another strategy's values (`best`), usually those of the best strategy. Values
    /// at the same position of both lists have the same seed. Returns `None` if a value is missing or not above 0.
    pub(super) fn new(of: &[f64], best: &[f64], level: Level) -> Option<Self> {
        let found = paired_ratio(of, best, level)?;
        Some(Self { ratio: found.ratio, interval: found.interval.map(|range| (range.low, range.high)) })
    }

    #[must_use]
    pub fn inverse(self) -> Self {
        Self { ratio: 1.0 / self.ratio, interval: self.interval.map(|(low, high)| (1.0 / high, 1.0 / low)) }
    }

    pub fn may_be_one(&self) -> bool {
        self.interval.is_none_or(|(low, high)| low <= 1.0 && 1.0 <= high)
    }

    pub fn is_within_two_percent(&self) -> bool {
        let margin = Margin::TWO_PERCENT.distance();
        self.interval.is_some_and(|(low, high)| 1.0 - margin <= low && high <= 1.0 + margin)
    }

    pub fn ratio_text(&self) -> String {
        let (low, high) = self.interval.unwrap_or((self.ratio, self.ratio));
        format!("{:.*}", ratio_decimals(low, high), self.ratio)
    }

    pub fn range_text(&self) -> Option<String> {
        let (low, high) = self.interval?;
        let decimals = ratio_decimals(low, high);
        Some(format!("{low:.decimals$}–{high:.decimals$}"))
    }
}

pub(super) type Placed<'a> = (&'a RankedStrategy, RowRank);

pub(super) fn rows(
    standings: &[RankedStrategy],
    ranked: &[Placed<'_>],
    figure: Score,
    level: Level,
) -> Vec<Row> {
    let best = leader(standings, figure);
    let stopped = |standing: &RankedStrategy| RowRank::Stopped {
        stalled: standing.counts.stalled,
        interrupted: standing.counts.interrupted,
        of: standing.counts.runs,
    };
    let unranked = standings.iter().filter(|standing| standing.rank.is_none() && !standing.foresees);
    let foreseeing = standings.iter().filter(|standing| standing.foresees);
    let all = ranked
        .iter()
        .copied()
        .chain(unranked.map(|standing| (standing, stopped(standing))))
        .chain(foreseeing.map(|standing| (standing, RowRank::KnowsServer)));
    all.map(|(standing, place)| row(standing, place, (best, figure), level)).collect()
}

/// Returns the ranked strategy with the best figure. The first strategy of the table may be another one, because the table orders equal
/// strategies by attempts.
fn leader(standings: &[RankedStrategy], figure: Score) -> Option<&RankedStrategy> {
    let is_share = figure == Score::done_share();
    let ranked = standings.iter().filter(|standing| standing.rank.is_some() && !standing.foresees);
    let candidates = ranked.filter(|standing| is_share || standing.is_comparable());
    if is_share {
        return candidates.max_by(|a, b| a.share.total_cmp(&b.share).then(std::cmp::Ordering::Greater));
    }
    candidates.min_by(|a, b| a.score(figure).total_cmp(&b.score(figure)))
}

fn row(
    standing: &RankedStrategy,
    place: RowRank,
    (best, figure): (Option<&RankedStrategy>, Score),
    level: Level,
) -> Row {
    let is_ranked = !matches!(place, RowRank::Stopped { .. });
    let is_share = figure == Score::done_share();
    let is_compared = is_ranked && (is_share || standing.is_comparable());
    let times = |score: Score| {
        // If the largest share of ops done is 0, no ratio to this share can be computed.
        let best = best.filter(|best| is_compared && (!is_share || best.share > 0.0))?;
        if best.strategy == standing.strategy {
            return Some(Times { ratio: 1.0, interval: None });
        }
        let times = Times::new(standing.values(score), best.values(score), level)?;
        let is_client = place != RowRank::KnowsServer;
        Some(Times { interval: times.interval.filter(|_| is_client), ..times })
    };
    let mean = |score: Score| {
        let values = standing.values(score);
        let geometric = standing.score(score);
        let is_known = !values.is_empty() && values.iter().all(|value| *value > 0.0);
        let arithmetic = || standing.figure(score.path()).map(|figure| figure.mean);
        if is_known { Some(geometric) } else { arithmetic() }
    };
    let figure_value = if is_share { Some(standing.share) } else { mean(figure) };
    Row {
        strategy: standing.strategy.clone(),
        place,
        is_comparable: standing.is_comparable() && is_ranked,
        figure: figure_value.filter(|_| is_compared || is_share),
        times_best: times(figure),
        attempts: mean(Score::attempts()),
        attempts_times_best: times(Score::attempts()),
        makespan_times_best: times(Score::makespan()),
        makespan_s: mean(Score::makespan()).filter(|_| is_ranked && standing.all_done()),
        per_done: mean(Score::attempts_per_success()),
        p99_ms: standing.figure(Score::p99().path()).map(|figure| figure.mean).filter(|_| is_ranked),
        wasted_s: standing.figure("wasted_server_s").map(|figure| figure.mean),
        early: standing.figure(EARLY).map_or(0.0, |figure| figure.mean),
        done: standing.share,
        done_is_lower_bound: standing.share_is_lower_bound(),
    }
}

impl Row {
    /// Returns the mean number of early attempts, with a decimal only if it is small.
    pub(super) fn early_text(&self) -> String {
        if self.early.fract() > 0.0 && self.early < 10.0 {
            return format!("{:.1}", self.early);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let count = self.early.round() as u64;
        thousands(count)
    }

    pub fn times_cell(&self) -> String {
        match self.times_best {
            None => dash(),
            Some(times) if times.interval.is_none() && (times.ratio - 1.0).abs() < 1e-12 => "1".to_owned(),
            Some(times) if times.interval.is_none() => three(times.ratio),
            Some(times) => times.ratio_text(),
        }
    }

    pub fn range_cell(&self, seeds: usize) -> String {
        match self.place {
            RowRank::Stopped { stalled, interrupted, of } if stalled + interrupted > 0 => {
                format!("{} of {of}", stalled + interrupted)
            }
            RowRank::Ranked { .. } if seeds < MIN_SEEDS => dash(),
            _ => self.times_best.and_then(|times| times.range_text()).unwrap_or_default(),
        }
    }

    pub fn stopped_cell(&self) -> Option<&'static str> {
        match self.place {
            RowRank::Stopped { stalled, .. } if stalled > 0 => Some("stalled"),
            RowRank::Stopped { interrupted, .. } if interrupted > 0 => Some("interrupted"),
            _ => None,
        }
    }
}
