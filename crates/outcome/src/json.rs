//! Accessors for the members of events that are JSON values.

use super::fields::MAX_TEXT;
use super::times::parse_milliseconds;
use serde_json::Value;

/// Returns the string at a JSON pointer, truncated at 1 MiB; `None` if there is none.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    let text = value.pointer(pointer)?.as_str()?;
    Some(&text[..text.floor_char_boundary(MAX_TEXT)])
}

/// Returns the string at a JSON pointer if it is not empty, such as a name or an ID.
pub(super) fn nonempty<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    text(value, pointer).filter(|text| !text.is_empty())
}

/// Returns the string at a JSON pointer as a `String` if it is not empty.
pub(super) fn string(value: &Value, pointer: &str) -> Option<String> {
    nonempty(value, pointer).map(str::to_owned)
}

/// Returns the number at a JSON pointer.
pub(super) fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
}

/// Returns the time at a JSON pointer, in milliseconds since 1970. The value is a number or a text in RFC 3339.
pub(super) fn time(value: &Value, pointer: &str) -> Option<f64> {
    number(value, pointer).or_else(|| parse_milliseconds(text(value, pointer)?))
}

/// Returns the elements of the array at a JSON pointer; no elements if there is no array.
pub(super) fn items<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the string at a JSON pointer. If there is an array of blocks instead, joins the texts of the blocks with
/// newlines.
pub(super) fn texts(value: &Value, pointer: &str) -> Option<String> {
    let blocks =
        || items(value, pointer).filter_map(|block| nonempty(block, "/text")).collect::<Vec<_>>().join("\n");
    text(value, pointer).map(str::to_owned).or_else(|| value.pointer(pointer)?.is_array().then(blocks))
}

/// Returns the sum of one number of each member of an object, such as of each model. `object` is the JSON pointer to
/// the object, `pointer` that from a member to its number.
pub(super) fn sum_members(value: &Value, object: &str, pointer: &str) -> Option<f64> {
    let members = value.pointer(object)?.as_object()?;
    members.values().filter_map(|member| number(member, pointer)).reduce(|sum, number| sum + number)
}

/// Returns the only key of the object at the JSON pointer `object`; `None` unless it has exactly one key.
pub(super) fn only_key<'v>(value: &'v Value, object: &str) -> Option<&'v String> {
    let members = value.pointer(object)?.as_object()?;
    members.keys().next().filter(|_| members.len() == 1)
}
