//! First pass over a document: collects the keys that determine its kind, and rejects numbers that are too large.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Largest accepted number. It is the maximum of `u64`, because a merge writes the integers of shards as floats. Larger numbers are
/// rejected, so that the arithmetic on plot axes stays finite.
const LARGEST: f64 = 18_446_744_073_709_551_615.0;

/// JSON value of any kind that contains no number above [`LARGEST`], checked during deserialization.
#[derive(Debug, Default)]
pub(crate) struct DocumentProbe {
    /// Keys of an object, each with whether its value is null. Empty for any other value.
    keys: Vec<(String, bool)>,
    is_null: bool,
}

impl DocumentProbe {
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(there, _)| there == key)
    }

    /// Returns true if the document has this key and its value is not null.
    pub(crate) fn says(&self, key: &str) -> bool {
        self.keys.iter().any(|(there, is_null)| there == key && !is_null)
    }
}

impl<'de> Deserialize<'de> for DocumentProbe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self::default())
    }
}

/// The empty probe, which turns into the probe of the value.
impl<'de> Visitor<'de> for DocumentProbe {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(key) = map.next_key()? {
            self.keys.push((key, map.next_value::<Self>()?.is_null));
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(Self { is_null: true, ..self })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self, E> {
        if number.abs() > LARGEST {
            return Err(E::custom(format!("{number:e} is too large")));
        }
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::reading::read;

    #[test]
    fn a_number_that_cannot_be_drawn_is_refused_wherever_it_stands() {
        let refusal = read::<DocumentProbe>(r#"{"a": [1, {"b": 1e300}]}"#).unwrap_err().to_string();
        assert_eq!(refusal, "`a[1].b`: 1e300 is too large");
        assert!(read::<DocumentProbe>(r#"{"a": [1, {"b": 1e3}], "c": null}"#).unwrap().has("c"));
        // A merge may write this float for an integer of a shard.
        assert!(read::<DocumentProbe>(r#"{"a": 1.8446744073709552e19}"#).is_ok());
    }
}
