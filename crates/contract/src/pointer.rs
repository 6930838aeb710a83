//! RFC 6901 pointers into values on a tape.

use strict_json::{JsonType, KeyMap, TapeKey, TapeNode, escape_token, unescape_token};

/// A parsed RFC 6901 pointer. The token `*` matches each element of an array and each member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub text: String,
    tokens: Vec<TapeKey>,
    has_wildcard: bool,
    /// Index of its result in the results of a [`PointerTree`]; `None` if the pointer is not in a tree.
    slot: Option<usize>,
}

/// A value on a tape, with the results of a [`PointerTree`] for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Located<'a> {
    pub value: TapeNode<'a>,
    /// For each slot of the tree: the tape index of the matching node, if there is one. Empty without a tree.
    found: &'a [Option<usize>],
}

impl<'a> From<TapeNode<'a>> for Located<'a> {
    fn from(value: TapeNode<'a>) -> Self {
        Self { value, found: &[] }
    }
}

const WILDCARD: &str = "*";

impl Pointer {
    /// Parses a pointer; returns `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let pointer = Self::parse_literal(text)?;
        Some(Self { has_wildcard: pointer.tokens.iter().any(|token| token.text() == WILDCARD), ..pointer })
    }

    /// Parses a pointer in which `*` is an ordinary key.
    pub fn parse_literal(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let valid = |part: &str| {
            let mut tildes = part.split('~').skip(1);
            tildes.all(|rest| rest.starts_with(['0', '1']))
        };
        if parts.next() != Some("") || !text.split('/').all(valid) {
            return None;
        }
        let tokens = parts.map(|part| TapeKey::new(&unescape_token(part))).collect();
        Some(Self { text: text.to_owned(), tokens, has_wildcard: false, slot: None })
    }

    /// Returns whether the pointer matches at most one value, because it contains no `*`.
    pub fn is_single(&self) -> bool {
        !self.has_wildcard
    }

    /// Returns the first value in `at` that the pointer matches.
    pub fn first_match<'a>(&self, at: impl Into<Located<'a>>) -> Option<TapeNode<'a>> {
        let Located { value, found } = at.into();
        if let Some(found) = self.slot.and_then(|slot| found.get(slot)) {
            return found.and_then(|index| value.at(index));
        }
        if self.has_wildcard {
            return self.matches(value).into_iter().next().map(|(_, value)| value);
        }
        self.tokens.iter().try_fold(value, |value, token| value.get(token))
    }

    /// Calls `enough` with each matching value and its index among the matches, until it returns true. Returns whether
    /// it did.
    pub fn any_match<'a>(
        &self,
        at: impl Into<Located<'a>>,
        mut enough: impl FnMut(usize, TapeNode<'a>) -> bool,
    ) -> bool {
        let at = at.into();
        if self.has_wildcard {
            return self
                .matches(at.value)
                .into_iter()
                .enumerate()
                .any(|(nth, (_, value))| enough(nth, value));
        }
        self.first_match(at).is_some_and(|value| enough(0, value))
    }

    /// Calls `visit` with each matching value and its index among the matches.
    pub fn for_each_match<'a>(&self, at: impl Into<Located<'a>>, mut visit: impl FnMut(usize, TapeNode<'a>)) {
        self.any_match(at, |nth, value| {
            visit(nth, value);
            false
        });
    }

    /// Returns the match with index `nth`, from 0, and its exact pointer, in which `*` is replaced.
    pub fn nth_match<'a>(&self, value: TapeNode<'a>, nth: usize) -> Option<(String, TapeNode<'a>)> {
        self.matches(value).into_iter().nth(nth)
    }

    /// Returns all matches, each with its exact pointer, in which `*` is replaced.
    fn matches<'a>(&self, value: TapeNode<'a>) -> Vec<(String, TapeNode<'a>)> {
        self.tokens.iter().fold(vec![(String::new(), value)], |found, token| {
            let next = |(at, value): (String, TapeNode<'a>)| -> Vec<(String, TapeNode<'a>)> {
                let named = |key: &str, value| (format!("{at}/{}", escape_token(key)), value);
                if !self.has_wildcard || token.text() != WILDCARD {
                    return value.get(token).map(|value| named(token.text(), value)).into_iter().collect();
                }
                let elements = value.elements().enumerate();
                let elements = elements.map(|(nth, value)| (format!("{at}/{nth}"), value));
                elements.chain(value.members().map(|(key, value)| named(key, value))).collect()
            };
            found.into_iter().flat_map(next).collect()
        })
    }
}

/// A tree of pointers that are looked up together, so that shared prefixes are resolved once.
#[derive(Debug)]
pub(crate) struct PointerTree {
    /// For each slot (a node of the tree): the slots of its children, by token.
    children: Vec<KeyMap<usize>>,
}

impl PointerTree {
    /// Builds a tree and sets the slot of each pointer without `*`.
    pub fn new<'p>(pointers: impl Iterator<Item = &'p mut Pointer>) -> Self {
        let mut children: Vec<Vec<(TapeKey, usize)>> = vec![Vec::new()];
        for pointer in pointers.filter(|pointer| pointer.is_single()) {
            let mut at = 0;
            for token in &pointer.tokens {
                let known = children[at].iter().find(|(known, _)| known == token).map(|(_, index)| *index);
                at = known.unwrap_or_else(|| {
                    let index = children.len();
                    children.push(Vec::new());
                    children[at].push((token.clone(), index));
                    index
                });
            }
            pointer.slot = Some(at);
        }
        Self { children: children.into_iter().map(KeyMap::from_iter).collect() }
    }

    /// Looks up all pointers of the tree in `value`. Replaces the contents of `found` by the results, one per slot.
    pub fn locate<'a>(&self, value: TapeNode<'a>, found: &'a mut Vec<Option<usize>>) -> Located<'a> {
        found.clear();
        found.resize(self.children.len(), None);
        self.visit(0, value, found);
        Located { value, found }
    }

    fn visit(&self, slot: usize, value: TapeNode<'_>, found: &mut [Option<usize>]) {
        found[slot] = Some(value.index());
        let children = &self.children[slot];
        if children.is_empty() {
            return;
        }
        if !value.has_type(JsonType::Object) {
            for (token, slot) in children.iter() {
                if let Some(element) = value.get(token) {
                    self.visit(*slot, element, found);
                }
            }
            return;
        }
        let mut left = children.len();
        for key in value.keys() {
            // The first of duplicate keys counts.
            if let Some(slot) = children.get(key).filter(|slot| found[**slot].is_none()) {
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
    fn pointers_match_in_objects_and_arrays() {
        let value = json!({"a": [{"b/~": 1}], "": 2});
        let mut tape = Tape::default();
        tape.fill(&value);
        let get = |text: &str| {
            let found = Pointer::parse(text)?.first_match(tape.root()?)?;
            Some(found.to_value())
        };
        assert_eq!(get(""), Some(value));
        assert_eq!(get("/a/0/b~1~0"), Some(json!(1)));
        assert_eq!(get("/"), Some(json!(2)));
        let all_matches = |text: &str| -> Vec<(String, Value)> {
            let matches = Pointer::parse(text).unwrap().matches(tape.root().unwrap());
            matches.into_iter().map(|(at, found)| (at, found.to_value())).collect()
        };
        assert_eq!(all_matches("/a/*/*"), [("/a/0/b~1~0".to_owned(), json!(1))]);
        assert_eq!(all_matches("/*/0"), [("/a/0".to_owned(), json!({"b/~": 1}))]);
        assert_eq!(all_matches("/a/*/c"), []);
        for missing in ["a", "/a/00", "/a/1", "/a/-", "/a/0/b~2", "/a/+0"] {
            assert_eq!(get(missing), None, "{missing}");
        }
    }
}
