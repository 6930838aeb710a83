//! Reading the members of an event that was built whole.

use super::fields::MAX_TEXT;
use super::times::milliseconds;
use serde_json::Value;

/// The text at a pointer, up to 1 MiB of it.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    let text = value.pointer(pointer)?.as_str()?;
    Some(&text[..text.floor_char_boundary(MAX_TEXT)])
}

/// A text that is not empty, as a name or id should be.
pub(super) fn name<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    text(value, pointer).filter(|text| !text.is_empty())
}

/// The same, to be kept.
pub(super) fn owned(value: &Value, pointer: &str) -> Option<String> {
    name(value, pointer).map(str::to_owned)
}

/// The number at a pointer.
pub(super) fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
}

/// Milliseconds since 1970, which are there as a number or as text.
pub(super) fn time(value: &Value, pointer: &str) -> Option<f64> {
    number(value, pointer).or_else(|| milliseconds(text(value, pointer)?))
}

/// The elements of the array at a pointer.
pub(super) fn items<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// The texts of the blocks of text at a pointer, or the text there.
pub(super) fn texts(value: &Value, pointer: &str) -> Option<String> {
    let blocks =
        || items(value, pointer).filter_map(|block| name(block, "/text")).collect::<Vec<_>>().join("\n");
    text(value, pointer).map(str::to_owned).or_else(|| value.pointer(pointer)?.is_array().then(blocks))
}

/// The sum of a number over the members of an object.
pub(super) fn sum(value: &Value, object: &str, pointer: &str) -> Option<f64> {
    let members = value.pointer(object)?.as_object()?;
    members.values().filter_map(|member| number(member, pointer)).reduce(|sum, more| sum + more)
}

/// The key of an object that has one.
pub(super) fn only_key<'v>(value: &'v Value, object: &str) -> Option<&'v String> {
    let members = value.pointer(object)?.as_object()?;
    members.keys().next().filter(|_| members.len() == 1)
}
