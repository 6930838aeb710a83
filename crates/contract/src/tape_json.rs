//! Makes values on tapes usable by the `jsonschema` validator.

use super::decimal::Decimal;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use jsonschema_value::LazyInstance;
use serde_json::{Number, Value};
use std::borrow::Cow;
use strict_json::{Elements, JsonKind, JsonType, Members, Tape, TapeKey, TapeNode};

/// A number on a tape, which keeps its text in the input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TapeNumber<'a>(pub TapeNode<'a>);

impl TapeNumber<'_> {
    fn written_as_integer(self) -> bool {
        !self.0.text().bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }
}

impl JsonNumber for TapeNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.text().parse().ok()
    }
    fn as_i64(&self) -> Option<i64> {
        // As in serde_json, "-0" is a float.
        self.0.text().parse().ok().filter(|value| *value != 0 || self.0.text() == "0")
    }
    fn as_f64(&self) -> Option<f64> {
        self.0.text().parse::<f64>().ok().map(|value| value.clamp(f64::MIN, f64::MAX))
    }
    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.text())
    }
    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(self.0.number())
    }
    fn is_integer(&self) -> bool {
        self.written_as_integer() || Decimal::parse(self.0.text()).is_some_and(|value| value.is_integer())
    }
    fn is_written_as_integer(&self) -> bool {
        self.written_as_integer()
    }
}

/// The representation of JSON by tapes, for the `jsonschema` validator.
pub(crate) struct TapeJson;

impl Json for TapeJson {
    type Node<'a> = TapeNode<'a>;
    type PreparedKey = TapeKey;
    type StringBuffer = Tape;
    // A lookup scans the members, as an iteration does.
    const KEYS_PER_LOOKUP: usize = 8;

    fn prepare_key(key: &str) -> TapeKey {
        TapeKey::new(key)
    }

    fn with_string_node<T>(buffer: &mut Tape, string: &str, f: impl FnOnce(TapeNode<'_>) -> T) -> T {
        buffer.fill_string(string);
        f(buffer.root().expect("a string is one value"))
    }
}

impl<'a> Node<'a, TapeJson> for TapeNode<'a> {
    type Object = Self;
    type Array = Self;
    type Number = TapeNumber<'a>;

    fn as_object(&self) -> Option<Self> {
        self.has_type(JsonType::Object).then_some(*self)
    }
    fn as_array(&self) -> Option<Self> {
        self.has_type(JsonType::Array).then_some(*self)
    }
    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.as_str().map(Cow::Borrowed)
    }
    fn string_length(&self) -> Option<u64> {
        self.has_type(JsonType::String).then(|| self.text().chars().count() as u64 + self.omitted_chars())
    }
    fn as_number(&self) -> Option<TapeNumber<'a>> {
        self.has_type(JsonType::Number).then_some(TapeNumber(*self))
    }
    fn as_boolean(&self) -> Option<bool> {
        self.as_bool()
    }
    fn is_null(&self) -> bool {
        self.has_type(JsonType::Null)
    }
    fn is_number(&self) -> bool {
        self.has_type(JsonType::Number)
    }
    fn is_string(&self) -> bool {
        self.has_type(JsonType::String)
    }

    fn json_type(&self) -> jsonschema::JsonType {
        match TapeNode::json_type(*self) {
            JsonType::Null => jsonschema::JsonType::Null,
            JsonType::Boolean => jsonschema::JsonType::Boolean,
            JsonType::Number => jsonschema::JsonType::Number,
            JsonType::String => jsonschema::JsonType::String,
            JsonType::Array => jsonschema::JsonType::Array,
            JsonType::Object => jsonschema::JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        TapeNode::json_type(*self) == JsonType::from(expected)
            && match expected {
                Value::Null => true,
                Value::Bool(expected) => self.as_bool() == Some(*expected),
                Value::String(expected) => self.omitted_chars() == 0 && self.text() == expected,
                expected => jsonschema::json::cmp::equal(&TapeNode::to_value(*self), expected),
            }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(TapeNode::to_value(*self))
    }

    /// Returns null for a container: messages are built from the tape, so an error needs no copy of a large value.
    fn lazy_value(&self) -> LazyInstance<'a> {
        LazyInstance::Ready(match self.kind() {
            JsonKind::Array | JsonKind::Object => Cow::Owned(Value::Null),
            _ => Cow::Owned(TapeNode::to_value(*self)),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(TapeNode::identity(*self)))
    }
}

impl<'a> Object<'a, TapeJson> for TapeNode<'a> {
    type Node = Self;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        TapeNode::count(*self)
    }
    fn get(&self, key: &TapeKey) -> Option<Self> {
        self.member(key)
    }
    fn members(&self) -> Members<'a> {
        TapeNode::members(*self)
    }
}

impl<'a> Array<'a, TapeJson> for TapeNode<'a> {
    type Node = Self;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        TapeNode::count(*self)
    }
    fn elements(&self) -> Elements<'a> {
        TapeNode::elements(*self)
    }
}
