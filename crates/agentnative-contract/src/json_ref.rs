//! A look at a JSON value, wherever it is held.

use serde_json::{Number, Value};
use std::borrow::Cow;
use strict_json::unescape_token;

/// What a JSON value is.
#[derive(Debug, Clone)]
pub(crate) enum JsonKind<'a> {
    Null,
    Bool(bool),
    Number(Cow<'a, Number>),
    Text(Cow<'a, str>),
    Array,
    Object,
}

/// A JSON value that can be looked at. Copying it is cheap.
pub(crate) trait JsonRef<'a>: Copy {
    /// What it is.
    fn kind(self) -> JsonKind<'a>;
    /// The value of a key of an object, or the element of an array with this index.
    fn get(self, token: &str) -> Option<Self>;
    /// Calls `each` with every element, if it is an array; false if not.
    fn each_element(self, each: impl FnMut(Self)) -> bool;
    /// Calls `each` with every key, if it is an object; false if not.
    fn each_key(self, each: impl FnMut(&str)) -> bool;
}

impl<'a> JsonRef<'a> for &'a Value {
    fn kind(self) -> JsonKind<'a> {
        match self {
            Value::Null => JsonKind::Null,
            Value::Bool(value) => JsonKind::Bool(*value),
            Value::Number(number) => JsonKind::Number(Cow::Borrowed(number)),
            Value::String(text) => JsonKind::Text(Cow::Borrowed(text)),
            Value::Array(_) => JsonKind::Array,
            Value::Object(_) => JsonKind::Object,
        }
    }

    fn get(self, token: &str) -> Option<Self> {
        match self {
            Value::Object(members) => members.get(token),
            Value::Array(elements) => elements.get(index(token)?),
            _ => None,
        }
    }

    fn each_element(self, each: impl FnMut(Self)) -> bool {
        let Value::Array(elements) = self else { return false };
        elements.iter().for_each(each);
        true
    }

    fn each_key(self, mut each: impl FnMut(&str)) -> bool {
        let Value::Object(members) = self else { return false };
        members.keys().for_each(|key| each(key));
        true
    }
}

/// The array index that a token of a pointer is: digits without a leading zero.
pub(crate) fn index(token: &str) -> Option<usize> {
    let plain = token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    plain.then(|| token.parse().ok()).flatten()
}

/// An RFC 6901 pointer, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// As it is written.
    pub text: String,
    tokens: Vec<String>,
}

impl Pointer {
    /// None when the text is no pointer.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let valid = |part: &str| {
            let mut tildes = part.split('~').skip(1);
            tildes.all(|rest| rest.starts_with(['0', '1']))
        };
        if parts.next() != Some("") || !text.split('/').all(valid) {
            return None;
        }
        let tokens = parts.map(unescape_token).collect();
        Some(Self { text: text.to_owned(), tokens })
    }

    /// The value that it names.
    pub fn of<'a, V: JsonRef<'a>>(&self, value: V) -> Option<V> {
        self.tokens.iter().try_fold(value, |value, token| value.get(token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_go_through_objects_and_arrays() {
        let value = json!({"a": [{"b/~": 1}], "": 2});
        let get = |text: &str| Pointer::parse(text).and_then(|pointer| pointer.of(&value)).cloned();
        assert_eq!(get(""), Some(value.clone()));
        assert_eq!(get("/a/0/b~1~0"), Some(json!(1)));
        assert_eq!(get("/"), Some(json!(2)));
        for none in ["a", "/a/00", "/a/1", "/a/-", "/a/0/b~2", "/a/+0"] {
            assert_eq!(get(none), None, "{none}");
        }
    }
}
