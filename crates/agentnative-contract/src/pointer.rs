//! RFC 6901 pointers into values on a tape.

use super::tape::TapeNode;
use strict_json::{escape_token, unescape_token};

/// An RFC 6901 pointer, taken apart. A token `*` stands for each element of an array and each member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// As it is written.
    pub text: String,
    tokens: Vec<String>,
    /// It has a `*`.
    has_star: bool,
}

/// The token that stands for each value.
const EACH: &str = "*";

impl Pointer {
    /// None when the text is no pointer.
    pub fn parse(text: &str) -> Option<Self> {
        let pointer = Self::literal(text)?;
        Some(Self { has_star: pointer.tokens.iter().any(|token| token == EACH), ..pointer })
    }

    /// A pointer into data, in which `*` is a key like any other.
    pub fn literal(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let valid = |part: &str| {
            let mut tildes = part.split('~').skip(1);
            tildes.all(|rest| rest.starts_with(['0', '1']))
        };
        if parts.next() != Some("") || !text.split('/').all(valid) {
            return None;
        }
        let tokens = parts.map(unescape_token).collect();
        Some(Self { text: text.to_owned(), tokens, has_star: false })
    }

    /// Whether it names at most one value.
    pub fn is_single(&self) -> bool {
        !self.has_star
    }

    /// The value that it names; the first of several.
    pub fn of<'a>(&self, value: TapeNode<'a>) -> Option<TapeNode<'a>> {
        if self.has_star {
            return self.places(value).into_iter().next().map(|(_, value)| value);
        }
        self.tokens.iter().try_fold(value, |value, token| value.get(token))
    }

    /// The values that it names.
    pub fn all<'a>(&self, value: TapeNode<'a>) -> impl Iterator<Item = TapeNode<'a>> {
        let (single, several) = match self.has_star {
            false => (self.of(value), Vec::new()),
            true => (None, self.places(value)),
        };
        single.into_iter().chain(several.into_iter().map(|(_, value)| value))
    }

    /// The value that it names as its `nth`, with a pointer that names this one alone.
    pub fn place<'a>(&self, value: TapeNode<'a>, nth: usize) -> Option<(String, TapeNode<'a>)> {
        self.places(value).into_iter().nth(nth)
    }

    fn places<'a>(&self, value: TapeNode<'a>) -> Vec<(String, TapeNode<'a>)> {
        self.tokens.iter().fold(vec![(String::new(), value)], |found, token| {
            let below = |(at, value): (String, TapeNode<'a>)| -> Vec<(String, TapeNode<'a>)> {
                let named = |key: &str, value| (format!("{at}/{}", escape_token(key)), value);
                if !self.has_star || token != EACH {
                    return value.get(token).map(|value| named(token, value)).into_iter().collect();
                }
                let elements = value.items().enumerate();
                let elements = elements.map(|(nth, value)| (format!("{at}/{nth}"), value));
                elements.chain(value.pairs().map(|(key, value)| named(key, value))).collect()
            };
            found.into_iter().flat_map(below).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tape::Tape;
    use super::*;
    use jsonschema::json::Node as _;
    use serde_json::{Value, json};

    #[test]
    fn pointers_go_through_objects_and_arrays() {
        let value = json!({"a": [{"b/~": 1}], "": 2});
        let mut tape = Tape::default();
        tape.fill(&value);
        let get = |text: &str| {
            let found = Pointer::parse(text)?.of(tape.root()?)?;
            Some(found.to_value().into_owned())
        };
        assert_eq!(get(""), Some(value));
        assert_eq!(get("/a/0/b~1~0"), Some(json!(1)));
        assert_eq!(get("/"), Some(json!(2)));
        let all = |text: &str| -> Vec<(String, Value)> {
            let places = Pointer::parse(text).unwrap().places(tape.root().unwrap());
            places.into_iter().map(|(at, found)| (at, found.to_value().into_owned())).collect()
        };
        assert_eq!(all("/a/*/*"), [("/a/0/b~1~0".to_owned(), json!(1))]);
        assert_eq!(all("/*/0"), [("/a/0".to_owned(), json!({"b/~": 1}))]);
        assert_eq!(all("/a/*/c"), []);
        for none in ["a", "/a/00", "/a/1", "/a/-", "/a/0/b~2", "/a/+0"] {
            assert_eq!(get(none), None, "{none}");
        }
    }
}
