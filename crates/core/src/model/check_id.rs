//! The IDs of the checks, made by the build script from the names of the files in `checks/`.

use agentnative_contract::error::{Error, Result};
use agentnative_contract::spanned_toml::nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

include!(concat!(env!("OUT_DIR"), "/check_id.rs"));

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for CheckId {
    type Err = Error;

    /// The check of this ID; a usage error, with the one that was probably meant, when there is none.
    fn from_str(id: &str) -> Result<Self> {
        let known = Self::ALL.binary_search_by_key(&id, |known| known.as_str());
        let ids = Self::ALL.iter().map(|known| known.as_str());
        known.map(|at| Self::ALL[at]).map_err(|_| unknown_id("check", id, ids))
    }
}

/// That there is no check, or kind of change, of this ID; the one of `ids` that was probably meant.
pub fn unknown_id<'n>(what: &str, id: &str, ids: impl Iterator<Item = &'n str>) -> Error {
    let hint = match nearest(id, ids) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`agentnative list` shows all of them".to_owned(),
    };
    Error::usage(format!("unknown {what} `{id}`")).hint(hint)
}

/// Whether an ID is meant by `pattern`: the ID itself, or one in which each `*` stands for any part, also an
/// empty one.
pub fn matches(pattern: &str, id: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == id };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inner = id.strip_prefix(start).and_then(|id| id.strip_suffix(end));
    // Each part at its first place leaves the most to those behind it.
    let mut parts = middle.split('*');
    inner.and_then(|inner| parts.try_fold(inner, |left, part| Some(left.split_once(part)?.1))).is_some()
}

/// The pattern that was probably meant by one that matches none of these IDs: an ID, or the beginning of some.
pub fn nearest_pattern<'n>(pattern: &str, ids: impl Iterator<Item = &'n str>) -> Option<String> {
    if !pattern.contains('*') {
        return nearest(pattern, ids).map(str::to_owned);
    }
    let beginnings = ids.flat_map(|id| id.match_indices('-').map(|(at, _)| format!("{}-*", &id[..at])));
    let beginnings: Vec<String> = beginnings.collect();
    nearest(pattern, beginnings.iter().map(String::as_str)).map(str::to_owned)
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
