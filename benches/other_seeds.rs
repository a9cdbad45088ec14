//! Check of the built-in scenarios with other base seeds: a verdict that changes with the seed is noise.
//!
//! `cargo build --release && cargo run --release --example other_seeds [SEED …]` runs `loadgen reproduce` with the
//! default seed, and then with each of the base seeds (1001, 2001, … 6001 if none is named). It compares verdict by
//! verdict, and exits with 1 if one differs. It takes some minutes, because it runs all scenarios seven times.

#![expect(clippy::print_stdout, reason = "what it found is its output")]

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde_json::Value;

/// Base seeds so far apart that their runs share no seed, because no cell has more than a thousand repeats.
const OTHER_SEEDS: [u64; 6] = [1001, 2001, 3001, 4001, 5001, 6001];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<ExitCode> {
    let named: Vec<u64> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<std::result::Result<_, _>>()?;
    let seeds = if named.is_empty() { OTHER_SEEDS.to_vec() } else { named };
    let usual = verdicts(None)?;
    println!("{} verdicts with the default seed", usual.len());
    let mut differing = 0;
    for seed in seeds {
        let other = verdicts(Some(seed))?;
        if other.len() != usual.len() {
            return Err(format!("seed {seed}: {} claims instead of {}", other.len(), usual.len()).into());
        }
        let differ: Vec<_> = usual.iter().zip(&other).filter(|(usual, other)| usual != other).collect();
        println!("seed {seed}: {} the same, {} not", usual.len() - differ.len(), differ.len());
        for (usual, other) in &differ {
            println!("  {}: {}", usual.scenario, usual.says);
            println!("    {}: {}", usual.verdict, usual.ours);
            println!("    {}: {}", other.verdict, other.ours);
        }
        differing += differ.len();
    }
    Ok(if differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Debug)]
struct Judged {
    scenario: String,
    says: String,
    verdict: String,
    ours: String,
}

/// Compares claims and verdicts only, because figures may differ between seeds.
impl PartialEq for Judged {
    fn eq(&self, other: &Self) -> bool {
        (&self.scenario, &self.says, &self.verdict) == (&other.scenario, &other.says, &other.verdict)
    }
}

fn verdicts(seed: Option<u64>) -> Result<Vec<Judged>> {
    let mut command = Command::new(loadgen()?);
    command.args(["reproduce", "--json", "-", "--quiet"]);
    if let Some(seed) = seed {
        command.args(["--seed", &seed.to_string()]);
    }
    let output = command.output()?;
    // Exit code 1 means that some expectation failed. The comparison shows which one.
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let result: Value = serde_json::from_slice(&output.stdout)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for scenario in result["scenarios"].as_array().ok_or("no scenarios in the result")? {
        for claim in scenario["claims"].as_array().ok_or("no claims in a scenario")? {
            found.push(Judged {
                scenario: text(&scenario["name"]),
                says: text(&claim["says"]),
                verdict: text(&claim["verdict"]),
                ours: text(&claim["ours"]),
            });
        }
    }
    Ok(found)
}

fn loadgen() -> Result<PathBuf> {
    let example = std::env::current_exe()?;
    let found =
        example.parent().and_then(|examples| examples.parent()).map(|profile| profile.join("loadgen"));
    found.filter(|path| path.exists()).ok_or_else(|| "no loadgen beside it: build it first".into())
}
