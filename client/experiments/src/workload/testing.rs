//! Workloads that set one parameter of the command line, for tests.

use std::time::Duration;

use super::{AllowedIn, Kind, PARAMETERS, Parameter, WorkloadSpec};

pub(crate) fn plain() -> WorkloadSpec {
    WorkloadSpec { duration: Some(Duration::from_secs(5)), ..WorkloadSpec::default() }
}

/// Returns, for every parameter of command lines, the plain workload with another value of that parameter than its
/// default.
pub(crate) fn said_of_each() -> impl Iterator<Item = (&'static Parameter, WorkloadSpec)> {
    PARAMETERS.iter().filter(|parameter| parameter.place != AllowedIn::Files).map(|parameter| {
        let text = match parameter.kind {
            Kind::Switch(_) => "true",
            Kind::Truth(_) => "false",
            // Fractions are restored exactly, to the last bit.
            Kind::Rate(_) => "333.3333333333333/s",
            Kind::TimeScale(_) => "0.3",
            Kind::Words(words) => words[1].name,
            Kind::Mix(_) => "GET /repos",
            Kind::RejectedWhen(_) => "403",
            Kind::Success(_) => "404",
            _ if parameter.placeholder == "TIME" => "7s 1us",
            _ => "7",
        };
        let mut said = plain();
        parameter.set(&mut said, text).unwrap_or_else(|why| panic!("`{}`: {why}", parameter.key));
        (parameter, said)
    })
}
