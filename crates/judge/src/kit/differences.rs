//! Compares two outputs by the shape of their values.

use agentnative_diff::shape::Shape;
use std::collections::BTreeSet;
use std::fmt;
use strict_json::{JsonType, ProblemKind, escape_token};

/// Returns true for a problem that is typical of a stream that ends too early, such as truncated JSON.
pub fn ends_early(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::Truncated | ProblemKind::Torn | ProblemKind::Empty | ProblemKind::InvalidUtf8)
}

/// Joins the first problems with semicolons, followed by the number of the others, such as `a; b; c; d; and 3 more`.
pub fn list_first(problems: &[String]) -> String {
    const MAX_LISTED: usize = 4;
    let listed = problems[..problems.len().min(MAX_LISTED)].join("; ");
    match problems.len().saturating_sub(MAX_LISTED) {
        0 => listed,
        more => format!("{listed}; and {more} more"),
    }
}

/// A position where two shapes differ.
pub struct Difference {
    /// JSON pointer to the position. All elements of a list have the index 0.
    pub pointer: String,
    /// Kind of the difference: `keys` or `types`.
    pub kind: &'static str,
    message: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Returns the first of the [`differences`]; `None` if there are none.
pub fn difference(a: &Shape, b: &Shape) -> Option<Difference> {
    differences(a, b).into_iter().next()
}

/// Returns the differences between two shapes. A difference is a key that one shape always has and the other never, or
/// another type. Null matches any type, and the elements of empty lists match anything. Keys that are data (IDs, paths,
/// numbers) may differ.
pub fn differences(a: &Shape, b: &Shape) -> Vec<Difference> {
    let mut found = Vec::new();
    collect_differences(a, b, &mut String::new(), &mut found);
    found
}

fn collect_differences(a: &Shape, b: &Shape, pointer: &mut String, found: &mut Vec<Difference>) {
    let position_name = if pointer.is_empty() { "the document".to_owned() } else { pointer.clone() };
    let mut note = |kind, message| found.push(Difference { pointer: pointer.clone(), kind, message });
    let types = |shape: &Shape| {
        shape.types().filter(|json_type| *json_type != JsonType::Null).collect::<BTreeSet<_>>()
    };
    let (left, right) = (types(a), types(b));
    if !left.is_empty() && !right.is_empty() && left.is_disjoint(&right) {
        let (left, right) = (names(&left), names(&right));
        return note("types", format!("{position_name} is {left} in one and {right} in the other"));
    }
    if a.object_count() > 0 && b.object_count() > 0 && !(keys_are_data(a, b) || a.is_map() || b.is_map()) {
        for (one, other) in [(a, b), (b, a)] {
            let missing = one.members().filter(|(key, member)| {
                member.count() == one.object_count()
                    && other.member(key).is_none()
                    && have_same_count(one, other)
            });
            for (key, _) in missing {
                note("keys", format!("the key `{key}` of {position_name} is missing in one of them"));
            }
        }
    }
    let length = pointer.len();
    for (key, child) in a.members() {
        if let Some(other) = b.member(key) {
            pointer.push('/');
            pointer.push_str(&escape_token(key));
            collect_differences(child, other, pointer, found);
            pointer.truncate(length);
        }
    }
    if let (Some(left), Some(right)) = (a.items(), b.items()) {
        pointer.push_str("/0");
        collect_differences(left, right, pointer, found);
        pointer.truncate(length);
    }
}

/// Returns whether two shapes have the same number of objects. Otherwise, missing keys are no differences, because
/// lists with other elements may have other optional keys.
fn have_same_count(a: &Shape, b: &Shape) -> bool {
    a.object_count() == b.object_count()
}

fn names(types: &BTreeSet<JsonType>) -> String {
    types.iter().map(|json_type| json_type.name()).collect::<Vec<_>>().join(" or ")
}

/// Returns whether two objects are maps, in which keys are data, such as IDs or paths. All keys that only one of them
/// has must look like data. In addition, all other keys look like data, or all values have one type.
fn keys_are_data(a: &Shape, b: &Shape) -> bool {
    let is_data = |key: &str| key.contains(|c: char| c.is_ascii_digit() || "/.:@ ".contains(c));
    let has_only_data_keys = |one: &Shape, other: &Shape| {
        one.members().filter(|(key, _)| other.member(key).is_none()).all(|(key, _)| is_data(key))
    };
    let all = || a.members().chain(b.members());
    let types: BTreeSet<JsonType> = all().flat_map(|(_, member)| member.types()).collect();
    has_only_data_keys(a, b)
        && has_only_data_keys(b, a)
        && (types.len() == 1 || all().all(|(key, _)| is_data(key)))
}
