//! `p2-output-order`: keys and items have the same order in each run.

use super::determinism::same_bytes;
use crate::context::{CheckContext, RunView};
use crate::kit::declare_success;
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_contract::Contract;
use agentnative_core::model::OutputFormat::{Json, Jsonl};
use agentnative_core::model::{OutputFormat, Stream};
use agentnative_core::probe::Probe;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use strict_json::{JsonType, ReadOptions, Tape, TapeNode, escape_token, read_document};

/// Maximum length of an output that is compared, in bytes.
const MAX_COMPARED: u64 = 8 << 20;

/// Judges `p2-output-order`: keys and items have the same order in each run.
pub fn judge_order(context: &CheckContext) -> Judgement {
    let (probes, unordered): (Vec<&Probe>, Vec<&Probe>) =
        context.data_probes().partition(|probe| !probe.call.unordered);
    if probes.is_empty() && !unordered.is_empty() {
        return Judgement::NotApplicable("each probe has `unordered = true`".to_owned());
    }
    let calls = probes.into_iter().flat_map(|probe| [Json, Jsonl].map(|format| (probe, format)));
    let calls = calls.filter(|(probe, format)| context.plain_run(probe, *format).is_some());
    // Events are printed when they occur, and the rules of the contract state their order.
    let has_events = |(probe, format): &(&Probe, OutputFormat)| {
        context.contract_for(probe, *format).is_some_and(Contract::has_stream_rules)
    };
    let (streams, calls): (Vec<_>, Vec<_>) = calls.partition(has_events);
    if calls.is_empty() && !streams.is_empty() {
        return Judgement::NotApplicable("the contract states the order of the events".to_owned());
    }
    let assertions = calls.into_iter().flat_map(|(probe, format)| same_order(context, probe, format));
    Judgement::from_assertions(assertions, declare_success("json or jsonl"))
}

/// Compares the other runs of a call with its plain run. Empty if there is no plain run.
fn same_order(context: &CheckContext, probe: &Probe, format: OutputFormat) -> Vec<Assertion> {
    let Some(plain) = context.plain_run(probe, format) else { return Vec::new() };
    let others = context.runs_with_same_stdout(probe, format).filter(RunView::is_repetition);
    let compared: Vec<Assertion> = others.map(|run| judge_run(&run, &plain)).collect();
    match compared.is_empty() {
        true => vec![inconclusive(format!("{} was not repeated", plain.label()))],
        false => compared,
    }
}

/// Compares a run with the plain run. If a run under several conditions differs, the run with the same consumer alone
/// decides: another condition, such as a used home, may have other items.
fn judge_run(run: &RunView, plain: &RunView) -> Assertion {
    plain.parsed()?;
    run.parsed()?;
    let compared = has_order_of(run, plain);
    let key = &run.observation.key;
    if compared.is_ok() || key.replaced_run_keys().is_none() {
        return compared;
    }
    let single = key.with_condition((key.variant, 0));
    let single = run.context.run_or_request(&single, std::slice::from_ref(&single))?;
    single.parsed()?;
    has_order_of(&single, plain)
}

fn has_order_of(run: &RunView, plain: &RunView) -> Assertion {
    if same_bytes(run.bytes(Stream::Stdout), plain.bytes(Stream::Stdout)) {
        return Ok(());
    }
    let (expected, found) = (records(plain)?, records(run)?);
    let left: Vec<TapeNode> = expected.iter().filter_map(Tape::root).collect();
    let right: Vec<TapeNode> = found.iter().filter_map(Tape::root).collect();
    let mut comparison = Comparison::default();
    match run.format() {
        Jsonl => comparison.compare_items(&left, &right, String::new()),
        _ => {
            left.iter().zip(&right).for_each(|(left, right)| comparison.compare(*left, *right, String::new()))
        }
    }
    let place = |pointer: &str| match (pointer, run.format()) {
        ("", Jsonl) => "the records".to_owned(),
        ("", _) => "the document".to_owned(),
        (pointer, _) => format!("`{pointer}`"),
    };
    match (comparison.reordered, comparison.unknown) {
        (Some((kind, pointer)), _) => {
            let detail =
                format!("the {kind} of {} have another order than in {}", place(&pointer), plain.label());
            match run.format() {
                Json => run.failed_at_pointer(kind, &pointer, detail),
                _ => run.failed_at_start(kind, Stream::Stdout, detail),
            }
        }
        (None, Some(pointer)) => inconclusive(format!(
            "{} of {} has other items in each run: declare a probe with equal items, or `unordered = true`",
            place(&pointer),
            plain.label()
        )),
        (None, None) => Ok(()),
    }
}

/// Reads the document, or the records, on stdout.
pub(super) fn records(run: &RunView) -> Result<Vec<Tape>, Reason> {
    let bytes = run.bytes(Stream::Stdout);
    if bytes.len() > MAX_COMPARED {
        return Err(run.too_long());
    }
    let unreadable =
        |error| Reason::from(format!("the output of {} could not be read: {error}", run.label()));
    let read = |bytes: &[u8]| {
        let mut tape = Tape::default();
        read_document(bytes, &ReadOptions::default(), &mut tape).map(|_| tape)
    };
    let mut reader = BufReader::new(bytes.reader());
    let end = if run.format() == Jsonl { b'\n' } else { 0 };
    let mut tapes = Vec::new();
    loop {
        let mut record = Vec::new();
        match reader.read_until(end, &mut record).map_err(unreadable)? {
            0 => return Ok(tapes),
            _ => tapes.push(read(&record).map_err(unreadable)?),
        }
    }
}

/// The comparison of the orders in two values.
#[derive(Default)]
struct Comparison {
    /// What has another order (`keys` or `items`), and its JSON pointer.
    reordered: Option<(&'static str, String)>,
    /// JSON pointer of a list whose order is unknown, because no member identifies its items.
    unknown: Option<String>,
}

impl Comparison {
    fn compare(&mut self, left: TapeNode, right: TapeNode, pointer: String) {
        if self.reordered.is_some() {
            return;
        }
        if left.has_type(JsonType::Array) && right.has_type(JsonType::Array) {
            let items: [Vec<TapeNode>; 2] = [left, right].map(|list| list.elements().collect());
            return self.compare_items(&items[0], &items[1], pointer);
        }
        let others: BTreeMap<&str, TapeNode> = right.members().collect();
        let members: BTreeMap<&str, TapeNode> = left.members().collect();
        let common_keys = |one: TapeNode<'_>, other: &BTreeMap<&str, TapeNode>| {
            one.members()
                .map(|(key, _)| key.to_owned())
                .filter(|key| other.contains_key(&**key))
                .collect::<Vec<_>>()
        };
        if common_keys(left, &others) != common_keys(right, &members) {
            self.reordered = Some(("keys", pointer));
            return;
        }
        for (key, member) in members {
            if let Some(other) = others.get(key) {
                self.compare(member, *other, format!("{pointer}/{}", escape_token(key)));
            }
        }
    }

    fn compare_items(&mut self, left: &[TapeNode], right: &[TapeNode], pointer: String) {
        let in_order = match (left, right) {
            ([] | [_], [] | [_]) => true,
            _ => match identities(left, right) {
                Some((own, other)) if sorted(&own) == sorted(&other) => {
                    if own == other && is_ambiguous(&own, left, right) {
                        self.unknown.get_or_insert(pointer);
                        return;
                    }
                    own == other
                }
                _ => {
                    self.unknown.get_or_insert(pointer);
                    return;
                }
            },
        };
        if !in_order {
            self.reordered = Some(("items", pointer));
            return;
        }
        for (index, (left, right)) in left.iter().zip(right).enumerate() {
            self.compare(*left, *right, format!("{pointer}/{index}"));
        }
    }
}

/// Returns the values that identify the items of two lists: the complete items if both lists have the same, otherwise
/// the members, at any depth, that have the same values in both lists. `None` without such a member, or if all items have
/// the same values.
fn identities(left: &[TapeNode], right: &[TapeNode]) -> Option<(Vec<String>, Vec<String>)> {
    let text = |node: &TapeNode| node.to_value().to_string();
    let complete = |items: &[TapeNode]| items.iter().map(text).collect::<Vec<_>>();
    let (all_left, all_right) = (complete(left), complete(right));
    if sorted(&all_left) == sorted(&all_right) {
        return Some((all_left, all_right));
    }
    let (left_values, right_values) = (scalars(left), scalars(right));
    let (mut own, mut other) = (vec![String::new(); left.len()], vec![String::new(); right.len()]);
    for (pointer, values) in &left_values {
        let Some(others) = right_values.get(pointer) else { continue };
        let texts =
            |values: &[(usize, String)]| values.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
        if sorted(&texts(values)) == sorted(&texts(others)) {
            let add = |to: &mut [String], values: &[(usize, String)]| {
                values.iter().for_each(|(at, text)| to[*at] += &format!("{pointer} {text} "));
            };
            add(&mut own, values);
            add(&mut other, others);
        }
    }
    let differ = own.iter().collect::<BTreeSet<_>>().len() > 1;
    differ.then_some((own, other))
}

/// Returns whether items that the same value in `own` identifies differ between the lists: their order is unknown.
fn is_ambiguous(own: &[String], left: &[TapeNode], right: &[TapeNode]) -> bool {
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<&String> = own.iter().filter(|value| !seen.insert(*value)).collect();
    let pairs = own.iter().zip(left.iter().zip(right)).filter(|(value, _)| repeated.contains(value));
    pairs.into_iter().any(|(_, (left, right))| left.to_value() != right.to_value())
}

/// Returns the scalars and lists in the objects of a list, by their JSON pointer, each with the index of its item.
fn scalars(items: &[TapeNode]) -> BTreeMap<String, Vec<(usize, String)>> {
    let mut all: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    let nodes = items.iter().enumerate().map(|(index, item)| (index, *item, String::new()));
    let mut nodes: Vec<(usize, TapeNode, String)> = nodes.collect();
    while let Some((index, node, pointer)) = nodes.pop() {
        if node.has_type(JsonType::Object) {
            let below = node
                .members()
                .map(|(key, member)| (index, member, format!("{pointer}/{}", escape_token(key))));
            nodes.extend(below);
        } else {
            all.entry(pointer).or_default().push((index, node.to_value().to_string()));
        }
    }
    all
}

fn sorted(texts: &[String]) -> Vec<&String> {
    let mut texts: Vec<&String> = texts.iter().collect();
    texts.sort_unstable();
    texts
}
