//! The list in the json document of a run: its items, and how many.

use crate::context::RunView;
use crate::scan::Scan;
use crate::verdict::Reason;
use agentnative_core::config::ListConfig;
use agentnative_core::model::Stream;
use serde_json::Value;
use strict_json::{JsonType, unescape_token};

/// The list that a run printed.
pub struct Listing<'a> {
    pub run: RunView<'a>,
    /// How many items there are.
    pub count: u64,
    /// The document; none when it is too long to be held.
    pub document: Option<Value>,
    pointer: &'a str,
}

impl<'a> Listing<'a> {
    /// The list that `run` printed, where `list` says; else why there is none.
    pub fn of(run: RunView<'a>, list: &'a ListConfig) -> Result<Self, Reason> {
        let scan = run.parsed()?;
        let (document, pointer) = (run.value(Stream::Stdout), list.items.as_str());
        let count = match &document {
            Some(document) => {
                document.pointer(pointer).and_then(Value::as_array).map(|items| items.len() as u64)
            }
            None => counted(&scan, pointer),
        };
        match count {
            Some(count) => Ok(Self { run, count, document, pointer }),
            None => Err(format!(
                "{} has no array at {}: correct `list.items` of the probe",
                run.label(),
                place(pointer)
            )
            .into()),
        }
    }

    /// The items, if the document is at hand.
    pub fn items(&self) -> Option<&[Value]> {
        Some(self.document.as_ref()?.pointer(self.pointer)?.as_array()?.as_slice())
    }

    /// The objects that the list is in, the document first.
    pub fn around(&self) -> impl Iterator<Item = &Value> {
        let ends = self.pointer.match_indices('/').map(|(at, _)| at);
        ends.filter_map(|end| self.document.as_ref()?.pointer(&self.pointer[..end]))
    }

    /// The pointer to an item, counted from 0.
    pub fn item(&self, nth: u64) -> String {
        format!("{}/{nth}", self.pointer)
    }

    /// The pointer to the list.
    pub const fn pointer(&self) -> &str {
        self.pointer
    }
}

/// How many elements an array has that only members of objects lead to, in a document of any length.
fn counted(scan: &Scan, pointer: &str) -> Option<u64> {
    let mut keys = pointer.split('/').skip(1).map(unescape_token);
    let list = keys.try_fold(&scan.shape, |shape, key| shape.member(&key))?;
    (list.count_of(JsonType::Array) > 0).then(|| list.elements())
}

/// A pointer in words.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the top level".to_owned() } else { format!("`{pointer}`") }
}
