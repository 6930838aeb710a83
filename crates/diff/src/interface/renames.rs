//! Finds the new name of a removed command or option: a new one with a similar name or the same description.

use crate::rename::similarity;

/// Minimum similarity of two names, one of which probably replaces the other.
const MIN_SIMILARITY: f64 = 0.6;
/// Minimum length of a description that identifies what it describes, in bytes.
const MIN_DESCRIPTION: usize = 8;

/// Returns the note on the probable new name of something that was removed. `added` are the names and descriptions of
/// what is new at the same place.
pub(super) fn note<'a>(
    name: &str,
    description: &str,
    added: impl Iterator<Item = (&'a str, &'a str)>,
) -> Option<String> {
    let described = plain(description);
    let rank = |(other, about): (&'a str, &'a str)| {
        let is_described = described.len() >= MIN_DESCRIPTION && plain(about) == described;
        let rank = similarity(name, other) + if is_described { 1.0 } else { 0.0 };
        (rank > MIN_SIMILARITY).then_some((rank, other))
    };
    let (_, other) = added.filter_map(rank).max_by(|(one, _), (two, _)| one.total_cmp(two))?;
    Some(format!("probably renamed to `{other}`"))
}

/// Returns a description without white space, case and punctuation, which depend on the layout of a page.
pub(super) fn plain(description: &str) -> String {
    description.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
