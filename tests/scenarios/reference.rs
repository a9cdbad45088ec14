//! Models with randomness equal reference tables of other programs within four standard errors.

use reproduce::reproduction::Changes;
use reproduce::scenario::embedded;

use super::figures::{Cell, cells};
use crate::support::{built_in, full_or, planned, run_only, scenario_of, with_further_runs};

/// Minimum number of seeds of a cell, in full size and thinned.
const SEEDS: (f64, f64) = (30.0, 10.0);

/// A published mean with its standard deviation over seeds, and half a unit of its last digit.
#[derive(Clone, Copy)]
struct Published {
    mean: f64,
    deviation: Option<f64>,
    seeds: f64,
    rounding: f64,
}

fn published(text: &str, seeds: f64) -> Published {
    let (mean, deviation) = text.split_once('±').map_or((text, None), |(mean, sd)| (mean, Some(sd)));
    let decimals = mean.split_once('.').map_or(0, |(_, after)| after.len());
    let rounding = 0.5 * 0.1_f64.powi(i32::try_from(decimals).unwrap());
    // The deviation is also rounded: to the same number of digits, or to the tenth.
    let deviation = deviation.map(|sd| sd.parse::<f64>().unwrap());
    Published { mean: mean.parse().unwrap(), deviation, seeds, rounding }
}

/// Returns the error of a cell's figure, in the table's unit. Without a published deviation, the cell's own is used.
fn compare(cell: Cell<'_>, figure: &str, unit: f64, wanted: Published) -> Option<String> {
    let ours = cell.mean(figure) / unit;
    let own_deviation = cell.of(figure, "sd") / unit;
    let seeds = cell.of(figure, "count");
    assert!(seeds >= full_or(SEEDS.0, SEEDS.1), "{seeds} seeds are too few");
    let deviation = wanted.deviation.map_or(own_deviation, |deviation| deviation + wanted.rounding.min(0.05));
    let error = deviation * (1.0 / wanted.seeds + 1.0 / seeds).sqrt();
    let off = (ours - wanted.mean).abs();
    (off > 4.0 * error + wanted.rounding).then(|| {
        let errors = (off - wanted.rounding) / error;
        format!(
            "{} {} {figure}: {ours:.3} ± {own_deviation:.3}, not {} ± {deviation:.3}: {errors:.1} standard errors",
            cell.experiment(),
            cell.label(),
            wanted.mean
        )
    })
}

fn check(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare_rows(
    result: &serde_json::Value,
    seeds: f64,
    columns: &[(&str, f64)],
    rows: &[(&str, &str, &[&str])],
    point: impl Fn(Cell<'_>) -> String,
) {
    let mut wrong = Vec::new();
    for (at, label, row) in rows {
        let cell = cells(result)
            .find(|cell| point(*cell) == *at && cell.label() == *label)
            .unwrap_or_else(|| panic!("`{label}` was not run at {at}"));
        assert_eq!(row.len(), columns.len(), "{label}");
        for ((figure, unit), text) in columns.iter().zip(*row) {
            let what = compare(cell, figure, *unit, published(text, seeds));
            wrong.extend(what.map(|what| format!("{at}: {what}")));
        }
    }
    check(&wrong);
}

const TIMES: [(&str, f64); 5] = [
    ("op_latency_ms.p50", 10.0),
    ("op_latency_ms.p75", 10.0),
    ("op_latency_ms.p95", 10.0),
    ("op_latency_ms.p99", 10.0),
    ("op_latency_ms.max", 10.0),
];

#[test]
fn throttled_operations_take_the_published_attempts_and_times() {
    let result = scenario_of(built_in("sync-musings"));
    let mut wrong = Vec::new();
    let main = |label: &str| {
        cells(&result).find(|cell| cell.experiment() == "main" && cell.label() == label).unwrap()
    };
    for (label, attempts, makespan, seeds) in [
        ("exponential", "17405±73", "45.1±7.0", 100.0),
        ("aimd", "2088", "25.2", 10.0),
        ("aimd 0.5", "2032", "30.6", 10.0),
        ("tahoe", "2081", "25.2", 10.0),
        ("tahoe 0.5", "2032", "31.2", 10.0),
        ("oracle", "2000", "20.1", 10.0),
    ] {
        wrong.extend(compare(main(label), "attempts.total", 1.0, published(attempts, seeds)));
        wrong.extend(compare(main(label), "makespan_s", 1.0, published(makespan, seeds)));
        assert!((main(label).mean("ops.succeeded") - 2000.0).abs() < 1e-9);
    }
    for (ops, efficiency) in [("100", "0.450"), ("5000", "0.098")] {
        let cell = cells(&result).find(|cell| cell.experiment() == "growth" && cell.at("ops") == ops);
        wrong.extend(compare(cell.unwrap(), "efficiency", 1.0, published(efficiency, 100.0)));
    }
    check(&wrong);
}

#[test]
fn contending_writers_take_the_published_times_and_calls() {
    let result = scenario_of(built_in("occ"));
    let table: [(&str, [[&str; 2]; 5]); 5] = [
        ("1", [["40.2±3.9", "1"]; 5]),
        (
            "10",
            [
                ["382±34", "51.0±4.0"],
                ["3433±1292", "50.7±4.3"],
                ["463±97", "39.0±2.3"],
                ["731±170", "42.7±2.4"],
                ["439±73", "37.9±2.2"],
            ],
        ),
        (
            "50",
            [
                ["1141±46", "690.4±16.2"],
                ["36239±3084", "623.0±25.0"],
                ["2891±541", "332.7±5.4"],
                ["4308±588", "348.3±6.1"],
                ["2166±511", "375.1±12.3"],
            ],
        ),
        (
            "100",
            [
                ["2030±46", "2420.9±35.0"],
                ["63146±3841", "1856.0±60.2"],
                ["4831±517", "796.2±7.0"],
                ["6759±626", "812.5±8.3"],
                ["4674±790", "1001.0±28.9"],
            ],
        ),
        (
            "200",
            [
                ["3704±52", "8817.0±71.6"],
                ["105887±4237", "5636.0±117"],
                ["7698±551", "1890.6±13.1"],
                ["9720±659", "1872.9±10.9"],
                ["8130±811", "2607.1±65.5"],
            ],
        ),
    ];
    let labels = ["none", "exponential", "full", "equal", "decorrelated"];
    let rows: Vec<(&str, &str, &[&str])> = table
        .iter()
        .flat_map(|(clients, row)| labels.iter().zip(row).map(|(label, cell)| (*clients, *label, &cell[..])))
        .collect();
    let columns = [("makespan_s", 1e-3), ("server.received", 1.0)];
    let contention = |cell: Cell<'_>| match cell.experiment() {
        "contention" => cell.at("clients").into_owned(),
        other => other.to_owned(),
    };
    compare_rows(&result, 100.0, &columns, &rows, contention);
}

#[test]
fn an_overwhelmed_queue_takes_the_published_times_and_requests() {
    let mut rows: Vec<(&str, &str, &[&str])> = vec![
        ("text", "URB", &["1486±31", "2475±27", "3235±43", "3432±15", "3473±12", "82604±222", "614±2"]),
        ("text", "EB", &["5.0", "39.6±14", "306±31", "450±49", "558±69", "2875±163", "800"]),
        ("text", "REB", &["5.0±.2", "70.0±14", "272±26", "383±33", "475±44", "4118±325", "800"]),
        ("figures", "EB", &["5.0", "12.2±5", "213±21", "313±33", "378±37", "2192±110", "800"]),
        ("figures", "REB 1", &["5.0", "26.7±15", "192±16", "266±20", "319±25", "2859±187", "800"]),
    ];
    let slow: [(&str, &str, &[&str]); 4] = [
        ("text", "CB", &["1365±82", "2258±72", "2940±83", "3097±62", "3141±58", "73558±1513", "653±33"]),
        ("text", "NB", &["1527±29", "2535±30", "3381±39", "3682±23", "3733±13", "89773±227", "607±2"]),
        ("figures", "NB 1", &["1501±29", "2493±33", "3291±40", "3525±18", "3566±12", "85297±258", "613±2"]),
        ("figures", "URB 1", &["1458±31", "2407±26", "3136±35", "3306±13", "3345±14", "79254±257", "620±2"]),
    ];
    rows.extend(slow);
    let result = scenario_of(built_in("exploring-backoff"));
    let mut columns = TIMES.to_vec();
    columns.extend([("attempts.total", 1.0), ("done by 3000", 1.0)]);
    compare_rows(&result, 100.0, &columns, &rows, |cell| cell.experiment().to_owned());
    // This case is at a tipping point, so only its order of magnitude is checked.
    let bistable = cells(&result).find(|cell| cell.experiment() == "figures" && cell.label() == "CB");
    let requests = bistable.unwrap().mean("attempts.total");
    assert!((20_000.0..75_000.0).contains(&requests), "{requests}");
}

#[test]
fn a_random_order_queue_has_the_published_times_and_requests() {
    let mut rows: Vec<(&str, &str, &[&str])> = vec![
        ("random", "EB", &["5.0", "40.4±13", "289±29", "416±45", "522±59", "2828±165", "800"]),
        ("random", "REB", &["5.0", "66.4±12", "267±26", "380±37", "464±42", "4031±319", "800"]),
    ];
    let slow: [(&str, &str, &[&str]); 2] = [
        (
            "random",
            "CB",
            &["3112±1256", "4278±1611", "4898±1707", "5063±1708", "5113±1707", "123425±42806", "382±165"],
        ),
        (
            "random",
            "URB",
            &["6187±242", "8018±257", "8774±266", "8953±258", "8996±256", "221102±6359", "193±9"],
        ),
    ];
    let seldom: [(&str, &str, &[&str]); 1] = [(
        "random",
        "NB",
        &["7762±223", "10147±240", "11105±240", "11354±234", "11403±231", "281885±5782", "151±6"],
    )];
    rows.extend(slow);
    let result = with_further_runs("exploring-backoff", "random", full_or(30, 10));
    let mut columns = TIMES.to_vec();
    columns.extend([("attempts.total", 1.0), ("done by 3000", 1.0)]);
    compare_rows(&result, 100.0, &columns, &rows, |cell| cell.experiment().to_owned());
    compare_rows(&result, 60.0, &columns, &seldom, |cell| cell.experiment().to_owned());
}

fn in_flight(cell: Cell<'_>) -> String {
    match cell.experiment() {
        "submitters" => cell.at("in_flight").into_owned(),
        other => other.to_owned(),
    }
}

/// They complete as many jobs, and crash as often.
#[test]
fn submitters_that_share_descriptors_match_the_publication() {
    let (few, many) = (["25", "100", "200", "250", "300", "350", "375"], ["400", "500"]);
    let fixed: [&[&str]; 7] = [
        &["799.8±.4", "0"],
        &["737.0±.3", "0"],
        &["667.4±.5", "0"],
        &["637.0±.3", "0"],
        &["358±1", "8"],
        &["245±7", "11.8"],
        &["152±7", "14.9"],
    ];
    let aloha: [&[&str]; 7] =
        [fixed[0], fixed[1], fixed[2], fixed[3], &["424±9", "7"], &["331±1", "9"], &["267±3", "11"]];
    let ethernet: [&[&str]; 7] = [
        fixed[0],
        fixed[1],
        fixed[2],
        &["642.7±.5", "0"],
        &["640.6±.5", "0"],
        &["538±13", "2.9"],
        &["522±16", "3.3"],
    ];
    let mut rows = Vec::new();
    for (label, column) in [("fixed", fixed), ("aloha", aloha), ("ethernet", ethernet)] {
        rows.extend(few.iter().zip(column).map(|(clients, row)| (*clients, label, row)));
    }
    let columns = [("ops.succeeded", 1.0), ("server.crashes", 1.0)];
    let result = with_further_runs("ethernet", "submitters", full_or(30, 20));
    compare_rows(&result, 20.0, &columns, &rows, in_flight);

    let aloha: [&[&str]; 2] = [&["206±5", "13"], &["174.5±1", "14"]];
    let ethernet: [&[&str]; 2] = [&["520±17", "3.4"], &["501±11", "3.9"]];
    let mut rows = Vec::new();
    for (label, column) in [("aloha", aloha), ("ethernet", ethernet)] {
        rows.extend(many.iter().zip(column).map(|(clients, row)| (*clients, label, row)));
    }
    compare_rows(&result, 20.0, &columns, &rows, in_flight);
}

/// The processes alone use all descriptors.
#[test]
fn without_delay_no_job_is_done_if_descriptors_are_exhausted() {
    // Holds for every seed, because 400 processes use all 7600 descriptors.
    let result = scenario_of(built_in("ethernet"));
    let of = |cell: &Cell<'_>| {
        let many = ["400", "500"].contains(&&*in_flight(*cell));
        cell.experiment() == "submitters" && cell.label() == "fixed" && many
    };
    let found: Vec<Cell<'_>> = cells(&result).filter(of).collect();
    assert_eq!(found.len(), 2);
    for cell in found {
        assert_eq!((cell.of("ops.succeeded", "max"), cell.of("server.crashes", "min")), (0.0, 20.0));
    }
}

/// Duration of an outage in seconds. For each cap: mean, 95th percentile and maximum of the notice delay, and mean attempts.
type Outage = (f64, &'static [(&'static str, [&'static str; 3], Option<&'static str>)]);

#[test]
fn the_end_of_an_outage_is_noticed_after_published_delays() {
    const OPS: f64 = 700.0;
    const OUTAGES: &[Outage] = &[
        (1.0, &[("10s", [".50", "1.0", "1.0"], None), ("3600s", [".50", "1.0", "1.0"], None)]),
        (10.0, &[("10s", ["4.21", "9.8", "10.0"], None), ("3600s", ["5.08", "14.1", "15.9"], None)]),
        (
            30.0,
            &[
                ("10s", ["4.61", "9.8", "10.0"], Some("6.4")),
                ("30s", ["16.39", "24.7", "29.2"], Some("6.0")),
                ("60s", ["16.52", "25.2", "30.8"], Some("6.0")),
                ("3600s", ["16.52", "25.2", "30.8"], Some("6.0")),
            ],
        ),
        (
            300.0,
            &[
                ("10s", ["4.57", "9.8", "10.0"], Some("33.4")),
                ("30s", ["16.37", "24.7", "29.1"], Some("15.0")),
                ("60s", ["34.26", "50.7", "59.6"], Some("11.0")),
                ("300s", ["88.0", "158", "300"], Some("9.0")),
                ("3600s", ["89.7", "158", "511"], Some("9.0")),
            ],
        ),
        (
            1800.0,
            &[
                ("10s", ["4.68", "9.8", "10.0"], Some("183")),
                ("30s", ["16.36", "24.7", "29.0"], Some("65")),
                ("60s", ["34.24", "50.7", "59.7"], Some("36")),
                ("300s", ["87.6", "162", "300"], Some("14.0")),
                ("3600s", ["1176", "1786", "2038"], Some("11.9")),
            ],
        ),
    ];
    let run = |outages: &str, caps: &str| {
        let settings = [
            "claim=[]",
            &format!("experiment.outage.workload.ops={OPS}"),
            &format!("experiment.outage.vary={{outages={outages},'strategy.cap'={caps}}}"),
        ];
        let changes = Changes { repeats: Some(30), seed: None };
        scenario_of(&run_only(planned(&embedded("ethernet").unwrap(), &settings, changes), &["outage"]))
    };
    let short = run("['0s..1s','0s..10s','0s..30s']", "['10s','30s','60s','3600s']");
    let long = run("['0s..300s','0s..1800s']", "['10s','30s','60s','300s','3600s']");
    let all: Vec<Cell<'_>> = cells(&short).chain(cells(&long)).collect();
    let mut wrong = Vec::new();
    for (lasts, caps) in OUTAGES {
        for (cap, figures, attempts) in *caps {
            let outage = format!("0s..{lasts}s");
            let cell = all.iter().find(|cell| {
                cell.experiment() == "outage"
                    && cell.at("outages") == outage
                    && cell.at("strategy.cap") == *cap
            });
            let cell = *cell.unwrap();
            for (figure, text) in ["mean", "p95"].iter().zip(figures) {
                // The table has 20 000 clients, and each run here has 700.
                let mut wanted = published(text, 20_000.0 / OPS);
                wanted.mean += lasts;
                let found = compare(cell, &format!("op_latency_ms.{figure}"), 1000.0, wanted);
                wrong.extend(found.map(|what| format!("{outage} cap {cap}: {what}")));
            }
            let longest = cell.of("op_latency_ms.max", "max") / 1000.0 - lasts;
            let wanted = published(figures[2], 1.0);
            if (longest / wanted.mean - 1.0).abs() > 0.05 {
                wrong.push(format!("{outage} cap {cap}: the longest took {longest}, not {}", wanted.mean));
            }
            if let Some(attempts) = attempts {
                let found = compare(cell, "amplification", 1.0, published(attempts, 20_000.0 / OPS));
                wrong.extend(found.map(|what| format!("{outage} cap {cap}: {what}")));
            }
        }
    }
    check(&wrong);
}
