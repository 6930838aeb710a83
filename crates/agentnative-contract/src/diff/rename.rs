//! How much two names are alike.

use std::collections::BTreeSet;

/// From 0 (nothing in common) to 1 (the same but for case and separators).
pub(super) fn similarity(left: &str, right: &str) -> f64 {
    let plain = |name: &str| -> Vec<char> {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (left, right) = (plain(left), plain(right));
    if left.is_empty() || right.is_empty() {
        return 0.0;
    }
    if left == right {
        return 1.0;
    }
    // One name within the other: `item_type` and `type`.
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
