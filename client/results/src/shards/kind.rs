//! Kind of a shard (part of the runs, or part of the clients), and its index.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::malformed::Malformed;
use crate::document::reading::read;

/// Unit by which the work of a command is divided into shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShardKind {
    Tasks,
    Clients,
}

/// Identity of a shard among all shards of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ShardOf {
    pub kind: ShardKind,
    pub index: u32,
    pub of: u32,
}

impl ShardKind {
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Head {
            shard: Option<Kind>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Kind {
            kind: ShardKind,
        }
        let head: Head = read(text)?;
        head.shard.map(|shard| shard.kind).ok_or_else(|| {
            Malformed::at(
                "",
                "the document is not a shard (it has no key `shard`); write shards with `--shard 0/4 --json FILE`",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_shards_are_refused_with_a_remedy() {
        assert_eq!(
            ShardKind::parse(r#"{"shard": {"kind": "tasks", "index": 0, "of": 1}}"#),
            Ok(ShardKind::Tasks)
        );
        for (text, told) in [
            (
                r#"{"runs": []}"#,
                "the document is not a shard (it has no key `shard`); write shards with `--shard 0/4 --json FILE`",
            ),
            (r#"{"shard": {"kind": "dish"}}"#, "`shard.kind`: `dish` is not `tasks` or `clients`"),
            (r#"{"shard": 3}"#, "`shard`: integer `3` is not an object"),
            (r#"{"shard"#, "line 1, column 7: the document is incomplete, because the file was cut off"),
            ("[1]", "a list is not an object"),
        ] {
            assert_eq!(ShardKind::parse(text).unwrap_err().to_string(), told);
        }
    }
}
