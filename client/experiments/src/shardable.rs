//! Rejection of experiments that cannot be divided among client shards.

use loadgen_core::ArrivalProcess;

use crate::error::Error;
use crate::experiment::Experiment;
use crate::servers::target::{Kind, Server};
use crate::sharded::{Sharded, StartChoice};

pub fn refuse_undividable(settings: &Experiment) -> Result<(), Error> {
    let Some(Sharded { shard, start }) = &settings.sharded else { return Ok(()) };
    let run = &settings.run;
    if matches!(run.workload.arrivals, ArrivalProcess::Closed { .. }) {
        return Err(Error::usage(
            "`--client-shard` cannot divide `--in-flight`, because the next op depends on the ops of other shards; use `--rate`",
        ));
    }
    if settings.strategy.needs_foreknowledge() {
        let words = format!(
            "`--client-shard` cannot divide `{}`, because it has one schedule for all clients",
            settings.strategy
        );
        return Err(Error::usage(words));
    }
    if run.share_strategy {
        return Err(Error::usage(
            "`--client-shard` cannot divide `--share-strategy`, because separate processes cannot share one strategy; leave one of the two flags out",
        ));
    }
    if run.clients < shard.of() {
        let words = format!(
            "`--client-shard {shard}` divides {} client{} among {} shards: give at least as many `--clients`",
            run.clients,
            if run.clients == 1 { "" } else { "s" },
            shard.of()
        );
        return Err(Error::usage(words));
    }
    if matches!(start, StartChoice::At(..)) && settings.repeats > 1 {
        return Err(Error::usage(
            "`--start-at` sets the start of one run only; leave out `--repeats`, or use `--barrier`",
        ));
    }
    Ok(())
}

pub fn refuse_own_server(settings: &Experiment, server: &Server) -> Result<(), Error> {
    if settings.sharded.is_none() || server.kind != Kind::Embedded {
        return Ok(());
    }
    Err(Error::usage(
        "`--client-shard` needs a server that all shards share, not an embedded one; start a mockserver and name it with `--target`",
    ))
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::time::UNIX_EPOCH;

    use loadgen_core::{ClientShard, RunConfig, Workload};

    use super::*;

    #[test]
    fn what_cannot_be_divided_is_refused_with_the_reason() {
        let refusal = |strategy: &str, repeats, run: RunConfig| {
            let shard = ClientShard::new(1, 4).unwrap();
            let sharded = Some(Sharded { shard, start: StartChoice::At(UNIX_EPOCH, 7) });
            let experiment = Experiment::of_run(strategy.parse().unwrap(), run);
            let refused = refuse_undividable(&Experiment { repeats, sharded, ..experiment });
            refused.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let four = || RunConfig { clients: 4, ..RunConfig::default() };
        let api_keys = NonZero::new(3);
        let requests = loadgen_core::Requests { api_keys, ..loadgen_core::Requests::default() };
        assert_eq!(refusal("aimd", 1, RunConfig { requests, ..four() }), "");
        let arrivals = ArrivalProcess::Closed { in_flight: 9 };
        let closed = Workload { arrivals, ..Workload::default() };
        for (words, told) in [
            ("divides 3 clients among 4 shards", refusal("aimd", 1, RunConfig { clients: 3, ..four() })),
            ("divides 1 client among 4 shards", refusal("aimd", 1, RunConfig::default())),
            ("cannot divide `--in-flight`", refusal("aimd", 1, RunConfig { workload: closed, ..four() })),
            (
                "cannot divide `--share-strategy`",
                refusal("aimd", 1, RunConfig { share_strategy: true, ..four() }),
            ),
            ("cannot divide `oracle`", refusal("oracle", 1, four())),
            ("leave out `--repeats`", refusal("aimd", 2, four())),
        ] {
            assert!(told.contains(words), "{told}");
        }
    }
}
