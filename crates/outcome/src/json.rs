//! Accessors for the members of events that are built as values.

use super::fields::MAX_TEXT;
use super::times::parse_milliseconds;
use serde_json::Value;

/// Returns the text at a pointer, truncated at 1 MiB.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    let text = value.pointer(pointer)?.as_str()?;
    Some(&text[..text.floor_char_boundary(MAX_TEXT)])
}

/// Returns the text at a pointer if it is not empty, such as a name or an id.
pub(super) fn nonempty<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    text(value, pointer).filter(|text| !text.is_empty())
}

/// Returns the text at a pointer as a `String` if it is not empty.
pub(super) fn string(value: &Value, pointer: &str) -> Option<String> {
    nonempty(value, pointer).map(str::to_owned)
}

/// Returns the number at a pointer.
pub(super) fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
}

/// Returns the time at a pointer in milliseconds since 1970, from a number or a text in RFC 3339.
pub(super) fn time(value: &Value, pointer: &str) -> Option<f64> {
    number(value, pointer).or_else(|| parse_milliseconds(text(value, pointer)?))
}

/// Returns the elements of the array at a pointer.
pub(super) fn items<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the text at a pointer, or the joined texts of the blocks there.
pub(super) fn texts(value: &Value, pointer: &str) -> Option<String> {
    let blocks =
        || items(value, pointer).filter_map(|block| nonempty(block, "/text")).collect::<Vec<_>>().join("\n");
    text(value, pointer).map(str::to_owned).or_else(|| value.pointer(pointer)?.is_array().then(blocks))
}

/// Returns the sum of the numbers at `pointer` in the members of an object.
pub(super) fn sum_members(value: &Value, object: &str, pointer: &str) -> Option<f64> {
    let members = value.pointer(object)?.as_object()?;
    members.values().filter_map(|member| number(member, pointer)).reduce(|sum, number| sum + number)
}

/// Returns the key of an object with exactly one member.
pub(super) fn only_key<'v>(value: &'v Value, object: &str) -> Option<&'v String> {
    let members = value.pointer(object)?.as_object()?;
    members.keys().next().filter(|_| members.len() == 1)
}
