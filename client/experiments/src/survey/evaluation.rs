//! Ratios of the figures of each strategy to the figures of a reference strategy. A run of the strategy is paired with the reference
//! strategy's run that has the same setting and seed.

use serde::Serialize;
use statistics::{Comparison, Level, Margin, Method, PairedRatio};

use super::document::{Run, Survey, Surveyed};
use super::groups::Group;

/// Minimum ratio of times for slowness. In a setting, a strategy counts as slower than the reference if its time exceeds the reference's
/// time by more than this factor.
pub const SLOWER: f64 = 1.1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Against {
    /// Index of the strategy on the command line, from 0.
    pub strategy: usize,
    pub reference: usize,
}

/// Geometric mean, over settings, of the ratios to the reference strategy, with the 95 % confidence interval of the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    pub mean: f64,
    /// Lower and upper end of the confidence interval of a strategy's ratio to the reference strategy. It is computed with Student's t on
    /// logarithms. `None` if there are fewer than five settings.
    pub interval: Option<(f64, f64)>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub settings: usize,
    pub time: Ratio,
    pub attempts: Ratio,
    pub slower: usize,
    /// Largest ratio of times in any setting, and the number of that setting.
    pub worst: (f64, u64),
    /// Number of settings in which the strategy left at least one of its runs unfinished.
    pub unfinished: usize,
    /// Number of settings in which only the strategy failed to finish: it left at least one run unfinished, and the reference strategy
    /// finished all runs.
    pub unfinished_alone: usize,
    /// Mean of Jain's fairness index over the runs of a group of settings. `None` unless every setting of the group has several clients.
    pub fairness: Option<f64>,
}

impl Survey {
    pub fn of_group(&self, group: &Group, reference: usize) -> impl Iterator<Item = &Surveyed> {
        self.settings.iter().filter(move |surveyed| group.contains(surveyed, reference))
    }

    pub fn row(&self, group: &Group, against: Against) -> Option<Row> {
        let all: Vec<&Surveyed> = self.of_group(group, against.reference).collect();
        let times: Vec<(f64, u64)> =
            all.iter().map(|surveyed| (surveyed.time_ratio(against), surveyed.setting.number)).collect();
        let worst = times.iter().copied().max_by(|one, other| one.0.total_cmp(&other.0))?;
        let finishes =
            |surveyed: &&&Surveyed, strategy: usize| surveyed.runs[strategy].iter().all(Run::is_finished);
        let unfinished = || all.iter().filter(|surveyed| !finishes(surveyed, against.strategy));
        let runs = || all.iter().flat_map(|surveyed| &surveyed.runs[against.strategy]);
        let fairness: Option<Vec<f64>> = runs().map(|run| run.fairness).collect();
        Some(Row {
            settings: all.len(),
            time: Ratio::new(times.iter().map(|(ratio, _)| *ratio)),
            attempts: Ratio::new(all.iter().map(|surveyed| surveyed.attempts_ratio(against))),
            slower: times.iter().filter(|(ratio, _)| *ratio > SLOWER).count(),
            worst,
            unfinished: unfinished().count(),
            unfinished_alone: unfinished().filter(|surveyed| finishes(surveyed, against.reference)).count(),
            fairness: fairness.map(|indices| indices.iter().sum::<f64>() / indices.len() as f64),
        })
    }
}

impl Surveyed {
    pub fn time_ratio(&self, against: Against) -> f64 {
        self.ratio(against, Run::time_s)
    }

    pub fn attempts_ratio(&self, against: Against) -> f64 {
        self.ratio(against, Run::attempts_for_all)
    }

    fn ratio(&self, Against { strategy, reference }: Against, figure: fn(&Run) -> f64) -> f64 {
        let pairs = self.runs[strategy].iter().zip(&self.runs[reference]);
        let logs = pairs.map(|(run, of_reference)| libm::log(figure(run) / figure(of_reference)));
        libm::exp(logs.sum::<f64>() / self.runs[strategy].len() as f64)
    }
}

impl Ratio {
    fn new(ratios: impl Iterator<Item = f64>) -> Self {
        let ratios: Vec<f64> = ratios.collect();
        let comparison =
            Comparison { level: Level::P95, method: Method::StudentT, margin: Margin::TWO_PERCENT };
        match PairedRatio::new(&ratios, &vec![1.0; ratios.len()], comparison) {
            Ok(found) => Self {
                mean: found.ratio,
                interval: found.interval.map(|interval| (interval.low, interval.high)),
            },
            Err(_) => Self { mean: f64::NAN, interval: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GROUPS, Limit, Setting};
    use super::*;

    fn run(end_s: f64, undone: u64) -> Run {
        Run { end_s, attempts: 200, undone, ops: 100, fairness: None }
    }

    fn survey(pairs: &[(Run, Run)]) -> Survey {
        let setting = |number| Setting {
            number,
            limit: Limit::Rate,
            clients: 1,
            slots: 0,
            rejected_count: false,
            flags: Vec::new(),
        };
        let surveyed = |(number, (reference, other)): (u64, &(Run, Run))| Surveyed {
            setting: setting(number),
            runs: vec![vec![*reference], vec![*other]],
        };
        Survey {
            seed: 1,
            repeats: 1,
            stopped_early: false,
            strategies: vec!["aimd".to_owned(), "none".to_owned()],
            settings: (0..).zip(pairs).map(surveyed).collect(),
        }
    }

    const AGAINST: Against = Against { strategy: 1, reference: 0 };

    /// Half the ops in 10 s count as 5 · 10 s / 0.5 = 100 s. The time is finite even if no op is done.
    #[test]
    fn unfinished_runs_count_five_times_their_time_per_share_done() {
        assert!((run(10.0, 0).time_s() - 10.0).abs() < 1e-12);
        assert!((run(10.0, 50).time_s() - 100.0).abs() < 1e-12);
        assert!((run(10.0, 50).attempts_for_all() - 400.0).abs() < 1e-12);
        assert!(run(10.0, 100).time_s().is_finite());
    }

    #[test]
    fn a_row_has_geometric_means_and_the_worst_setting() {
        let survey =
            survey(&[(run(10.0, 0), run(20.0, 0)), (run(10.0, 0), run(5.0, 0)), (run(1.0, 0), run(1.0, 1))]);
        let row = survey.row(&GROUPS[1], AGAINST).unwrap();
        let expected = libm::cbrt(2.0 * 0.5 * (5.0 / 0.99));
        assert!((row.time.mean - expected).abs() < 1e-9, "{row:?}");
        assert_eq!((row.settings, row.slower, row.unfinished, row.unfinished_alone), (3, 2, 1, 1));
        assert_eq!(row.worst.1, 2);
        assert_eq!(survey.row(&GROUPS[0], AGAINST), None);
    }

    #[test]
    fn impossible_surveys_are_refused() {
        let fine = survey(&[(run(10.5, 0), run(20.0, 3))]);
        assert_eq!(fine.validate(), Ok(()));
        let refused = |change: &dyn Fn(&mut Survey)| {
            let mut survey = fine.clone();
            change(&mut survey);
            assert!(survey.validate().is_err(), "{survey:?}");
        };
        refused(&|survey| survey.settings.clear());
        refused(&|survey| survey.strategies[1] = "aimd".to_owned());
        refused(&|survey| survey.repeats = 2);
        refused(&|survey| survey.settings.push(survey.settings[0].clone()));
        for impossible in [
            Run { attempts: 0, ..run(1.0, 0) },
            Run { fairness: Some(7.0), ..run(1.0, 0) },
            run(1.0, 101),
            run(0.0, 0),
            run(f64::INFINITY, 0),
            run(1e300, 0),
        ] {
            refused(&|survey| survey.settings[0].runs[1][0] = impossible);
        }
    }

    #[test]
    fn a_survey_is_read_as_it_was_written() {
        let survey = survey(&[(run(10.5, 0), run(20.0, 3))]);
        let text = serde_json::to_string(&survey).unwrap();
        assert_eq!(serde_json::from_str::<Survey>(&text).unwrap(), survey);
    }
}
