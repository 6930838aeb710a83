//! Finds the variants of a union, the key that distinguishes them (such as `type`), and their names.

use super::canonicalize::Canonicalizer;
use super::predicates::distinct;
use super::schema_comparer::excerpt;
use super::typed_schema::TypedSchema;
use agentnative_contract::{DISCRIMINATORS, list_names};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of keys in the name of a variant that is named after its required keys.
const MAX_NAMED: usize = 5;

/// Variants of a union. The index is the text of the value of the discriminating key, followed by that value as JSON
/// and the alternatives that have it.
pub(super) type Variants<'a> = BTreeMap<String, (Value, Vec<TypedSchema<'a>>)>;
/// A discriminating key, such as `type`, and the variants that it distinguishes.
pub(super) type Tagged<'a> = (String, Variants<'a>);

/// Returns the name of a variant from its discriminating key and value, such as `type` followed by `"start"`.
pub(super) fn variant_name(key: &str, value: &Value) -> String {
    format!("`{key}` {}", excerpt(value))
}

/// Returns a name for each alternative of a union: the value of a discriminating key or, without such a key, the keys
/// that only this alternative requires.
pub(super) fn variant_names<'a>(side: &Canonicalizer<'a>, alts: &[TypedSchema<'a>]) -> Vec<String> {
    let only = |values: Vec<Value>| <[Value; 1]>::try_from(values).ok().map(|[value]| value);
    let tag = |key: &str, alt: &TypedSchema<'a>| {
        alt.tags.get(key).cloned().or_else(|| only(side.finite_values(&alt.property(key))?))
    };
    let mut tagged =
        candidate_discriminators(side, alts).into_iter().filter(|(_, variants)| variants.len() == alts.len());
    let by_key = |(key, _): Tagged<'a>| -> Option<Vec<String>> {
        alts.iter().map(|alt| Some(variant_name(&key, &tag(&key, alt)?))).collect()
    };
    let by_keys = |alt: &TypedSchema<'a>| {
        let others = alts.iter().filter(|other| !std::ptr::eq(*other, alt));
        let others: BTreeSet<&str> = others.flat_map(|other| other.required.iter().copied()).collect();
        let own: Vec<&str> = alt.required.difference(&others).copied().collect();
        let all: Vec<&str> = if own.is_empty() { alt.required.iter().copied().collect() } else { own };
        if all.is_empty() { "no required key".to_owned() } else { list_names(all.into_iter(), MAX_NAMED) }
    };
    tagged.find_map(by_key).unwrap_or_else(|| alts.iter().map(by_keys).collect())
}

/// Returns how many of the keys of two objects are in both, as a fraction from 0 to 1.
pub(super) fn key_overlap(old: &TypedSchema<'_>, new: &TypedSchema<'_>) -> f64 {
    let (old, new) = (old.constrained_keys(), new.constrained_keys());
    let all = old.union(&new).count();
    if all == 0 { 1.0 } else { old.intersection(&new).count() as f64 / all as f64 }
}

/// Returns a discriminating key of the old union and one of the new union, with their variants. The same key is
/// preferred; otherwise a renamed key with common values. `None` if there is no such pair.
pub(super) fn matching_discriminators<'v, 'a>(
    before: &'v [Tagged<'a>],
    after: &'v [Tagged<'a>],
) -> Option<(&'v Tagged<'a>, &'v Tagged<'a>)> {
    let pairs = || before.iter().flat_map(|old| after.iter().map(move |new| (old, new)));
    // A key with a single value discriminates nothing.
    let discriminate = |old: &Variants<'a>, new: &Variants<'a>| {
        old.keys().chain(new.keys()).collect::<BTreeSet<_>>().len() > 1
    };
    let same = pairs().find(|((old_key, old), (new_key, new))| old_key == new_key && discriminate(old, new));
    // A renamed key may still have the same values.
    let has_key = |all: &[Tagged<'a>], key: &String| all.iter().any(|(other, _)| other == key);
    same.or_else(|| {
        let mut renamed =
            pairs().filter(|((old, _), (new, _))| !has_key(after, old) && !has_key(before, new));
        renamed.find(|((_, old), (_, new))| {
            old.keys().any(|tag| new.contains_key(tag)) && discriminate(old, new)
        })
    })
}

/// Returns all keys that distinguish the alternatives, each with the variants that result. The usual keys, such as
/// `type`, come first.
pub(super) fn candidate_discriminators<'a>(
    side: &Canonicalizer<'a>,
    alts: &[TypedSchema<'a>],
) -> Vec<Tagged<'a>> {
    let keys = alts.first().into_iter().flat_map(|first| &first.required);
    let tagged = |key: &&str| Some(((*key).to_owned(), by_tag(side, alts, key)?));
    let mut keys: Vec<Tagged<'a>> = keys.filter_map(tagged).collect();
    keys.sort_by_key(|(key, _)| {
        DISCRIMINATORS
            .iter()
            .position(|discriminator| discriminator.key == key)
            .unwrap_or(DISCRIMINATORS.len())
    });
    keys
}

/// Groups alternatives by the value of a key. `None` unless every alternative requires the key and lists its values.
pub(super) fn by_tag<'a>(
    side: &Canonicalizer<'a>,
    alts: &[TypedSchema<'a>],
    key: &str,
) -> Option<Variants<'a>> {
    let mut variants = Variants::new();
    for alt in alts {
        if !alt.required.contains(key) {
            return None;
        }
        let values = match alt.tags.get(key) {
            Some(tag) => vec![tag.clone()],
            None => side
                .finite_values(&alt.property(key))
                .filter(|values| !values.is_empty() && values.len() <= 64)?,
        };
        for value in distinct(values) {
            let mut with_tag = alt.clone();
            with_tag.tags.insert(key.to_owned(), value.clone());
            let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            variants.entry(name).or_insert_with(|| (value, Vec::new())).1.push(with_tag);
        }
    }
    Some(variants)
}
