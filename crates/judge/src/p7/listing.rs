//! The list in the json document of a run: its items and their number.

use crate::context::RunView;
use crate::scan::Scan;
use crate::verdict::Reason;
use agentnative_core::config::ListConfig;
use agentnative_core::model::Stream;
use serde_json::Value;
use strict_json::{JsonType, unescape_token};

pub struct Listing<'a> {
    pub run: RunView<'a>,
    pub count: u64,
    /// Document; `None` if it is too long to be held.
    pub document: Option<Value>,
    pointer: &'a str,
}

impl<'a> Listing<'a> {
    /// Returns the list at the declared pointer in the document of `run`; fails if there is none.
    pub fn parse(run: RunView<'a>, list: &'a ListConfig) -> Result<Self, Reason> {
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

    /// Returns the items, if the document is held.
    pub fn items(&self) -> Option<&[Value]> {
        Some(self.document.as_ref()?.pointer(self.pointer)?.as_array()?.as_slice())
    }

    /// Returns the objects that contain the list, the document first.
    pub fn ancestors(&self) -> impl Iterator<Item = &Value> {
        let ends = self.pointer.match_indices('/').map(|(index, _)| index);
        ends.filter_map(|end| self.document.as_ref()?.pointer(&self.pointer[..end]))
    }

    /// Returns the pointer to an item, counted from 0.
    pub fn item_pointer(&self, nth: u64) -> String {
        format!("{}/{nth}", self.pointer)
    }

    pub const fn pointer(&self) -> &str {
        self.pointer
    }
}

/// Returns the number of elements of an array in a document of any length, whose pointer only contains object members.
fn counted(scan: &Scan, pointer: &str) -> Option<u64> {
    let mut keys = pointer.split('/').skip(1).map(unescape_token);
    let list = keys.try_fold(&scan.shape, |shape, key| shape.member(&key))?;
    (list.count_of_type(JsonType::Array) > 0).then(|| list.element_count())
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the top level".to_owned() } else { format!("`{pointer}`") }
}
