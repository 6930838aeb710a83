//! In what two outputs differ: their shapes, and how much of them there is.

use agentnative_diff::shape::Shape;
use std::collections::BTreeSet;
use std::fmt;
use strict_json::{JsonType, ProblemKind, escape_token};

/// What a stream that stops too early looks like.
pub fn ends_early(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::Truncated | ProblemKind::Torn | ProblemKind::Empty | ProblemKind::InvalidUtf8)
}

/// The first of some faults, and how many more there are.
pub fn some_of(faults: &[String]) -> String {
    const LISTED: usize = 4;
    let listed = faults[..faults.len().min(LISTED)].join("; ");
    match faults.len().saturating_sub(LISTED) {
        0 => listed,
        more => format!("{listed}; and {more} more"),
    }
}

/// A place where two shapes are not the same.
pub struct Difference {
    /// Pointer to the place; elements of a list count as one, so its index is 0.
    pub pointer: String,
    /// What kind of difference it is: `keys` or `types`.
    pub kind: &'static str,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// The first of [`differences`], if there is any.
pub fn difference(a: &Shape, b: &Shape) -> Option<Difference> {
    differences(a, b).into_iter().next()
}

/// What is not the same in two shapes: a key that is always there in one and never in the other, or another
/// type. Null stands for any type; empty lists say nothing of their elements; keys that are data (IDs, paths,
/// numbers) may differ.
pub fn differences(a: &Shape, b: &Shape) -> Vec<Difference> {
    let mut found = Vec::new();
    differ(a, b, &mut String::new(), &mut found);
    found
}

fn differ(a: &Shape, b: &Shape, pointer: &mut String, found: &mut Vec<Difference>) {
    let place = if pointer.is_empty() { "the document".to_owned() } else { pointer.clone() };
    let mut note = |kind, what| found.push(Difference { pointer: pointer.clone(), kind, what });
    let types = |shape: &Shape| shape.types().filter(|of| *of != JsonType::Null).collect::<BTreeSet<_>>();
    let (left, right) = (types(a), types(b));
    if !left.is_empty() && !right.is_empty() && left.is_disjoint(&right) {
        let (left, right) = (names(&left), names(&right));
        return note("types", format!("{place} is {left} in one and {right} in the other"));
    }
    if a.objects() > 0 && b.objects() > 0 && !(keys_are_data(a, b) || a.is_map() || b.is_map()) {
        for (one, other) in [(a, b), (b, a)] {
            let gone = one.members().filter(|(key, member)| {
                member.count() == one.objects() && other.member(key).is_none() && same_number(one, other)
            });
            for (key, _) in gone {
                note("keys", format!("the key `{key}` of {place} is missing in one of them"));
            }
        }
    }
    let length = pointer.len();
    for (key, child) in a.members() {
        if let Some(other) = b.member(key) {
            pointer.push('/');
            pointer.push_str(&escape_token(key));
            differ(child, other, pointer, found);
            pointer.truncate(length);
        }
    }
    if let (Some(left), Some(right)) = (a.items(), b.items()) {
        pointer.push_str("/0");
        differ(left, right, pointer, found);
        pointer.truncate(length);
    }
}

/// With other elements in a list, other optional keys are to be expected.
fn same_number(a: &Shape, b: &Shape) -> bool {
    a.objects() == b.objects()
}

fn names(types: &BTreeSet<JsonType>) -> String {
    types.iter().map(|of| of.name()).collect::<Vec<_>>().join(" or ")
}

/// Whether the keys in which two objects differ are data, as in a map, rather than names: they look
/// like it, and so do the others, or all values are of one type.
fn keys_are_data(a: &Shape, b: &Shape) -> bool {
    let is_data = |key: &str| key.contains(|c: char| c.is_ascii_digit() || "/.:@ ".contains(c));
    let in_one = |one: &Shape, other: &Shape| {
        one.members().filter(|(key, _)| other.member(key).is_none()).all(|(key, _)| is_data(key))
    };
    let all = || a.members().chain(b.members());
    let types: BTreeSet<JsonType> = all().flat_map(|(_, member)| member.types()).collect();
    in_one(a, b) && in_one(b, a) && (types.len() == 1 || all().all(|(key, _)| is_data(key)))
}
