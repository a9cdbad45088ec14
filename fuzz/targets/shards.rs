//! Fuzz target of shard documents, as `loadgen merge` reads them, restores their plans, and merges them.
#![no_main]

use experiments::manifest::restored;
use libfuzzer_sys::fuzz_target;
use results::{ReadShard, RunResult, TaskRecord, merged_clients};

fuzz_target!(|text: &str| {
    let Ok(shard) = ReadShard::read(text) else { return };
    for point in &shard.plan.points {
        let _ = restored(point, shard.plan.mode, &shard.plan.command_line);
    }
    for (_, text) in &shard.tasks {
        let Ok(TaskRecord { run, .. }) = TaskRecord::read(text) else { continue };
        let _ = merged_clients(vec![("alone".to_owned(), run.clone())]);
        let _ = merged_clients(vec![("one".to_owned(), run.clone()), ("next".to_owned(), next(run))]);
    }
});

fn next(mut run: RunResult) -> RunResult {
    if let Some(shard) = &mut run.shard {
        shard.index = shard.index.wrapping_add(1);
    }
    run
}
