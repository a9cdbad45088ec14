//! Parsing of a workload from a TOML table, such as the workload of a scenario's experiment.

use toml::Table;
use vocabulary::did_you_mean;

use super::parameter::{AllowedIn, Parameter};
use super::spec::{WorkloadError, WorkloadSpec, error};
use super::table::PARAMETERS;

const OF_ARRIVALS: [&str; 5] = ["scatter", "at", "in_flight", "rate", "arrivals"];

pub fn is_key(key: &str) -> bool {
    keys().any(|parameter| parameter.key == key)
}

pub fn from_table(table: &Table) -> Result<WorkloadSpec, WorkloadError> {
    let mut spec = WorkloadSpec::default();
    for (key, value) in table {
        let parameter = keys().find(|parameter| parameter.key == key).ok_or_else(|| unknown(key))?;
        parameter.read(&mut spec, value).map_err(|words| error(key, words))?;
    }
    let given: Vec<&str> = OF_ARRIVALS.into_iter().filter(|key| table.contains_key(*key)).collect();
    match given.as_slice() {
        [] | [_] | ["rate", "arrivals"] => Ok(spec),
        several => {
            let words = format!(
                "`{}` exclude one another, because each sets how ops arrive",
                several.join("` and `")
            );
            Err(error(several[0], words))
        }
    }
}

fn keys() -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().filter(|parameter| parameter.place != AllowedIn::CommandLine)
}

fn unknown(key: &str) -> WorkloadError {
    let known: Vec<&str> = keys().map(|parameter| parameter.key).collect();
    let suggestion = did_you_mean(key, known.iter().copied());
    let words =
        format!("unknown key `{key}`{suggestion}; the keys of a workload are `{}`", known.join("`, `"));
    error(key, words)
}

#[cfg(test)]
mod tests {
    use super::super::parameter::Kind;
    use super::*;

    fn read(text: &str) -> Result<WorkloadSpec, String> {
        from_table(&text.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn every_key_that_files_know_is_read() {
        for parameter in keys() {
            let value = match parameter.kind {
                Kind::Count { min, .. } => min.to_string(),
                Kind::SmallCount { min, .. } => min.to_string(),
                Kind::Duration(_) | Kind::PositiveDuration(_) => "\"1s\"".to_owned(),
                Kind::Rate(_) => "\"60/m\"".to_owned(),
                Kind::TimeScale(_) => "\"0.2\"".to_owned(),
                Kind::Switch(_) | Kind::Truth(_) => "true".to_owned(),
                Kind::Words(words) => format!("\"{}\"", words[0].name),
                Kind::Mix(_) => "\"GET / 0.5\"".to_owned(),
                Kind::RejectedWhen(_) | Kind::Success(_) => "\"403\"".to_owned(),
                Kind::Groups(_) => "[{ ops = 3, from = \"0s\", to = \"1s\", grid = \"1ms\" }]".to_owned(),
                Kind::Instants(_) => "[\"2ms\", \"1ms\"]".to_owned(),
            };
            let spec = read(&format!("{} = {value}", parameter.key)).unwrap();
            assert_ne!(spec, WorkloadSpec::default(), "{}", parameter.key);
        }
    }

    #[test]
    fn rejections_are_a_text_or_a_list_of_texts() {
        let rejected = |value: &str| read(&format!("rejected_when = {value}")).map(|spec| spec.rejected_when);
        let both = "403,body:BUSY\nbody:try later, please".parse().unwrap();
        assert_eq!(rejected(r#"["403,body:BUSY", "body:try later, please"]"#), Ok(Some(both)));
        assert_eq!(rejected(r#""body:BUSY""#), Ok(Some("body:BUSY".parse().unwrap())));
        assert!(rejected("[403]").is_err() && rejected(r#"["200"]"#).is_err());
    }

    #[test]
    fn what_is_not_accepted_is_refused_with_its_key_first() {
        for (text, words) in [
            ("opps = 3", "unknown key `opps` (did you mean `ops`?); the keys of a workload are `ops`, "),
            ("warm_up = \"1s\"", "unknown key `warm_up`"),
            ("ops = \"2k\"", "`ops` takes a whole number, not \"2k\""),
            ("ops = 0", "`ops` is 0; it must be from 1 to 4000000000"),
            ("clients = -1", "`clients` is -1; it must be from 1 to 1000000"),
            ("timeout = \"0s\"", "`timeout`: it must be longer than zero"),
            ("timeout = 5", "`timeout` takes text in quotes, not 5"),
            ("retry_failed = \"no\"", "`retry_failed` takes true or false, not \"no\""),
            (
                "kind = \"write\"",
                "`kind` is \"write\" (did you mean `read-modify-write`?); accepted are \"request\" and \"read-modify-write\"",
            ),
            (
                "arrivals = \"brust\"",
                "(did you mean `burst`?); accepted are \"poisson\", \"uniform\" and \"burst\"",
            ),
            ("rate = \"fast\"", "`rate`: it must be a rate above 0"),
            ("mix = \"GET\"", "`mix`: `GET` is not a kind of request: it has no path; write `METHOD PATH"),
            ("mix = 3", "`mix` takes text in quotes, not 3"),
            ("api_keys = 1000001", "`api_keys` is 1000001; it must be from 1 to 1000000"),
            ("at = []", "`at` is an empty list"),
            ("at = [\"1s\"]\nin_flight = 3", "`at` and `in_flight` exclude one another"),
            (
                "scatter = [{ ops = 1, from = \"5s\", to = \"1s\" }]",
                "`scatter`: ops cannot arrive from 5s to 1s",
            ),
            ("scatter = [{ ops = 1, form = \"5s\", to = \"1s\" }]", "`scatter`: unknown field `form`"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(words), "{text}: {refused}");
        }
    }
}
