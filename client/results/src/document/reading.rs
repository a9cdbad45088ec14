//! Parsing of documents. Each error contains the place in the document at which it occurred.

use serde::de::DeserializeOwned;

use crate::document::malformed::Malformed;
use crate::document::objects::ObjectsOnly;

pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Malformed> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(ObjectsOnly(&mut deserializer)).map_err(|error| {
        let path = error.path().to_string();
        Malformed::new(text, if path == "." { "" } else { &path }, error.inner())
    })?;
    deserializer.end().map_err(|error| Malformed::new(text, "", &error))?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(expecting = "an object")]
    #[expect(dead_code, reason = "only whether it can be read is asked")]
    struct Run {
        seed: u64,
        #[serde(default)]
        config: BTreeMap<String, f64>,
        #[serde(default)]
        mode: Option<crate::document::run::Mode>,
        #[serde(default)]
        verdict: crate::document::comparison::PairVerdict,
        #[serde(default)]
        ops: Option<crate::document::run::OpsResult>,
    }

    #[test]
    fn errors_give_the_place_and_what_is_accepted() {
        let refusal = |text: &str| read::<BTreeMap<String, Vec<Run>>>(text).unwrap_err().to_string();
        for (text, expected) in [
            (r#"{"runs": [{"seed": 1}, {}]}"#, "`runs[1].seed`: is missing"),
            (r#"{"runs": [{"seed": -3}]}"#, "`runs[0].seed`: integer `-3` is not a whole number"),
            (r#"{"runs": [{"seed": 3, "config": 7}]}"#, "`runs[0].config`: integer `7` is not an object"),
            (r#"{"runs": [7]}"#, "`runs[0]`: integer `7` is not an object"),
            (r#"{"runs": {}}"#, "`runs`: an object is not a list"),
            (r#"{"runs": [[1]]}"#, "`runs[0]`: a list is not an object"),
            (r#"{"runs": [{"seed": 1, "ops": [1, 1, 0]}]}"#, "`runs[0].ops`: a list is not an object"),
            (r#"{"runs": [{"seed": 1, "mode": 3}]}"#, "`runs[0].mode`: is not a text"),
            (r#"{"runs": [{"seed": 1, "verdict": null}]}"#, "`runs[0].verdict`: is not a text"),
            (
                r#"{"runs": [{"seed": 1, "mode": "faster"}]}"#,
                "`runs[0].mode`: `faster` is not `http` or `simulated`",
            ),
            (
                r#"{"runs": [{"seed": 1, "mode": faster}]}"#,
                "line 1, column 31: it is not JSON: expected value",
            ),
            ("", "line 1, column 0: it is empty"),
            (r#"{"runs": [{"#, "line 1, column 11: the document is incomplete, because the file was cut off"),
            ("hello", "line 1, column 1: it is not JSON: expected value"),
        ] {
            assert_eq!(refusal(text), expected, "{text}");
        }
        assert!(refusal("{}\n{}").starts_with("line 2, column 1: the file contains a second value"));
    }
}
