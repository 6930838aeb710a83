//! The IDs of the checks, made by the build script from the names of the files in `checks/`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

include!(concat!(env!("OUT_DIR"), "/check_id.rs"));

/// There is no check of this ID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCheck(String);

impl fmt::Display for UnknownCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no check `{}`", self.0)
    }
}

impl std::error::Error for UnknownCheck {}

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for CheckId {
    type Err = UnknownCheck;

    fn from_str(id: &str) -> Result<Self, UnknownCheck> {
        let known = Self::ALL.binary_search_by_key(&id, |known| known.as_str());
        known.map(|at| Self::ALL[at]).map_err(|_| UnknownCheck(id.to_owned()))
    }
}

impl Serialize for CheckId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CheckId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A string: a report of another version may have other checks.
impl JsonSchema for CheckId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CheckId".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
