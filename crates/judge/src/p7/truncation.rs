//! Whether output says that items were left out.

use super::listing::Listing;
use crate::context::RunView;
use crate::lines::has_words;
use agentnative_core::model::Stream;
use serde_json::{Map, Value};

/// Keys whose `true` says so, as letters and digits alone in lower case.
const FLAGS: &[&str] = &["truncated", "istruncated", "hasmore", "more", "hasnext", "hasnextpage"];
/// Keys of what the next call begins with: `null`, `false`, 0 and nothing stand for the end.
const NEXT: &[&str] = &[
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
/// Keys of how many items there are in all.
const TOTALS: &[&str] = &["total", "totalcount", "totalitems", "totalresults"];
/// Keys of how many were left out, or of how many pages there are beside the first.
const REST: &[&str] = &["remaining", "remainingcount", "remainingitemcount", "omitted", "omittedcount"];
/// Keys of objects beside the list that are about it.
const ABOUT: &[&str] = &["meta", "metadata", "pagination", "paging", "pageinfo", "page", "links", "listmeta"];

/// Words of a line that says so.
const WORDS: &[&str] = &[
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
/// A notice is among so many lines at the start or the end of the output.
const EDGE: usize = 3;

/// Whether the document says, in an object that the list is in or in one about it, that there are more items; none
/// where it is too long to be held.
pub fn in_document(listing: &Listing) -> Option<bool> {
    listing.document.as_ref()?;
    Some(listing.around().filter_map(Value::as_object).any(|object| {
        let about = |(key, value): (&String, &Value)| {
            let inner = value.as_object().filter(|_| ABOUT.contains(&plain(key).as_str()));
            inner.is_some_and(|inner| says(inner, listing.count))
        };
        says(object, listing.count) || object.iter().any(about)
    }))
}

/// Whether members of an object say that a list of `count` items has more.
fn says(object: &Map<String, Value>, count: u64) -> bool {
    object.iter().any(|(key, value)| {
        let key = plain(key);
        let is = |keys: &[&str]| keys.contains(&key.as_str());
        is(FLAGS) && value == &Value::Bool(true)
            || is(NEXT) && leads_on(value)
            || is(TOTALS) && value.as_f64().is_some_and(|total| total > count as f64)
            || is(REST) && value.as_f64().is_some_and(|rest| rest > 0.0)
    })
}

fn leads_on(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

/// A key as letters and digits alone, in lower case: `next_cursor` and `nextCursor` are one.
fn plain(key: &str) -> String {
    key.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a line of a text run says that there are more items than those of `listing`, the same in json: a line
/// of stderr, or one of the first or last of stdout. What stands in the items says nothing. None where the output is
/// too long to be held.
pub fn in_text(run: &RunView, listing: &Listing) -> Option<bool> {
    let data = strings_of(listing);
    let notices = |lines: &[String]| lines.iter().any(|line| is_notice(&without(line, &data), listing.count));
    let stderr = run.lines(Stream::Stderr)?;
    let mut stdout = run.lines(Stream::Stdout)?;
    stdout.retain(|line| !line.trim().is_empty());
    let (first, last) = (stdout.len().min(EDGE), stdout.len().saturating_sub(EDGE));
    Some(notices(&stderr) || notices(&stdout[..first]) || notices(&stdout[last..]))
}

/// The strings in the first and last items of a list, the longest first.
fn strings_of(listing: &Listing) -> Vec<String> {
    let items = listing.items().unwrap_or_default();
    let edges = items.iter().take(EDGE).chain(items.iter().rev().take(EDGE));
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

fn without(line: &str, data: &[String]) -> String {
    data.iter().fold(line.to_owned(), |line, text| line.replace(text, " "))
}

/// Whether the words of a line say that there are more than `count`.
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
    words.iter().any(|word| WORDS.contains(word))
        || words.windows(3).any(of_more)
        || words.windows(2).any(first_of)
        || ["...", "…", "[...]", "[…]"].contains(&dots)
}
