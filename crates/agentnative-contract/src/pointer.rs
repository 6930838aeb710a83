//! RFC 6901 pointers into values on a tape.

use super::tape::TapeNode;
use strict_json::unescape_token;

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
    pub fn of<'a>(&self, value: TapeNode<'a>) -> Option<TapeNode<'a>> {
        self.tokens.iter().try_fold(value, |value, token| value.get(token))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tape::Tape;
    use super::*;
    use jsonschema::json::Node as _;
    use serde_json::json;

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
        for none in ["a", "/a/00", "/a/1", "/a/-", "/a/0/b~2", "/a/+0"] {
            assert_eq!(get(none), None, "{none}");
        }
    }
}
