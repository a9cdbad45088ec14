//! A workload as records have it, where they have no field for what a run makes of it.

use std::collections::BTreeMap;

use results::Setting;

use super::spec::WorkloadSpec;
use super::table::PARAMETERS;

/// Every parameter that records hold as it was typed and that is not at its default.
pub fn recorded_as_typed(spec: &WorkloadSpec) -> BTreeMap<String, Setting> {
    let parameters = PARAMETERS.iter().filter(|parameter| !parameter.resolved);
    parameters.filter_map(|parameter| Some((parameter.key.to_owned(), parameter.recorded(spec)?))).collect()
}
