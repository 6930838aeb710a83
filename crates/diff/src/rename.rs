//! Detects renamed variants and keys: their names are similar, and their schemas have similar keys.

use super::variants::{Variants, key_overlap};
use std::collections::BTreeSet;

/// Names that only one version has. Each has the name that it was probably renamed to or from in the other version, or
/// `None`.
type OneSided<'v> = Vec<(&'v String, Option<&'v String>)>;

/// Returns the names of the removed and of the added variants, in this order.
pub(super) fn removed_and_added<'v>(
    old: &'v Variants<'_>,
    new: &'v Variants<'_>,
) -> (OneSided<'v>, OneSided<'v>) {
    let removed: Vec<&String> = old.keys().filter(|name| !new.contains_key(*name)).collect();
    let added: Vec<&String> = new.keys().filter(|name| !old.contains_key(*name)).collect();
    let mut pairs: Vec<(&String, &String)> = Vec::new();
    for from in &removed {
        let shapes = |to: &String| old[*from].1.first().zip(new[to].1.first());
        let candidates =
            added.iter().filter(|to| shapes(to).is_some_and(|(old, new)| key_overlap(old, new) > 0.75));
        let best = candidates
            .map(|to| (similarity(from, to), *to))
            .max_by(|(one, _), (other, _)| one.total_cmp(other));
        if let Some((similarity, to)) = best
            && (similarity > 0.4 || removed.len() == 1 && added.len() == 1)
            && !pairs.iter().any(|(_, known)| *known == to)
        {
            pairs.push((from, to));
        }
    }
    let renamed_to = |name| pairs.iter().find(|(from, _)| *from == name).map(|(_, to)| *to);
    let renamed_from = |name| pairs.iter().find(|(_, to)| *to == name).map(|(from, _)| *from);
    (
        removed.into_iter().map(|name| (name, renamed_to(name))).collect(),
        added.into_iter().map(|name| (name, renamed_from(name))).collect(),
    )
}

/// Returns the similarity of two names, from 0 (nothing in common) to 1 (only case and separators differ, as in
/// `toolCalls` and `tool_calls`).
pub(super) fn similarity(left: &str, right: &str) -> f64 {
    let normalized = |name: &str| -> Vec<char> {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (left, right) = (normalized(left), normalized(right));
    if left.is_empty() || right.is_empty() {
        return 0.0;
    }
    if left == right {
        return 1.0;
    }
    // One name contains the other: `item_type` and `type`.
    let (short, long) = if left.len() < right.len() { (&left, &right) } else { (&right, &left) };
    if short.len() >= 2 && long.windows(short.len()).any(|part| part == short.as_slice()) {
        return 0.6 + 0.3 * short.len() as f64 / long.len() as f64;
    }
    let pairs = |name: &[char]| -> BTreeSet<(char, char)> {
        name.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let (left, right) = (pairs(&left), pairs(&right));
    let common = left.intersection(&right).count() as f64;
    2.0 * common / (left.len() + right.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::similarity;

    #[test]
    fn names_are_alike_by_their_letters() {
        assert_eq!(similarity("toolCalls", "tool_calls"), 1.0);
        assert!(similarity("item_type", "type") > 0.6);
        assert!(similarity("assistant_message", "agent_message") > 0.5);
        assert!(similarity("duration", "answer") < 0.3);
    }
}
