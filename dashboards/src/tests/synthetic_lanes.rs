//! Synthetic comparisons for tests, with strategies half-way through their runs.

use std::time::Duration;

use crate::tests::synthetic_run::SyntheticRun;
use crate::{Column, Frame, GeneratorState, Lane, Lanes, Spread, Unit};

const COLUMNS: [Column; 3] = [
    Column { name: "makespan", unit: Unit::Seconds },
    Column { name: "attempts", unit: Unit::Count },
    Column { name: "p99", unit: Unit::Seconds },
];

fn spread(median: f64, around: f64) -> Spread {
    Spread { median, low: median * (1.0 - around), high: median * (1.0 + around) }
}

fn lane(name: &str, done: usize, runs: usize, each_ms: u64, medians: [f64; 3], around: f64) -> Lane {
    Lane {
        name: name.to_owned(),
        done,
        runs,
        took: Duration::from_millis(each_ms) * u32::try_from(done).unwrap(),
        figures: medians.map(|median| (done > 0).then(|| spread(median, around))).to_vec(),
        ..Lane::default()
    }
}

fn lanes(stage: &str, elapsed_s: u64, lanes: Vec<Lane>) -> Lanes {
    let (stage, elapsed) = (stage.to_owned(), Duration::from_secs(elapsed_s));
    Lanes { stage, elapsed, at_once: 1, columns: COLUMNS.to_vec(), lanes }
}

fn frame(run: SyntheticRun, seconds: f64) -> Box<Frame> {
    let generator = GeneratorState { cpu_share: 0.034, rss_bytes: 14_300_000, open_connections: 52 };
    Box::new(Frame { snapshot: run.until(seconds), generator, ..Frame::default() })
}

pub(crate) fn over_http() -> Lanes {
    let aimd = Lane {
        running: true,
        run: Some(frame(SyntheticRun::aimd(), 12.3)),
        ..lane("aimd", 2, 5, 25_300, [25.2, 2_088.0, 23.2], 0.002)
    };
    let backoff = Lane {
        run: Some(frame(SyntheticRun::overload(), 42.0)),
        ..lane("exponential:jitter=0.5,base=50ms,cap=30s", 3, 5, 41_400, [41.3, 17_330.0, 38.1], 0.1)
    };
    let none = Lane { short: 2, ..lane("none", 2, 5, 2_700, [2.6, 2_000.0, 0.6], 0.05) };
    let none = Lane { figures: vec![None, none.figures[1], None], ..none };
    lanes("seed 3 of 5", 187, vec![backoff, aimd, none])
}

pub(crate) fn start() -> Lanes {
    let first = Lane {
        running: true,
        run: Some(frame(SyntheticRun::aimd(), 0.3)),
        ..lane("aimd", 0, 5, 0, [0.0; 3], 0.0)
    };
    lanes("seed 1 of 5", 0, vec![first, lane("full-jitter", 0, 5, 0, [0.0; 3], 0.0)])
}

pub(crate) fn end() -> Lanes {
    let mut all = over_http();
    all.stage = "seed 5 of 5".to_owned();
    for lane in &mut all.lanes {
        (lane.done, lane.running, lane.took) = (5, false, lane.took / 2 * 5);
    }
    all
}

pub(crate) fn simulated() -> Lanes {
    let names = ["exponential:jitter=0.5", "full-jitter", "aimd", "immediate", "oracle"];
    let medians = [
        [41.3, 17_330.0, 38.1],
        [44.0, 21_004.0, 41.7],
        [25.2, 2_088.0, 23.2],
        [0.0; 3],
        [20.15, 2_000.0, 18.2],
    ];
    let mut all: Vec<Lane> = (0..)
        .zip(names)
        .zip(medians)
        .map(|((index, name), medians)| lane(name, 412 + index, 1_000, 7, medians, 0.08))
        .collect();
    all[3].short = all[3].done;
    all[3].figures = vec![None, Some(spread(1_203_411.0, 0.3)), None];
    Lanes { at_once: 2, ..lanes("server 1 of 5: as it is", 7, all) }
}

pub(crate) fn many() -> Lanes {
    let mut all: Vec<Lane> = (1..=25)
        .map(|beta| lane(&format!("aimd:beta=0.{beta:02}"), 3, 10, 5_000, [25.0, 2_088.0, 23.2], 0.0))
        .collect();
    all[20].running = true;
    lanes("seed 4 of 10", 375, all)
}
