//! RFC 6901 pointers into values on a tape.

use strict_json::{JsonType, Key, KeyMap, TapeNode, escape_token, unescape_token};

/// An RFC 6901 pointer, taken apart. A token `*` stands for each element of an array and each member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// As it is written.
    pub text: String,
    tokens: Vec<Key>,
    /// It has a `*`.
    has_star: bool,
    /// Its index in a [`PointerTree`].
    slot: Option<usize>,
}

/// A value, and what a [`PointerTree`] found in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Located<'a> {
    pub value: TapeNode<'a>,
    /// By slot: the index of what is there.
    found: &'a [Option<usize>],
}

impl<'a> From<TapeNode<'a>> for Located<'a> {
    fn from(value: TapeNode<'a>) -> Self {
        Self { value, found: &[] }
    }
}

/// The token that stands for each value.
const EACH: &str = "*";

impl Pointer {
    /// None when the text is no pointer.
    pub fn parse(text: &str) -> Option<Self> {
        let pointer = Self::literal(text)?;
        Some(Self { has_star: pointer.tokens.iter().any(|token| token.text() == EACH), ..pointer })
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
        let tokens = parts.map(|part| Key::new(&unescape_token(part))).collect();
        Some(Self { text: text.to_owned(), tokens, has_star: false, slot: None })
    }

    /// Whether it names at most one value.
    pub fn is_single(&self) -> bool {
        !self.has_star
    }

    /// The value that it names; the first of several.
    pub fn of<'a>(&self, at: impl Into<Located<'a>>) -> Option<TapeNode<'a>> {
        let Located { value, found } = at.into();
        if let Some(found) = self.slot.and_then(|slot| found.get(slot)) {
            return found.and_then(|index| value.at(index));
        }
        if self.has_star {
            return self.places(value).into_iter().next().map(|(_, value)| value);
        }
        self.tokens.iter().try_fold(value, |value, token| value.get(token))
    }

    /// Goes over the values that it names, each with its number, until one is enough; gives whether one was.
    pub fn any<'a>(
        &self,
        at: impl Into<Located<'a>>,
        mut enough: impl FnMut(usize, TapeNode<'a>) -> bool,
    ) -> bool {
        let at = at.into();
        if self.has_star {
            return self.places(at.value).into_iter().enumerate().any(|(nth, (_, value))| enough(nth, value));
        }
        self.of(at).is_some_and(|value| enough(0, value))
    }

    /// Goes over all values that it names.
    pub fn each<'a>(&self, at: impl Into<Located<'a>>, mut take: impl FnMut(usize, TapeNode<'a>)) {
        self.any(at, |nth, value| {
            take(nth, value);
            false
        });
    }

    /// The value that it names as its `nth`, with a pointer that names this one alone.
    pub fn place<'a>(&self, value: TapeNode<'a>, nth: usize) -> Option<(String, TapeNode<'a>)> {
        self.places(value).into_iter().nth(nth)
    }

    fn places<'a>(&self, value: TapeNode<'a>) -> Vec<(String, TapeNode<'a>)> {
        self.tokens.iter().fold(vec![(String::new(), value)], |found, token| {
            let below = |(at, value): (String, TapeNode<'a>)| -> Vec<(String, TapeNode<'a>)> {
                let named = |key: &str, value| (format!("{at}/{}", escape_token(key)), value);
                if !self.has_star || token.text() != EACH {
                    return value.get(token).map(|value| named(token.text(), value)).into_iter().collect();
                }
                let elements = value.items().enumerate();
                let elements = elements.map(|(nth, value)| (format!("{at}/{nth}"), value));
                elements.chain(value.pairs().map(|(key, value)| named(key, value))).collect()
            };
            found.into_iter().flat_map(below).collect()
        })
    }
}

/// Pointers that are looked up together, so that no part of a way is gone twice.
#[derive(Debug)]
pub(crate) struct PointerTree {
    /// By slot: the slots of what is below, by token.
    below: Vec<KeyMap<usize>>,
}

impl PointerTree {
    /// A tree of these pointers, each of which gets its slot; one that names several values stays as it is.
    pub fn new<'p>(pointers: impl Iterator<Item = &'p mut Pointer>) -> Self {
        let mut below: Vec<Vec<(Key, usize)>> = vec![Vec::new()];
        for pointer in pointers.filter(|pointer| pointer.is_single()) {
            let mut at = 0;
            for token in &pointer.tokens {
                let known = below[at].iter().find(|(known, _)| known == token).map(|(_, index)| *index);
                at = known.unwrap_or_else(|| {
                    let index = below.len();
                    below.push(Vec::new());
                    below[at].push((token.clone(), index));
                    index
                });
            }
            pointer.slot = Some(at);
        }
        Self { below: below.into_iter().map(KeyMap::from_iter).collect() }
    }

    /// Looks up what all pointers name; `found` gets one entry for each slot.
    pub fn locate<'a>(&self, value: TapeNode<'a>, found: &'a mut Vec<Option<usize>>) -> Located<'a> {
        found.clear();
        found.resize(self.below.len(), None);
        self.visit(0, value, found);
        Located { value, found }
    }

    fn visit(&self, slot: usize, value: TapeNode<'_>, found: &mut [Option<usize>]) {
        found[slot] = Some(value.index());
        let below = &self.below[slot];
        if below.is_empty() {
            return;
        }
        if !value.is(JsonType::Object) {
            for (token, slot) in below.iter() {
                if let Some(element) = value.get(token) {
                    self.visit(*slot, element, found);
                }
            }
            return;
        }
        let mut left = below.len();
        for key in value.keys() {
            // Of a key that comes twice the first counts.
            if let Some(slot) = below.get(key).filter(|slot| found[**slot].is_none()) {
                self.visit(*slot, key.value(), found);
                left -= 1;
                if left == 0 {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use strict_json::Tape;

    #[test]
    fn pointers_go_through_objects_and_arrays() {
        let value = json!({"a": [{"b/~": 1}], "": 2});
        let mut tape = Tape::default();
        tape.fill(&value);
        let get = |text: &str| {
            let found = Pointer::parse(text)?.of(tape.root()?)?;
            Some(found.to_value())
        };
        assert_eq!(get(""), Some(value));
        assert_eq!(get("/a/0/b~1~0"), Some(json!(1)));
        assert_eq!(get("/"), Some(json!(2)));
        let all = |text: &str| -> Vec<(String, Value)> {
            let places = Pointer::parse(text).unwrap().places(tape.root().unwrap());
            places.into_iter().map(|(at, found)| (at, found.to_value())).collect()
        };
        assert_eq!(all("/a/*/*"), [("/a/0/b~1~0".to_owned(), json!(1))]);
        assert_eq!(all("/*/0"), [("/a/0".to_owned(), json!({"b/~": 1}))]);
        assert_eq!(all("/a/*/c"), []);
        for none in ["a", "/a/00", "/a/1", "/a/-", "/a/0/b~2", "/a/+0"] {
            assert_eq!(get(none), None, "{none}");
        }
    }
}
