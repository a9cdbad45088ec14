//! Compares `tailback-http` with other throttles for HTTP clients: cost per call, and behavior towards a throttling server.
//!
//!     throttles micro
//!     throttles live --mockserver PATH --loadgen PATH [--rounds 5] [--only WORD] [--experiment A|B|C]
#![forbid(unsafe_code)]

mod contestants;
mod live;
mod log;
mod micro;

use std::error::Error;
use std::process::ExitCode;

/// Error of any part of the program.
type Failed = Box<dyn Error + Send + Sync>;

const USAGE: &str = "\
usage: throttles micro
       throttles live --mockserver PATH --loadgen PATH [--rounds N] [--only WORD] [--experiment A|B|C]

micro  prints the time that each throttle adds to a call of an instant service
live   runs each client against a mockserver, and prints the median figures of its rounds";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("throttles: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failed> {
    match arguments.split_first() {
        Some((command, [])) if command == "micro" => micro::run(),
        Some((command, options)) if command == "live" => live::run(&parse(options)?),
        _ => Err(USAGE.into()),
    }
}

fn parse(options: &[String]) -> Result<live::Options, Failed> {
    let (mut mockserver, mut loadgen, mut rounds) = (None, None, 5);
    let (mut only, mut experiment) = (String::new(), None);
    for pair in options.chunks(2) {
        let [name, value] = pair else { return Err(format!("`{}` needs a value\n{USAGE}", pair[0]).into()) };
        match name.as_str() {
            "--mockserver" => mockserver = Some(value.into()),
            "--loadgen" => loadgen = Some(value.into()),
            "--rounds" => rounds = value.parse()?,
            "--only" => only.clone_from(value),
            "--experiment" => experiment = Some(value.clone()),
            _ => return Err(format!("`{name}` is not an option\n{USAGE}").into()),
        }
    }
    let mockserver = mockserver.ok_or("`--mockserver PATH` is missing")?;
    let loadgen = loadgen.ok_or("`--loadgen PATH` is missing")?;
    Ok(live::Options { mockserver, loadgen, rounds, only, experiment })
}
