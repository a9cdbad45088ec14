//! Parsing of documents. Each error contains the place in the document at which it occurred.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::Malformed;

pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Malformed> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(ObjectsOnly(&mut deserializer)).map_err(|error| {
        let path = error.path().to_string();
        Malformed::new(text, if path == "." { "" } else { &path }, error.inner())
    })?;
    deserializer.end().map_err(|error| Malformed::new(text, "", &error))?;
    Ok(value)
}

/// Wrapper that rejects a list in place of a struct with named fields. In all other respects, it behaves like the wrapped deserializer. The
/// data format must be self-describing, as JSON is.
struct ObjectsOnly<T>(T);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ObjectsOnly<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Within { visitor, takes_lists: false })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Within { visitor, takes_lists: true })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Within { visitor, takes_lists: true })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Within { visitor, takes_lists: true })
    }

    /// Deserializes an enum with the inner deserializer directly. A wrapper is not needed, because enums in documents are plain names
    /// without fields.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

struct Within<V> {
    visitor: V,
    takes_lists: bool,
}

macro_rules! hand_on {
    ($($visit:ident: $value:ty),*) => {
        $(fn $visit<E: Error>(self, value: $value) -> Result<V::Value, E> {
            self.visitor.$visit(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Within<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    hand_on! {
        visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_borrowed_str: &'de str,
        visit_string: String
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(ObjectsOnly(value))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(ObjectsOnly(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        if self.takes_lists {
            self.visitor.visit_seq(ObjectsOnly(list))
        } else {
            Err(A::Error::invalid_type(Unexpected::Seq, &self.visitor))
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(ObjectsOnly(map))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ObjectsOnly<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(ObjectsOnly(seed))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ObjectsOnly<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(ObjectsOnly(seed))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ObjectsOnly<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(ObjectsOnly(deserializer))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
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
