//! Version of the document format. This program writes documents of the current version, and reads documents of all
//! versions up to the current one.

use serde::{Deserialize, Serialize};

/// Current version of documents. It is increased when a key changes its meaning or is removed.
pub const SCHEMA_VERSION: u32 = 1;

/// Version of a document. Deserialization rejects versions that are newer than the version of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u32")]
pub struct SchemaVersion(u32);

impl Default for SchemaVersion {
    fn default() -> Self {
        Self(SCHEMA_VERSION)
    }
}

impl From<SchemaVersion> for u32 {
    fn from(version: SchemaVersion) -> Self {
        version.0
    }
}

impl TryFrom<u64> for SchemaVersion {
    type Error = String;

    fn try_from(version: u64) -> Result<Self, String> {
        match version {
            0 => Err("0 does not exist".to_owned()),
            newer if newer > u64::from(SCHEMA_VERSION) => {
                Err(format!("{newer} is newer than this program, which reads up to {SCHEMA_VERSION}"))
            }
            known => u32::try_from(known).map(Self).map_err(|error| error.to_string()),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SchemaVersion {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SchemaVersion".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "const": SCHEMA_VERSION })
    }
}
