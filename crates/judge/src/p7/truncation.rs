//! Detects whether output reports that items of a list were omitted.

use super::listing::Listing;
use crate::context::RunView;
use crate::lines::has_words;
use agentnative_core::model::Stream;
use serde_json::{Map, Value};

/// Keys that report omitted items with the value `true`. The keys are compared as lower-case letters and digits:
/// `hasmore` also means `has_more`.
const FLAG_KEYS: &[&str] = &["truncated", "istruncated", "hasmore", "more", "hasnext", "hasnextpage"];
/// Keys whose value says where the next page starts, such as `next_cursor`. With `null`, `false`, 0 or an empty string,
/// there is no next page.
const NEXT_KEYS: &[&str] = &[
    "next",
    "nextcursor",
    "cursor",
    "continue",
    "nextpage",
    "nextpagetoken",
    "nexttoken",
    "nexturl",
    "nextlink",
    "odatanextlink",
    "continuation",
    "continuationtoken",
];
/// Keys of the total number of items, including omitted ones.
const TOTAL_KEYS: &[&str] = &["total", "totalcount", "totalitems", "totalresults"];
/// Keys of the number of omitted items or of further pages.
const REST_KEYS: &[&str] = &["remaining", "remainingcount", "remainingitemcount", "omitted", "omittedcount"];
/// Keys of objects that describe a list and stand next to it, such as `pagination`.
const METADATA_KEYS: &[&str] =
    &["meta", "metadata", "pagination", "paging", "pageinfo", "page", "links", "listmeta"];

/// Words that identify a line of text as a notice of omitted items.
const NOTICE_WORDS: &[&str] = &[
    "truncated",
    "omitted",
    "showing",
    "shown",
    "displaying",
    "more",
    "remaining",
    "further",
    "additional",
    "limit",
    "limited",
    "next",
    "cursor",
    "rest",
];
/// Number of lines at the start and at the end of the output that are searched for a notice of omitted items.
const EDGE_LINES: usize = 3;

/// Returns whether a JSON document reports that its list has more items. Searches the objects that contain the list,
/// and objects in them that describe it. `None` if the document is too long to be kept in memory.
pub fn in_document(listing: &Listing) -> Option<bool> {
    listing.document.as_ref()?;
    Some(listing.ancestors().filter_map(Value::as_object).any(|object| {
        let about = |(key, value): (&String, &Value)| {
            let inner = value.as_object().filter(|_| METADATA_KEYS.contains(&normalized(key).as_str()));
            inner.is_some_and(|inner| reports_more(inner, listing.count))
        };
        reports_more(object, listing.count) || object.iter().any(about)
    }))
}

/// True if a member of `object` reports that a list, of which `count` items are printed, has more items.
fn reports_more(object: &Map<String, Value>, count: u64) -> bool {
    object.iter().any(|(key, value)| {
        let key = normalized(key);
        let is = |keys: &[&str]| keys.contains(&key.as_str());
        is(FLAG_KEYS) && value == &Value::Bool(true)
            || is(NEXT_KEYS) && has_next(value)
            || is(TOTAL_KEYS) && value.as_f64().is_some_and(|total| total > count as f64)
            || is(REST_KEYS) && value.as_f64().is_some_and(|rest| rest > 0.0)
    })
}

fn has_next(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

/// Reduces a key to lower-case letters and digits, so that `next_cursor` and `nextCursor` are equal.
fn normalized(key: &str) -> String {
    key.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns whether text output reports that there are more items than in `listing`, the same list in json. Searches
/// stderr, and the first and last lines of stdout; ignores the text of the items. `None` if the output is too long to
/// be kept in memory.
pub fn in_text(run: &RunView, listing: &Listing) -> Option<bool> {
    let data = strings_of(listing);
    let notices =
        |lines: &[String]| lines.iter().any(|line| is_notice(&remove_data(line, &data), listing.count));
    let stderr = run.lines(Stream::Stderr)?;
    let mut stdout = run.lines(Stream::Stdout)?;
    stdout.retain(|line| !line.trim().is_empty());
    let (first, last) = (stdout.len().min(EDGE_LINES), stdout.len().saturating_sub(EDGE_LINES));
    Some(notices(&stderr) || notices(&stdout[..first]) || notices(&stdout[last..]))
}

/// Returns the strings in the first and last items of a list, the longest string first.
fn strings_of(listing: &Listing) -> Vec<String> {
    let items = listing.items().unwrap_or_default();
    let edges = items.iter().take(EDGE_LINES).chain(items.iter().rev().take(EDGE_LINES));
    let mut strings = Vec::new();
    edges.for_each(|item| collect(item, &mut strings));
    strings.sort_by_key(|text| std::cmp::Reverse(text.len()));
    strings
}

fn collect(value: &Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) if has_words(text) => strings.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, strings)),
        Value::Object(members) => members.values().for_each(|value| collect(value, strings)),
        _ => {}
    }
}

fn remove_data(line: &str, data: &[String]) -> String {
    data.iter().fold(line.to_owned(), |line, text| line.replace(text, " "))
}

/// True if a line reports that a list has more than `count` items, such as `20 of 45` or `...`.
fn is_notice(line: &str, count: u64) -> bool {
    let line = line.to_lowercase();
    let words: Vec<&str> =
        line.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let of_more = |words: &[&str]| {
        let [first, "of", all] = words else { return false };
        let number = |word: &str| word.parse::<u64>().ok();
        matches!((number(first), number(all)), (Some(first), Some(all)) if first < all)
    };
    let first_of = |words: &[&str]| matches!(words, ["first", number] if number.parse() == Ok(count));
    let dots = line.trim();
    words.iter().any(|word| NOTICE_WORDS.contains(word))
        || words.windows(3).any(of_more)
        || words.windows(2).any(first_of)
        || ["...", "…", "[...]", "[…]"].contains(&dots)
}
