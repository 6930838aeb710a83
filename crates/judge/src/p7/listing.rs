//! Finds the list in the JSON document that a run prints.

use crate::context::RunView;
use crate::scan::Scan;
use crate::verdict::Reason;
use agentnative_core::config::ListConfig;
use agentnative_core::model::Stream;
use serde_json::Value;
use strict_json::{JsonType, unescape_token};

/// The list in the JSON document that a run prints, such as the array at `/data/items`.
pub struct Listing<'a> {
    pub run: RunView<'a>,
    /// Number of items.
    pub count: u64,
    /// The JSON document that contains the list; `None` if it is too long to be kept in memory.
    pub document: Option<Value>,
    pointer: &'a str,
}

impl<'a> Listing<'a> {
    /// Finds the list in the JSON document of `run`, at the JSON pointer that `list` declares. Fails if there is no
    /// array.
    pub fn parse(run: RunView<'a>, list: &'a ListConfig) -> Result<Self, Reason> {
        let scan = run.parsed()?;
        let (document, pointer) = (run.value(Stream::Stdout), list.items.as_str());
        let count = match &document {
            Some(document) => {
                document.pointer(pointer).and_then(Value::as_array).map(|items| items.len() as u64)
            }
            None => array_length_at(&scan, pointer),
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

    /// Returns the items; `None` if the document is too long to be kept in memory.
    pub fn items(&self) -> Option<&[Value]> {
        Some(self.document.as_ref()?.pointer(self.pointer)?.as_array()?.as_slice())
    }

    /// Returns the JSON values that contain the list, from the document inwards.
    pub fn ancestors(&self) -> impl Iterator<Item = &Value> {
        let ends = self.pointer.match_indices('/').map(|(index, _)| index);
        ends.filter_map(|end| self.document.as_ref()?.pointer(&self.pointer[..end]))
    }

    /// Returns the JSON pointer of the item with index `nth`, counted from 0.
    pub fn item_pointer(&self, nth: u64) -> String {
        format!("{}/{nth}", self.pointer)
    }

    /// Returns the JSON pointer of the list.
    pub const fn pointer(&self) -> &str {
        self.pointer
    }
}

/// Returns the number of elements of the array at `pointer`, for a document that may be too long to be kept in memory.
/// `None` if there is no array, or if the pointer contains an array index.
fn array_length_at(scan: &Scan, pointer: &str) -> Option<u64> {
    let mut keys = pointer.split('/').skip(1).map(unescape_token);
    let list = keys.try_fold(&scan.shape, |shape, key| shape.member(&key))?;
    (list.count_of_type(JsonType::Array) > 0).then(|| list.element_count())
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the top level".to_owned() } else { format!("`{pointer}`") }
}
