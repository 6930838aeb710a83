//! Accessors for the members of events and of other JSON values on a tape.

use super::times::parse_milliseconds;
use serde_json::Value;
use strict_json::{JsonType, Tape, TapeNode};

/// Returns the value of the member with this key. Of several members with the same key, the last one counts.
pub(super) fn member<'v>(value: TapeNode<'v>, key: &str) -> Option<TapeNode<'v>> {
    value.members().filter(|(found, _)| *found == key).last().map(|(_, member)| member)
}

/// Returns the value at a JSON pointer without escapes.
pub(super) fn at<'v>(value: TapeNode<'v>, pointer: &str) -> Option<TapeNode<'v>> {
    pointer.split('/').skip(1).try_fold(value, |value, token| match value.json_type() {
        JsonType::Array => value.elements().nth(token.parse().ok()?),
        _ => member(value, token),
    })
}

/// Returns the string at a JSON pointer, truncated at 1 MiB; `None` if there is none.
pub(super) fn text<'v>(value: TapeNode<'v>, pointer: &str) -> Option<&'v str> {
    at(value, pointer)?.as_str()
}

/// Returns the string at a JSON pointer if it is not empty, such as a name or an ID.
pub(super) fn nonempty<'v>(value: TapeNode<'v>, pointer: &str) -> Option<&'v str> {
    text(value, pointer).filter(|text| !text.is_empty())
}

/// Returns the string at a JSON pointer as a `String` if it is not empty.
pub(super) fn string(value: TapeNode<'_>, pointer: &str) -> Option<String> {
    nonempty(value, pointer).map(str::to_owned)
}

/// Returns the value if it is a number.
pub(super) fn as_f64(value: TapeNode<'_>) -> Option<f64> {
    value.has_type(JsonType::Number).then(|| value.number().as_f64())?
}

/// Returns the number at a JSON pointer.
pub(super) fn number(value: TapeNode<'_>, pointer: &str) -> Option<f64> {
    as_f64(at(value, pointer)?)
}

/// Returns true if the value at a JSON pointer is `true`.
pub(super) fn is_true(value: TapeNode<'_>, pointer: &str) -> bool {
    at(value, pointer).and_then(TapeNode::as_bool) == Some(true)
}

/// Returns the value as a time, in milliseconds since 1970. It is a number or a text in RFC 3339.
pub(super) fn as_time(value: TapeNode<'_>) -> Option<f64> {
    as_f64(value).or_else(|| parse_milliseconds(value.as_str()?))
}

/// Returns the elements of the array at a JSON pointer; no elements if there is no array.
pub(super) fn items<'v>(value: TapeNode<'v>, pointer: &str) -> impl Iterator<Item = TapeNode<'v>> {
    at(value, pointer).into_iter().flat_map(TapeNode::elements)
}

/// Returns the string at a JSON pointer. If there is an array of blocks instead, joins the texts of the blocks with
/// newlines.
pub(super) fn texts(value: TapeNode<'_>, pointer: &str) -> Option<String> {
    let value = at(value, pointer)?;
    let blocks =
        || value.elements().filter_map(|block| nonempty(block, "/text")).collect::<Vec<_>>().join("\n");
    value.as_str().map(str::to_owned).or_else(|| value.has_type(JsonType::Array).then(blocks))
}

/// Returns the sum of one number of each member of an object, such as of each model. `object` is the JSON pointer to
/// the object, `pointer` that from a member to its number.
pub(super) fn sum_members(value: TapeNode<'_>, object: &str, pointer: &str) -> Option<f64> {
    let members = at(value, object)?.members();
    members.filter_map(|(_, member)| number(member, pointer)).reduce(|sum, number| sum + number)
}

/// Returns the only key of an object; `None` unless it has exactly one key.
pub(super) fn only_key(object: TapeNode<'_>) -> Option<&str> {
    object.members().next().map(|(key, _)| key).filter(|_| object.count() == 1)
}

/// Parses a JSON value inside of a text.
pub(super) fn parse(text: &str) -> Option<Tape> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut tape = Tape::default();
    tape.fill(&value);
    Some(tape)
}
