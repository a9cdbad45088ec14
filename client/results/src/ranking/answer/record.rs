//! Conversion of a ranking to records of the JSON document: the best strategy, and the rank of each one.

use super::{Answer, Row, RowRank, Times};
use crate::{LeadRecord, RankedStrategy, Score, StandingRecord, TimesRecord, figures_over_runs};

impl Answer {
    pub fn lead_record(&self) -> Option<LeadRecord> {
        let lead = self.lead()?;
        let interval = lead.times.and_then(|times| times.interval);
        Some(LeadRecord {
            strategy: lead.best.strategy.clone(),
            certain: lead.is_certain,
            figure: self.figure().path().to_owned(),
            value: lead.best.figure,
            ratio: lead.times.map(|times| times.ratio),
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            level: self.level.coverage(),
        })
    }

    pub fn record(&self, standing: &RankedStrategy) -> StandingRecord {
        let row = self.rows.iter().find(|row| row.strategy == standing.strategy);
        let (place, tied) = match row.map(|row| row.place) {
            Some(RowRank::Ranked { rank, is_tied }) if self.has_intervals() => (Some(rank), is_tied),
            _ => (None, false),
        };
        let times = |of: fn(&Row) -> Option<Times>, score: Score| {
            row.and_then(of).map(|Times { ratio, interval }| TimesRecord {
                figure: score.path().to_owned(),
                ratio,
                low: interval.map(|(low, _)| low),
                high: interval.map(|(_, high)| high),
            })
        };
        StandingRecord {
            strategy: standing.strategy.clone(),
            rank: standing.rank,
            complete: standing.is_complete(),
            incomplete_because: standing.incomplete.clone(),
            on_pareto_front: standing.on_front,
            figures: figures_over_runs(&standing.figures),
            place,
            tied,
            times_best: times(|row| row.times_best, self.figure()),
            attempts_times_best: times(|row| row.attempts_times_best, Score::attempts()),
        }
    }
}
