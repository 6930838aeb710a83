//! `p2-output-parity`: json and jsonl contain the same records.

use crate::context::{CheckContext, RunView};
use crate::kit::{declare_success, differences, list_first};
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::model::{OutputFormat, Stream};
use agentnative_core::probe::Probe;
use agentnative_diff::shape::{Kind, Shape};
use std::collections::BTreeMap;
use strict_json::JsonType;

/// Judges `p2-output-parity`: json and jsonl contain the same records.
pub fn parity(context: &CheckContext) -> Judgement {
    let formats = [OutputFormat::Json, OutputFormat::Jsonl];
    if let Some(judgement) = formats.iter().find_map(|format| context.judge_without_formats(&[*format])) {
        return judgement;
    }
    let both = |probe: &&Probe| {
        [OutputFormat::Json, OutputFormat::Jsonl].iter().all(|format| probe.formats.contains(format))
    };
    let assertions = context.data_probes().filter(both).filter_map(|probe| {
        let document = context.plain_run(probe, OutputFormat::Json)?;
        let lines = context.plain_run(probe, OutputFormat::Jsonl)?;
        Some(same_records(context, &document, &lines))
    });
    Judgement::from_assertions(assertions, declare_success("json and in jsonl"))
}

fn same_records(context: &CheckContext, document: &RunView, lines: &RunView) -> Assertion {
    for run in [document, lines] {
        run.parsed()?;
    }
    let (whole, records) = (document.scan(), lines.scan());
    if let Some((pointer, count)) = document_line(&whole.shape, &records.shape) {
        let detail = format!(
            "json has {count} records at {pointer}, but jsonl has the complete document as one record"
        );
        return lines.failed_at_start("whole-document", Stream::Stdout, detail);
    }
    let matched = find_records(&whole.shape, &records.shape);
    let is_stable = |probe: &Probe, format, same: fn(&Shape, &Shape) -> bool| {
        let repeats = context.same_data(probe, format);
        let first = repeats.first().map(|run| run.scan().shape.clone());
        first.is_some_and(|first| {
            repeats.len() > 1 && repeats.iter().all(|run| same(&run.scan().shape, &first))
        })
    };
    let both = |same| {
        is_stable(document.probe, OutputFormat::Json, same)
            && is_stable(lines.probe, OutputFormat::Jsonl, same)
    };
    let repeat = || -> Result<(), Reason> {
        [document, lines]
            .into_iter()
            .try_for_each(|run| context.repeated_runs(run.probe, run.format()).map(drop))
    };
    match matched {
        Match::Same => Ok(()),
        Match::OtherValues(pointer) if both(same_values) => {
            repeat()?;
            let detail =
                format!("the records have the same keys as those at {pointer} in json, but different values");
            lines.failed_at_start("values", Stream::Stdout, detail)
        }
        Match::OtherValues(_) => Ok(()), // The values change from run to run.
        // Times and IDs change from run to run; a missing record can be detected anyway if the number, keys and types
        // do not.
        Match::None if !both(same_keys) => {
            inconclusive(format!("the records of {} change from run to run", document.probe.name))
        }
        Match::None => {
            repeat()?;
            report_difference(&whole.shape, lines, &records.shape)
        }
    }
}

/// Reports how the records of the JSON Lines output differ from the most similar part of the JSON document.
fn report_difference(document: &Shape, lines: &RunView, records: &Shape) -> Assertion {
    let (count, name) = (records.count(), &lines.probe.name);
    let parts = parts(document);
    let best = parts.iter().max_by_key(|part| (part.likeness(records), part.is_list, part.count));
    match best {
        Some(part) if part.is_list && part.count != count && (count == 0 || part.likeness(records) > 0) => {
            let detail = format!(
                "the number of records differs: {} in json at {}, {count} in jsonl",
                part.count, part.pointer
            );
            lines.failed_at_start("number", Stream::Stdout, detail)
        }
        Some(part) if part.count == count && part.likeness(records) >= part.min_likeness() => {
            let what = if part.is_list {
                "records differ in keys or types from those at"
            } else {
                "record differs in keys or types from"
            };
            let detail = format!(
                "the jsonl {what} {} in json: {}",
                part.pointer,
                key_difference(part.record, records)
            );
            lines.failed_at_start("keys", Stream::Stdout, detail)
        }
        _ => inconclusive(format!(
            "no part of the json of {name} has the keys of its jsonl records: print the same records in both"
        )),
    }
}

/// A part of the JSON document that may correspond to the JSON Lines output: a list of records, or one object.
struct Part<'a> {
    pointer: String,
    is_list: bool,
    count: u64,
    record: &'a Shape,
}

impl Part<'_> {
    /// Returns the number of keys that this part and `records` have in common, divided by the number of all their keys,
    /// in thousandths.
    fn likeness(&self, records: &Shape) -> usize {
        let both = self.record.members().filter(|(key, _)| records.member(key).is_some()).count();
        let all = self.record.members().count() + records.members().count() - both;
        (both * 1000).checked_div(all).unwrap_or(0)
    }

    /// Returns the minimum of [`Part::likeness`] for a part that corresponds to the records. It is higher for a single
    /// object, because an unrelated object may have a key in common with the records.
    fn min_likeness(&self) -> usize {
        if self.is_list { 1 } else { 500 }
    }
}

fn parts(document: &Shape) -> Vec<Part<'_>> {
    let single = |(pointer, record)| Part { pointer, is_list: false, count: 1, record };
    let members = document.members().map(|(key, member)| (format!("/{key}"), member));
    let objects = std::iter::once(("the document".to_owned(), document))
        .chain(members)
        .filter(|(_, shape)| shape.object_count() == 1);
    let lists = lists(document).into_iter().filter_map(|(pointer, list)| {
        Some(Part { pointer, is_list: true, count: list.element_count(), record: list.items()? })
    });
    objects.map(single).chain(lists).collect()
}

/// Result of a search for the records of the JSON Lines output in the JSON document.
enum Match {
    Same,
    /// The list at this JSON pointer has the same number of records with the same keys and types, but other values.
    OtherValues(String),
    None,
}

/// Searches for the records of `lines` in `document`: as the elements of a list, as the document itself, or as one of
/// its members.
fn find_records(document: &Shape, lines: &Shape) -> Match {
    let mut best = Match::None;
    for (pointer, list) in lists(document) {
        for (document_kinds, line_kinds, tagged) in [
            (&list.kinds().whole, &lines.kinds().whole, false),
            (&list.kinds().whole, &lines.kinds().untagged, true),
        ] {
            // In a stream of events of several kinds, the records are one of the kinds.
            let found = document_kinds.iter().all(|(members, kind)| {
                line_kinds.get(members).is_some_and(|other| other.count == kind.count)
            });
            let all = list.element_count() == list.kinds().count();
            let others = lines.kinds().count() != list.kinds().count();
            if !found || !all || (others && !tagged) || (others && list.element_count() == 0) {
                continue;
            }
            if document_kinds.iter().all(|(members, kind)| line_kinds[members].values == kind.values) {
                return Match::Same;
            }
            best = Match::OtherValues(pointer.clone());
        }
    }
    if lines.count() <= 1 && is_single_record(document, lines) {
        return Match::Same;
    }
    best
}

/// Detects a JSON Lines output whose only record is a complete envelope, such as `{"ok": true, "data": [...]}`. Returns
/// the pointer and the length of the list in the envelope. Without a key such as `ok`, a list is a part of the record:
/// returns `None`.
fn document_line(document: &Shape, lines: &Shape) -> Option<(String, u64)> {
    let envelope = ["ok", "success"].iter().any(|key| document.member(key).is_some());
    let is_whole_document = lines.count() == 1 && lines.kinds().whole == document.kinds().whole;
    let list = ["data", "items", "results", "records", "entries"]
        .iter()
        .find_map(|key| Some((format!("/{key}"), document.member(key)?)));
    list.filter(|(_, list)| envelope && is_whole_document && list.kinds().count() > 1)
        .map(|(pointer, list)| (pointer, list.element_count()))
}

/// True if the only record is the document or one of its members. Without records, true if all lists of the document
/// are empty, or if it has no lists and only Boolean members.
fn is_single_record(document: &Shape, lines: &Shape) -> bool {
    if lines.count() == 0 {
        let lists = lists(document);
        let has_only_flags = document
            .members()
            .all(|(_, member)| member.types().all(|json_type| json_type == JsonType::Boolean));
        return lists.iter().all(|(_, list)| list.element_count() == 0)
            && (!lists.is_empty() || has_only_flags);
    }
    let mut objects: Vec<&Shape> = vec![document];
    objects.extend(document.members().map(|(_, member)| member));
    objects.into_iter().any(|object| {
        object.object_count() == 1 && {
            let first = |shape: Option<&Shape>| shape.map(|shape| shape.types().next());
            let more = lines.members().count().checked_sub(object.members().count());
            more.is_some_and(|more| more <= 1)
                && object.members().all(|(key, member)| first(lines.member(key)) == first(Some(member)))
        }
    })
}

/// Returns the lists of a document, up to four levels deep, with their JSON pointers. Lists inside of other lists are
/// left out.
pub(super) fn lists(document: &Shape) -> Vec<(String, &Shape)> {
    fn walk<'a>(node: &'a Shape, pointer: String, depth: usize, found: &mut Vec<(String, &'a Shape)>) {
        if node.count_of_type(JsonType::Array) > 0 {
            found.push((if pointer.is_empty() { "the top".into() } else { pointer.clone() }, node));
        }
        if depth > 0 {
            for (key, child) in node.members() {
                walk(child, format!("{pointer}/{key}"), depth - 1, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(document, String::new(), 4, &mut found);
    found
}

/// True if two outputs have the same records with the same values.
fn same_values(a: &Shape, b: &Shape) -> bool {
    a.kinds() == b.kinds() && a.total_count() == b.total_count() && all_kinds(a) == all_kinds(b)
}

/// True if two outputs have the same number of records for each set of keys. Values are not compared.
fn same_keys(a: &Shape, b: &Shape) -> bool {
    fn counts(shape: &Shape) -> Vec<(String, u64, u64)> {
        let lists = [(String::new(), &shape.kinds().whole)].into_iter().chain(all_kinds(shape));
        lists
            .flat_map(|(pointer, kinds)| {
                kinds.iter().map(move |(members, kind)| (pointer.clone(), *members, kind.count))
            })
            .collect()
    }
    counts(a) == counts(b)
}

fn all_kinds(document: &Shape) -> Vec<(String, &BTreeMap<u64, Kind>)> {
    lists(document).into_iter().map(|(pointer, list)| (pointer, &list.kinds().whole)).collect()
}

fn key_difference(items: &Shape, lines: &Shape) -> String {
    let missing_keys = |one: &Shape, other: &Shape, description: &str| -> Vec<String> {
        let missing = one.members().filter(|(key, _)| other.member(key).is_none());
        missing.map(|(key, _)| format!("`{key}` is {description}")).collect()
    };
    let types = differences(items, lines).into_iter().filter(|found| found.kind == "types");
    let mut all = missing_keys(items, lines, "missing in jsonl");
    all.extend(missing_keys(lines, items, "only in jsonl"));
    all.extend(types.map(|found| found.to_string()));
    if all.is_empty() { "the same keys occur in different records".into() } else { list_first(&all) }
}
