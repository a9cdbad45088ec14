//! Parses policies as given on the command line, where a script may be in a file.

use std::fs::File;
use std::io::Read as _;

use mockserver_core::{POLICIES, Policies, Policy, PolicyError, Script};
use vocabulary::split_options;

/// Maximum size of a script, in bytes. The script becomes part of the configuration, which clients download.
const LONGEST: u64 = 256 << 10;

/// Parses a stack of policies. `script:file=PATH` is replaced by the content of the file, so that the recorded configuration can be reused
/// without the file.
pub(crate) fn read(text: &str) -> Result<Policies, String> {
    let policies = Policies::parts(text).map(one).collect::<Result<_, _>>()?;
    Policies::new(policies).map_err(|error| error.to_string())
}

fn one(text: &str) -> Result<Policy, String> {
    let (name, options) = split_options(text);
    let path = options.iter().find_map(|(key, value)| value.filter(|_| *key == "file"));
    match path {
        Some(path) if is_scripted(name) => {
            if options.iter().any(|(key, _)| *key == "steps") {
                return Err(format!(
                    "policy `{name}` reads its steps from the file; leave out `steps` or `file={path}`"
                ));
            }
            let others = options.iter().filter(|option| **option != ("file", Some(path)));
            from_file(name, path, others.map(|(key, value)| format!(",{key}={}", value.unwrap_or_default())))
        }
        _ => text.parse().map_err(|error: PolicyError| error.to_string()),
    }
}

fn is_scripted(name: &str) -> bool {
    POLICIES.iter().any(|entry| entry.name == name)
        && name.parse().is_ok_and(|policies: Policies| policies.script().is_some())
}

fn from_file(policy: &str, path: &str, others: impl Iterator<Item = String>) -> Result<Policy, String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text))
        .map_err(|error| format!("the script `{path}` cannot be read: {error}"))?;
    if text.len() as u64 > LONGEST {
        return Err(format!("the script `{path}` is longer than the maximum of {} KiB", LONGEST >> 10));
    }
    let script = Script::from_json(&text).map_err(|error| {
        let source =
            std::error::Error::source(&error).map_or_else(String::new, |source| format!(": {source}"));
        format!("the script `{path}`: {error}{source}")
    })?;
    let others: String = others.collect();
    format!("{policy}:steps={script}{others}").parse().map_err(|error: PolicyError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_file(content: &str) -> Result<String, String> {
        with_options(content, "")
    }

    fn with_options(content: &str, options: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("steps.json");
        std::fs::write(&path, content).unwrap();
        let path = path.to_str().unwrap();
        read(&format!("script:file={path}{options}"))
            .map(|policy| policy.to_string())
            .map_err(|error| error.replace(path, "PATH"))
    }

    #[test]
    fn a_script_in_a_file_becomes_part_of_the_policy() {
        let content =
            r#"[{"status": 429, "headers": {"retry-after": "@date+3"}, "body": "a, b"}, {"close": true}]"#;
        assert_eq!(
            in_file(content).as_deref(),
            Ok("script:steps=429 retry-after:@date%2B3 body:a%2C%20b|close,by=op")
        );
        let smile = r#"[{"status": 503, "body": ":("}, {"fault": "hang:after"}]"#;
        assert_eq!(
            with_options(smile, ",by=call").as_deref(),
            Ok("script:steps=503 body::%28|hang:after,by=call")
        );
        assert_eq!(read("script:steps=503|200").unwrap().to_string(), "script:steps=503|200,by=op");
        assert_eq!(read("concurrency-cap").unwrap(), Policies::default());
    }

    #[test]
    fn an_invalid_file_reports_the_error() {
        for (content, words) in [
            ("[{\"status\": 503},", "the script `PATH`: the file is not a list of steps: EOF while parsing"),
            ("[{\"status\": 5}]", "the script `PATH`: step 1 of op 1: `status` is 5"),
            (&" ".repeat(300 << 10), "the script `PATH` is longer than the maximum of 256 KiB"),
        ] {
            let error = in_file(content).unwrap_err();
            assert!(error.starts_with(words), "{error}");
        }
        let error = read("script:file=/nowhere/steps.json").unwrap_err();
        assert!(error.starts_with("the script `/nowhere/steps.json` cannot be read: "), "{error}");
        let error = read("script:file=a.json,steps=503").unwrap_err();
        assert_eq!(
            error,
            "policy `script` reads its steps from the file; leave out `steps` or `file=a.json`"
        );
        assert!(read("overwhelmed-queue:file=a").unwrap_err().contains("has no parameter `file`"));
    }
}
