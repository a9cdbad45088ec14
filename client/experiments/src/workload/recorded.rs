//! Workload parameters that results contain exactly as the user gave them. For these parameters, results have no separate field for the
//! value that a run actually uses.

use std::collections::BTreeMap;

use results::Setting;

use super::spec::WorkloadSpec;
use super::table::PARAMETERS;

pub fn recorded_as_typed(spec: &WorkloadSpec) -> BTreeMap<String, Setting> {
    let parameters = PARAMETERS.iter().filter(|parameter| !parameter.resolved);
    parameters.filter_map(|parameter| Some((parameter.key.to_owned(), parameter.recorded(spec)?))).collect()
}
