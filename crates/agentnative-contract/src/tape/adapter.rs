//! The value on a tape as the validator looks at it.

use super::{Elements, JsonKind, Members, Tape, TapeNode};
use crate::decimal::Decimal;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use jsonschema_value::LazyInstance;
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use strict_json::JsonType;

/// A number as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TapeNumber<'a>(pub(super) &'a str);

impl TapeNumber<'_> {
    fn written_as_integer(self) -> bool {
        !self.0.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }

    pub(super) fn to_number_owned(self) -> Number {
        if let Ok(natural) = self.0.parse::<u64>() {
            return natural.into();
        }
        // What no number can hold (1e400, NaN) is the greatest that one can.
        let parsed = self.0.parse::<Number>().ok();
        let sign = if self.0.starts_with('-') { -1.0 } else { 1.0 };
        parsed.or_else(|| Number::from_f64(sign * f64::MAX)).unwrap_or_else(|| 0.into())
    }
}

impl JsonNumber for TapeNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }
    fn as_i64(&self) -> Option<i64> {
        // serde_json reads "-0" as the float that it is in binary64.
        self.0.parse().ok().filter(|value| *value != 0 || self.0 == "0")
    }
    fn as_f64(&self) -> Option<f64> {
        self.0.parse::<f64>().ok().map(|value| value.clamp(f64::MIN, f64::MAX))
    }
    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(self.to_number_owned())
    }
    fn is_integer(&self) -> bool {
        self.written_as_integer() || Decimal::parse(self.0).is_some_and(|value| value.is_integer())
    }
    fn is_written_as_integer(&self) -> bool {
        self.written_as_integer()
    }
}

/// The representation, for the validator.
pub(crate) struct TapeJson;

impl Json for TapeJson {
    type Node<'a> = TapeNode<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Tape;
    // A lookup goes over the members, as a pass does.
    const KEYS_PER_LOOKUP: usize = 8;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(buffer: &mut Tape, string: &str, f: impl FnOnce(TapeNode<'_>) -> T) -> T {
        buffer.clear(0, 0);
        buffer.push_text(Some(JsonType::String), 0, string);
        f(TapeNode { tape: buffer, index: 0 })
    }
}

impl<'a> Node<'a, TapeJson> for TapeNode<'a> {
    type Object = Self;
    type Array = Self;
    type Number = TapeNumber<'a>;

    fn as_object(&self) -> Option<Self> {
        self.is(JsonType::Object).then_some(*self)
    }
    fn as_array(&self) -> Option<Self> {
        self.is(JsonType::Array).then_some(*self)
    }
    fn as_string(&self) -> Option<Cow<'a, str>> {
        if self.beyond() > 0 {
            self.tape.undecided.store(true, Ordering::Relaxed);
        }
        self.is(JsonType::String).then(|| Cow::Borrowed(self.text()))
    }
    fn string_length(&self) -> Option<u64> {
        self.is(JsonType::String).then(|| self.text().chars().count() as u64 + self.beyond())
    }
    fn as_number(&self) -> Option<TapeNumber<'a>> {
        self.is(JsonType::Number).then(|| TapeNode::number(*self))
    }
    fn as_boolean(&self) -> Option<bool> {
        self.is(JsonType::Boolean).then(|| self.cell().a == 1)
    }
    fn is_null(&self) -> bool {
        self.is(JsonType::Null)
    }
    fn is_number(&self) -> bool {
        self.is(JsonType::Number)
    }
    fn is_string(&self) -> bool {
        self.is(JsonType::String)
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
                Value::Bool(expected) => (self.cell().a == 1) == *expected,
                Value::String(expected) => self.beyond() == 0 && self.text() == expected,
                expected => jsonschema::json::cmp::equal(&self.to_value(), expected),
            }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(match self.kind() {
            JsonKind::Null => Value::Null,
            JsonKind::Bool(value) => Value::Bool(value),
            JsonKind::Number(number) => Value::Number(number),
            JsonKind::Text(text) => Value::String(text.to_owned()),
            JsonKind::Array => {
                Value::Array(self.items().map(|element| element.to_value().into_owned()).collect())
            }
            JsonKind::Object => {
                let member =
                    |(key, value): (&str, TapeNode<'a>)| (key.to_owned(), value.to_value().into_owned());
                Value::Object(self.pairs().map(member).collect::<Map<_, _>>())
            }
        })
    }

    /// Messages take their words from the tape, so an error needs no copy of what may be a whole document.
    fn lazy_value(&self) -> LazyInstance<'a> {
        LazyInstance::Ready(match self.kind() {
            JsonKind::Array | JsonKind::Object => Cow::Owned(Value::Null),
            _ => self.to_value(),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(&self.tape.cells[self.index]).addr()))
    }
}

impl<'a> Object<'a, TapeJson> for TapeNode<'a> {
    type Node = Self;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        TapeNode::len(*self)
    }
    fn get(&self, key: &Box<str>) -> Option<Self> {
        self.member(key)
    }
    fn members(&self) -> Members<'a> {
        self.pairs()
    }
}

impl<'a> Array<'a, TapeJson> for TapeNode<'a> {
    type Node = Self;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        TapeNode::len(*self)
    }
    fn elements(&self) -> Elements<'a> {
        self.items()
    }
}
