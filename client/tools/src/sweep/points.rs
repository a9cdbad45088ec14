//! Points of a sweep. Each point is the command line with one value of every axis added.

use std::ffi::OsString;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use experiments::runs::point::{Point, SweepPoint};
use experiments::servers::server_under_test::GivenServer;
use results::Axis;
use shell::runner::experiment::DEFAULT_STRATEGY;
use shell::runner::multi_strategy::configured;
use shell::text::thousands;
use shell::{args, usage, usage_because};
use tailback::StrategySpec;
use vocabulary::did_you_mean;

use crate::sweep::args::SweepArgs;
use crate::sweep::axis::parameter;

/// Flags that a sweep does not vary, because `--repeats` already varies seeds and a time scale changes no figure.
const NOT_VARIED: [&str; 3] = ["seed", "repeats", "time-scale"];

/// Maximum number of points of a sweep. Each point is checked before any run starts, and users would not wait for more points.
const MAX_POINTS: usize = 10_000;

pub(super) fn name(axes: &[Axis], at: &[String]) -> String {
    let pairs = axes.iter().zip(at).map(|(axis, value)| format!("{}={value}", axis.key));
    pairs.collect::<Vec<_>>().join(", ")
}

/// Returns the varied flags with their values at a point. Parameters of strategies are left out, because they are the client's choice and
/// not part of its situation.
pub(super) fn situation(axes: &[Axis], at: &[String]) -> SweepPoint {
    let flags = axes.iter().zip(at).filter(|(axis, _)| parameter(axis).is_none());
    SweepPoint(flags.map(|(axis, value)| (axis.key.clone(), value.clone())).collect())
}

/// Returns the strategies of a sweep; none for the default strategy, which depends on the server. If a parameter is varied, it is one of
/// the default strategy, which then does not depend on the server.
pub(super) fn named(args: &SweepArgs) -> anyhow::Result<Vec<StrategySpec>> {
    let mut strategies: Vec<_> = args.strategies.iter().flat_map(|list| list.0.iter().cloned()).collect();
    if strategies.is_empty() && args.vary.iter().any(|axis| parameter(axis).is_some()) {
        strategies.push(DEFAULT_STRATEGY.parse()?);
    }
    Ok(strategies)
}

/// Returns every point of the grid. The first axis varies slowest. Invalid points are rejected before any run starts.
pub(super) fn points(
    args: &SweepArgs,
    strategies: &[StrategySpec],
    typed: &[OsString],
) -> anyhow::Result<Vec<Point>> {
    let flags = &SweepArgs::flags();
    let given = SweepArgs::matches(typed)?;
    for (index, axis) in args.vary.iter().enumerate() {
        if args.vary[..index].iter().any(|other| other.key == axis.key) {
            return Err(refusal(axis, "is varied twice; put all its values into one `--vary`"));
        }
        match parameter(axis) {
            None => {
                check_flag(axis, flags, &given)?;
                if args.several.target.target.is_some() && is_of_the_server(&axis.key, flags) {
                    let words = "belongs to the embedded server, and a server of `--target` cannot be changed; vary the workload or a strategy, or leave out `--target`";
                    return Err(refusal(axis, words));
                }
            }
            Some((part, key)) => check_parameter(axis, part, key, strategies)?,
        }
    }
    let many = args.vary.iter().map(|axis| axis.values.len()).product::<usize>();
    if many > MAX_POINTS {
        let (many, most) = (thousands(many as u64), thousands(MAX_POINTS as u64));
        return Err(usage(format!(
            "`--vary`: {many} points are too many; the maximum is {most}, so vary in larger steps"
        )));
    }
    let mut reached = None;
    Axis::combinations(&args.vary)
        .into_iter()
        .map(|at| point(args, typed, strategies, at, &mut reached))
        .collect()
}

fn refusal(axis: &Axis, words: impl std::fmt::Display) -> anyhow::Error {
    usage(format!("`--vary {}`: `{0}` {words}", axis.key))
}

/// Checks a varied flag. It must belong to the workload or the server, take a value, and not also be given on the command line.
fn check_flag(axis: &Axis, flags: &Command, given: &ArgMatches) -> anyhow::Result<()> {
    let name = axis.key.as_str();
    let offered = |flag: &&clap::Arg| {
        let heading = flag.get_help_heading().unwrap_or_default();
        let about_runs = heading == args::WORKLOAD || heading == args::MOCK_SERVER;
        about_runs && flag.get_action().takes_values()
    };
    let names: Vec<&str> = flags.get_arguments().filter(offered).filter_map(clap::Arg::get_long).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !NOT_VARIED.contains(name)).collect();
    if NOT_VARIED.contains(&name) {
        let words = if name == "time-scale" {
            "changes no figure of the experiment"
        } else {
            "cannot be varied, because `--repeats` sets the number of seeds at every point"
        };
        return Err(refusal(axis, words));
    }
    if !names.contains(&name) {
        let known = did_you_mean(name, names.iter().copied());
        let words = format!(
            "is not a flag of the workload or the server with a value{known}; there are: {}",
            names.join(", ")
        );
        return Err(refusal(axis, words));
    }
    let id = flags.get_arguments().find(|flag| flag.get_long() == Some(name)).map(clap::Arg::get_id);
    let source = id.and_then(|id| given.value_source(id.as_str()));
    if source == Some(ValueSource::CommandLine) {
        return Err(refusal(
            axis,
            format_args!("is varied, and `--{name}` is given, too; leave one of them out"),
        ));
    }
    Ok(())
}

fn is_of_the_server(name: &str, flags: &Command) -> bool {
    let flag = flags.get_arguments().find(|flag| flag.get_long() == Some(name));
    flag.and_then(clap::Arg::get_help_heading) == Some(args::MOCK_SERVER)
}

/// Checks a varied strategy parameter. A strategy must have the named part, no strategy may set the parameter itself, and every value must
/// be valid.
fn check_parameter(axis: &Axis, part: &str, key: &str, strategies: &[StrategySpec]) -> anyhow::Result<()> {
    let named = part.strip_prefix("preset:").unwrap_or(part);
    if tailback::find(part).is_none() && tailback::preset(named).is_none() {
        let known = tailback::STRATEGIES.iter().map(|entry| entry.name).chain(tailback::preset_names());
        let words = format!("belongs to none of the strategies{}", did_you_mean(part, known));
        return Err(refusal(axis, words));
    }
    if !strategies.iter().any(|strategy| strategy.has_part(part)) {
        return Err(refusal(axis, format_args!("belongs to `{part}`; add `{part}` to `--strategies`")));
    }
    if let Some(setting) = strategies.iter().find(|strategy| strategy.sets(part, key)) {
        let words = format!("is varied and also set by `{setting}`; leave it out there");
        return Err(refusal(axis, words));
    }
    for (strategy, value) in
        strategies.iter().flat_map(|strategy| axis.values.iter().map(move |value| (strategy, value)))
    {
        strategy
            .with(part, key, value)
            .map_err(|error| usage_because(format!("`--vary {}`", axis.key), error))?;
    }
    Ok(())
}

fn point(
    args: &SweepArgs,
    typed: &[OsString],
    strategies: &[StrategySpec],
    at: Vec<String>,
    reached: &mut Option<Arc<GivenServer>>,
) -> anyhow::Result<Point> {
    let refused = format!("`--vary`: {} cannot be run", name(&args.vary, &at));
    // Varied flags are appended to the command line, so that they are parsed like flags that a user gives.
    let mut all = typed.to_vec();
    for (axis, value) in args.vary.iter().zip(&at) {
        if parameter(axis).is_none() {
            all.push(format!("--{}={value}", axis.key).into());
        }
    }
    let read = SweepArgs::read(&all).map_err(|error| {
        let words = error.to_string();
        let first = words.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        usage_because(refused.clone(), anyhow::anyhow!(first))
    })?;
    let rate = read.several.workload.0.rate.as_ref();
    if let Some(axis) =
        args.vary.iter().find(|axis| axis.key == "rate" && rate.is_some_and(|rate| rate.steady().is_none()))
    {
        return Err(refusal(axis, "must be one rate at every point; stages cannot be varied"));
    }
    let mix = read.several.workload.0.mix.as_ref();
    let has_query = mix.is_some_and(|mix| mix.kinds().iter().any(|kind| kind.query.is_some()));
    if let Some(axis) = args.vary.iter().find(|axis| axis.key == "mix" && has_query) {
        return Err(refusal(
            axis,
            "must have no query at any point, because results have the values of points",
        ));
    }
    let mut here = Vec::with_capacity(strategies.len());
    for strategy in strategies {
        let mut strategy = strategy.clone();
        for (axis, value) in args.vary.iter().zip(&at) {
            if let Some((part, key)) = parameter(axis)
                && let Some(with) = strategy.with(part, key, value)?
            {
                strategy = with;
            }
        }
        here.push(strategy);
    }
    let (experiments, server_under_test) = configured(&read.several, here, &refused, reached)?;
    Ok(Point { situation: situation(&args.vary, &at), at, experiments, server_under_test })
}
