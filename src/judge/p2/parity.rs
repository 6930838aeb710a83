//! That json and jsonl carry the same records.

use super::declare_success;
use super::determinism::{difference, size};
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::shape::{Kind, Node};
use crate::judge::verdict::{Assertion, Judgement, inconclusive};
use crate::model::{OutputFormat, Stream};
use crate::probe::Probe;
use std::collections::BTreeMap;
use strict_json::JsonType;

/// `p2-output-parity`
pub fn parity(context: &CheckContext) -> Judgement {
    let both = |probe: &&Probe| {
        [OutputFormat::Json, OutputFormat::Jsonl].iter().all(|format| probe.formats.contains(format))
    };
    let assertions = context.data_probes().filter(both).filter_map(|probe| {
        let document = context.plain(probe, OutputFormat::Json)?;
        let lines = context.plain(probe, OutputFormat::Jsonl)?;
        Some(same_records(context, &document, &lines))
    });
    Judgement::of(assertions, declare_success("json and in jsonl"))
}

fn same_records(context: &CheckContext, document: &RunView, lines: &RunView) -> Assertion {
    for run in [document, lines] {
        run.parsed()?;
    }
    let (whole, records) = (document.scan(), lines.scan());
    if let Some((pointer, count)) = document_line(&whole.shape, &records.shape) {
        let detail =
            format!("json has {count} records at {pointer}, and jsonl has the whole document as one");
        return lines.failed_at_start("whole-document", Stream::Stdout, detail);
    }
    let lists = lists(&whole.shape);
    let matched = matches(&whole.shape, &records.shape);
    let steady = |probe: &Probe, format, same: fn(&Node, &Node) -> bool| {
        let repeats = context.repeats(probe, format);
        let first = repeats.first().map(|run| run.scan().shape.clone());
        first.is_some_and(|first| {
            repeats.len() > 1 && repeats.iter().all(|run| same(&run.scan().shape, &first))
        })
    };
    let both = |same| {
        steady(document.probe, OutputFormat::Json, same) && steady(lines.probe, OutputFormat::Jsonl, same)
    };
    match matched {
        Match::Same => Ok(()),
        Match::OtherValues(pointer) if both(same_values) => lines.failed_at_start(
            "values",
            Stream::Stdout,
            format!("the records have the keys of those at {pointer} in json, but not the same values"),
        ),
        Match::OtherValues(_) => Ok(()), // Values that change by themselves.
        Match::None => {
            let count = records.shape.count();
            let Some((pointer, list)) = lists.iter().max_by_key(|(_, list)| list.elements()) else {
                return inconclusive(format!(
                    "nothing in the json of {} has the keys of its jsonl records: they can't be told to be the same",
                    document.probe.name
                ));
            };
            // Times and IDs change from run to run; a missing record can be told all the same, as long
            // as number, keys and types do not.
            if !both(same_keys) {
                return inconclusive(format!(
                    "the records of {} change from run to run",
                    document.probe.name
                ));
            }
            if list.elements() != count && (count == 0 || related(list, &records.shape)) {
                let detail = format!("json has {} records at {pointer}, jsonl {count}", list.elements());
                return lines.failed_at_start("number", Stream::Stdout, detail);
            }
            if list.elements() == count && related(list, &records.shape) {
                return lines.failed_at_start(
                    "keys",
                    Stream::Stdout,
                    format!(
                        "the jsonl records have not the keys and types of those at {pointer} in json: {}",
                        key_difference(list, &records.shape)
                    ),
                );
            }
            inconclusive(format!(
                "no list in the json of {} has the keys of its jsonl records: they can't be told to be the same",
                document.probe.name
            ))
        }
    }
}

/// How the records of a document and those of lines go together.
enum Match {
    Same,
    /// As many, with the same keys and types, but with other values.
    OtherValues(String),
    None,
}

/// Looks for the records in the document: the elements of a list, the document itself, or a member.
fn matches(document: &Node, lines: &Node) -> Match {
    let mut near = Match::None;
    for (pointer, list) in lists(document) {
        for (ours, theirs, tagged) in
            [(&list.kinds.whole, &lines.kinds.whole, false), (&list.kinds.whole, &lines.kinds.untagged, true)]
        {
            // In a stream of events of several kinds the records are one of the kinds.
            let found = ours.iter().all(|(signature, kind)| {
                theirs.get(signature).is_some_and(|other| other.count == kind.count)
            });
            let all = list.elements() == list.kinds.count();
            let others = lines.kinds.count() != list.kinds.count();
            if !found || !all || (others && !tagged) || (others && list.elements() == 0) {
                continue;
            }
            if ours.iter().all(|(signature, kind)| theirs[signature].values == kind.values) {
                return Match::Same;
            }
            near = Match::OtherValues(pointer.clone());
        }
    }
    if lines.count() <= 1 && single(document, lines) {
        return Match::Same;
    }
    near
}

/// The list of an envelope, where the one record of the lines is that whole envelope. Outside of an
/// envelope a list belongs to the record.
fn document_line(document: &Node, lines: &Node) -> Option<(String, u64)> {
    let envelope = ["ok", "success"].iter().any(|key| document.keys.contains_key(*key));
    let alike = lines.count() == 1 && lines.kinds.whole == document.kinds.whole;
    let list = ["data", "items", "results", "records", "entries"]
        .iter()
        .find_map(|key| Some((format!("/{key}"), document.keys.get(*key)?)));
    list.filter(|(_, list)| envelope && alike && list.kinds.count() > 1)
        .map(|(pointer, list)| (pointer, list.elements()))
}

/// One record that is the document, or one of its members; or none, for an empty document.
fn single(document: &Node, lines: &Node) -> bool {
    if lines.count() == 0 {
        return lists(document).iter().all(|(_, list)| list.elements() == 0);
    }
    let mut objects: Vec<&Node> = vec![document];
    objects.extend(document.keys.values());
    objects.into_iter().any(|object| {
        object.objects() == 1 && {
            let members = object.keys.iter().map(|(key, node)| (key.as_str(), node.types.keys().next()));
            let members: BTreeMap<_, _> = members.collect();
            let keys = lines.keys.iter().map(|(key, node)| (key.as_str(), node.types.keys().next()));
            let keys: Vec<_> = keys.collect();
            keys.len() >= members.len()
                && keys.len() <= members.len() + 1
                && members.iter().all(|member| keys.contains(&(*member.0, *member.1)))
        }
    })
}

/// The lists of a document that stand at one place only, not in other lists, with their pointers.
fn lists(document: &Node) -> Vec<(String, &Node)> {
    fn walk<'a>(node: &'a Node, pointer: String, depth: usize, found: &mut Vec<(String, &'a Node)>) {
        if node.types.contains_key(&JsonType::Array) {
            found.push((if pointer.is_empty() { "the top".into() } else { pointer.clone() }, node));
        }
        if depth > 0 {
            for (key, child) in &node.keys {
                walk(child, format!("{pointer}/{key}"), depth - 1, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(document, String::new(), 4, &mut found);
    found
}

/// Whether two outputs have the same records, with the same values.
fn same_values(a: &Node, b: &Node) -> bool {
    a.kinds == b.kinds && size(a) == size(b) && all_kinds(a) == all_kinds(b)
}

/// Whether two outputs have as many records of each kind, whatever their values are.
fn same_keys(a: &Node, b: &Node) -> bool {
    fn counts(node: &Node) -> Vec<(String, &str, u64)> {
        let lists = [(String::new(), &node.kinds.whole)].into_iter().chain(all_kinds(node));
        lists
            .flat_map(|(pointer, kinds)| {
                kinds.iter().map(move |(signature, kind)| (pointer.clone(), signature.as_str(), kind.count))
            })
            .collect()
    }
    counts(a) == counts(b)
}

fn all_kinds(document: &Node) -> Vec<(String, &BTreeMap<String, Kind>)> {
    lists(document).into_iter().map(|(pointer, list)| (pointer, &list.kinds.whole)).collect()
}

/// Whether the elements of a list and the records have keys in common, so that they are meant to be the
/// same.
fn related(list: &Node, lines: &Node) -> bool {
    let items = list.items.as_deref();
    items.is_some_and(|items| items.keys.keys().any(|key| lines.keys.contains_key(key)))
}

fn key_difference(list: &Node, lines: &Node) -> String {
    let Some(items) = list.items.as_deref() else { return String::new() };
    let missing = items.keys.keys().find(|key| !lines.keys.contains_key(*key));
    let more = lines.keys.keys().find(|key| !items.keys.contains_key(*key));
    match (missing, more) {
        (Some(key), _) => format!("`{key}` is missing in jsonl"),
        (None, Some(key)) => format!("`{key}` is in jsonl only"),
        (None, None) => difference(items, lines)
            .map(|found| found.to_string())
            .unwrap_or_else(|| "they differ in which records have them".into()),
    }
}
