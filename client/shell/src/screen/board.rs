//! Progress of the runs of several strategies, shown as lanes (one per strategy) on the dashboard, as plain lines, or not at all. Runs are
//! executed in a separate thread, and drawing never blocks them.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use dashboards::{Action, Background, Column, Frame, Lane, Lanes, LanesHeader, Liveness, Spread};
use experiments::runs::one_run::{PlannedBound, Underway};
use loadgen_http::{Command, Control};
use statistics::percentile;

use crate::screen::watch::{PlainProgress, Watch};
use crate::text::progress::Progress;
use crate::{Interrupt, locked};

/// Delay before the dashboard opens. Without the delay, the dashboard of a short command would only flash.
const PATIENCE: Duration = Duration::from_millis(300);

pub struct Board {
    header: LanesHeader,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    /// Content of the lanes, with one lane per strategy. Figures are added when the lanes are drawn.
    lanes: Lanes,
    /// Figures of completed runs, by lane (strategy) and column.
    values: Vec<Vec<Vec<f64>>>,
    watched: Option<Watched>,
}

struct Watched {
    lane: usize,
    control: Arc<Control>,
    bound: PlannedBound,
    meter: PlainProgress,
}

impl Board {
    pub fn new(
        header: LanesHeader,
        columns: Vec<Column>,
        names: impl Iterator<Item = String>,
        runs: usize,
        at_once: usize,
    ) -> Self {
        let lanes: Vec<Lane> = names.map(|name| Lane { name, runs, ..Lane::default() }).collect();
        let values = vec![vec![Vec::new(); columns.len()]; lanes.len()];
        let lanes = Lanes { at_once, columns, lanes, ..Lanes::default() };
        Self { header, started: Instant::now(), state: Mutex::new(State { lanes, values, watched: None }) }
    }

    pub fn stage(&self, words: String) {
        locked(&self.state).lanes.stage = words;
    }

    pub fn begin_anew(&self) {
        let mut state = locked(&self.state);
        state.values.iter_mut().flatten().for_each(Vec::clear);
        state.lanes.lanes.iter_mut().for_each(|lane| lane.short = 0);
    }

    /// Records that a run over HTTP is in progress and can be observed. Repeated calls for the same run have no effect.
    pub fn watch_run(&self, lane: usize, underway: &Underway) {
        let mut state = locked(&self.state);
        if state.watched.as_ref().is_none_or(|watched| !Arc::ptr_eq(&watched.control, &underway.control)) {
            let (control, bound) = (underway.control.clone(), underway.bound.clone());
            state.watched = Some(Watched { lane, control, bound, meter: PlainProgress::start() });
            for (index, row) in state.lanes.lanes.iter_mut().enumerate() {
                row.running = index == lane;
            }
            state.lanes.lanes[lane].run = Some(Box::default());
        }
    }

    /// Records a completed run: its figures by column, whether ops were left undone, and the run's duration.
    pub fn over(&self, lane: usize, figures: &[Option<f64>], short: bool, took: Duration) {
        let mut state = locked(&self.state);
        // The measurements of the run are read for the last time, because the run is about to be dropped.
        state.look();
        state.watched = None;
        for (values, figure) in state.values[lane].iter_mut().zip(figures) {
            values.extend(*figure);
        }
        let lane = &mut state.lanes.lanes[lane];
        lane.done += 1;
        lane.short += usize::from(short);
        lane.took += took;
        lane.running = false;
    }

    pub fn show<T: Send>(
        &self,
        mode: Watch,
        interrupt: &Interrupt,
        work: impl FnOnce() -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        thread::scope(|scope| {
            // The channel carries no values. Its sender is dropped when the runs end, even by a panic. The receiver observes that the
            // channel is closed.
            let (working_on, over) = channel::<()>();
            let working = move || {
                let _working_on = working_on;
                work()
            };
            let working = thread::Builder::new()
                .spawn_scoped(scope, working)
                .context("the thread of the runs could not be started")?;
            match mode {
                Watch::Dashboard(background) => self.dashboard(background, &over, interrupt),
                Watch::Lines => self.lines(&over),
                Watch::Ndjson | Watch::Silent => {}
            }
            working.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    fn dashboard(&self, background: Background, over: &Receiver<()>, interrupt: &Interrupt) {
        if over.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let refresh = |lanes: &mut Lanes| {
            self.fill(lanes);
            let over = over.recv_timeout(Duration::ZERO) != Err(RecvTimeoutError::Timeout);
            if over { Liveness::Over } else { Liveness::Running }
        };
        let act = |_: Action| interrupt.on_key();
        if let Err(error) = dashboards::watch_lanes(self.header.clone(), background, refresh, act) {
            interrupt.on_blind(&error);
            self.lines(over);
        }
    }

    fn lines(&self, over: &Receiver<()>) {
        let mut progress = Progress::new(true);
        let mut lanes = Lanes::default();
        while over.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
            progress.line(|| {
                self.fill(&mut lanes);
                dashboards::lanes_line(&lanes, self.header.time_scale)
            });
        }
    }

    fn fill(&self, into: &mut Lanes) {
        let mut state = locked(&self.state);
        state.look();
        state.lanes.elapsed = self.started.elapsed();
        let State { lanes, values, .. } = &mut *state;
        for (lane, values) in lanes.lanes.iter_mut().zip(values) {
            lane.figures = values.iter_mut().map(|values| spread(values)).collect();
        }
        into.clone_from(lanes);
    }
}

impl State {
    fn look(&mut self) {
        let Some(watched) = &mut self.watched else { return };
        let lane = &mut self.lanes.lanes[watched.lane];
        let frame: &mut Frame = lane.run.get_or_insert_default();
        let (connections, _) = watched.control.latest(&mut frame.snapshot);
        watched.control.ask(Command::Snapshot);
        watched.bound.tell(&mut frame.snapshot);
        frame.generator = watched.meter.read(connections);
    }
}

/// Returns the median, the minimum and the maximum of the values. Sorting is cheap, because all values but the last few are already sorted.
fn spread(values: &mut [f64]) -> Option<Spread> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (*values.first()?, *values.last()?);
    Some(Spread { median: percentile(values, 0.5)?, low, high })
}

#[cfg(test)]
mod tests {
    use dashboards::Unit;

    use super::*;

    fn board() -> Board {
        let columns = vec![
            Column { name: "makespan", unit: Unit::Seconds },
            Column { name: "attempts", unit: Unit::Count },
        ];
        let names = ["aimd", "none"].map(str::to_owned).into_iter();
        Board::new(LanesHeader::default(), columns, names, 3, 1)
    }

    /// Counts of runs are kept across experiments.
    #[test]
    fn lanes_show_medians_until_the_next_experiment_begins() {
        let board = board();
        for (makespan_s, attempts) in [(27.0, 2_090.0), (25.0, 2_100.0), (26.0, 2_080.0)] {
            board.over(0, &[Some(makespan_s), Some(attempts)], false, Duration::from_secs(5));
        }
        board.over(1, &[None, Some(2_000.0)], true, Duration::from_secs(1));
        let mut lanes = Lanes::default();
        board.fill(&mut lanes);
        let [aimd, none] = &lanes.lanes[..] else { panic!("two lanes") };
        assert_eq!(aimd.figures[0], Some(Spread { median: 26.0, low: 25.0, high: 27.0 }));
        assert_eq!((aimd.done, aimd.short, aimd.took), (3, 0, Duration::from_secs(15)));
        assert_eq!((none.figures[0], none.figures[1].map(|spread| spread.median)), (None, Some(2_000.0)));
        assert_eq!((none.done, none.short), (1, 1));

        board.begin_anew();
        board.fill(&mut lanes);
        assert_eq!(lanes.lanes[0].figures, [None, None]);
        assert_eq!((lanes.lanes[0].done, lanes.lanes[1].short), (3, 0), "runs still count");
    }

    #[test]
    fn work_runs_with_or_without_output_and_panics_propagate() {
        let interrupt = Interrupt::default();
        for mode in [Watch::Silent, Watch::Lines] {
            assert_eq!(board().show(mode, &interrupt, || Ok(7)).unwrap(), 7);
        }
        let panicked = std::panic::catch_unwind(|| {
            board().show::<()>(Watch::Silent, &Interrupt::default(), || panic!("as a bug would"))
        });
        assert!(panicked.is_err());
    }
}
