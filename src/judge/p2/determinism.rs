//! That the same call gives the same thing: whole, each time, and in one shape for each command.

use super::declare_success;
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::shape::{Node, Shape};
use crate::judge::verdict::{Assertion, Judgement, Unmet, inconclusive};
use crate::model::{OutputFormat, Stream, Variant};
use crate::probe::Probe;
use crate::run::Bytes;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{BufRead as _, BufReader};
use strict_json::{JsonType, ProblemKind, escape_token};

impl RunView<'_> {
    /// Whether stdout is a part of what the same call gave under another variant: cut, where the other
    /// is whole.
    pub fn is_cut(&self) -> bool {
        if self.scan().structural().is_none_or(|problem| !ends_early(problem.kind)) {
            return false;
        }
        let others = [Variant::File, Variant::Plain, Variant::SlowReader];
        others.into_iter().filter_map(|variant| self.context.run(self.probe, self.format(), variant, 0)).any(
            |other| {
                other.gave_data()
                    && other.scan().structural().is_none()
                    && other.observation.stdout.bytes.len() > self.observation.stdout.bytes.len()
            },
        )
    }
}

/// What a stream that stops too early looks like.
pub fn ends_early(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::Truncated | ProblemKind::Torn | ProblemKind::Empty | ProblemKind::InvalidUtf8)
}

/// `p2-output-complete`
pub fn complete(context: &CheckContext) -> Judgement {
    let assertions = context.data_probes().flat_map(|probe| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().filter_map(|format| {
            if !probe.formats.contains(&format) {
                return None;
            }
            Some(same_for_each_reader(context, probe, format))
        })
    });
    Judgement::of(assertions, declare_success("json or jsonl"))
}

fn same_for_each_reader(context: &CheckContext, probe: &Probe, format: OutputFormat) -> Assertion {
    let mut readers = Vec::new();
    for variant in [Variant::Plain, Variant::SlowReader, Variant::File] {
        let Some(run) = context.run(probe, format, variant, 0) else {
            return inconclusive(format!("{} was not run under {}", probe.name, variant.name()));
        };
        run.usable()?;
        readers.push(run);
    }
    if readers
        .windows(2)
        .all(|pair| same_bytes(&pair[0].observation.stdout.bytes, &pair[1].observation.stdout.bytes))
    {
        return Ok(());
    }
    if let Some(cut) = readers.iter().find(|run| run.is_cut()) {
        return cut_at(cut, &readers);
    }
    if let Some(run) = readers.iter().find(|run| run.scan().structural().is_some()) {
        return Err(run.not_parsed().into());
    }
    // The bytes differ, as times and IDs make them. What counts is that nothing is missing.
    let repeats = context.repeats(probe, format);
    let size = |run: &RunView| size(&run.scan().shape);
    let steady = repeats.iter().map(size).collect::<BTreeSet<_>>();
    let Some(expected) = steady.first().copied().filter(|_| steady.len() == 1 && repeats.len() > 1) else {
        return Ok(()); // The number of values changes by itself, and each output is whole.
    };
    match readers.iter().find(|run| size(run) < expected) {
        Some(run) => run.failed_at_start(
            "values-missing",
            Stream::Stdout,
            format!("only {} of {expected} values arrive under {}", size(run), run.condition()),
        ),
        None => Ok(()),
    }
}

fn cut_at(cut: &RunView, readers: &[RunView]) -> Assertion {
    let length = cut.observation.stdout.bytes.len();
    let longest = readers.iter().map(|run| run.observation.stdout.bytes.len()).max().unwrap_or(length);
    let problem = cut.scan().structural().map(|problem| problem.at);
    let detail = format!("stdout is truncated after {length} of {longest} bytes under {}", cut.condition());
    match problem {
        Some(at) => cut.failed_at("cut", Stream::Stdout, at, detail),
        None => cut.failed("cut", detail),
    }
}

fn same_bytes(a: &Bytes, b: &Bytes) -> bool {
    let buffered = |bytes| BufReader::with_capacity(64 * 1024, Bytes::reader(bytes));
    let (mut left, mut right) = (buffered(a), buffered(b));
    loop {
        let (Ok(ours), Ok(theirs)) = (left.fill_buf(), right.fill_buf()) else { return false };
        let same = ours.len().min(theirs.len());
        if same == 0 || ours[..same] != theirs[..same] {
            return ours.len() == theirs.len() && same == 0;
        }
        left.consume(same);
        right.consume(same);
    }
}

/// How many values there are.
pub fn size(node: &Node) -> u64 {
    node.count() + node.keys.values().map(size).sum::<u64>() + node.items.as_deref().map_or(0, size)
}

/// `p2-output-stable`
pub fn stable(context: &CheckContext) -> Judgement {
    let assertions =
        context.data_runs().filter(|run| run.variant() == Variant::Repeat).map(|again| -> Assertion {
            let Some(first) = context.plain(again.probe, again.format()) else {
                return inconclusive(format!("{} has no first run to compare with", again.label()));
            };
            for run in [&first, &again] {
                run.parsed()?;
            }
            match difference(&first.scan().shape, &again.scan().shape) {
                Some(difference) => again.failed_at_pointer(
                    difference.kind,
                    &difference.pointer,
                    format!("repeated runs differ: {difference}"),
                ),
                None => Ok(()),
            }
        });
    Judgement::of(assertions, declare_success("json or jsonl"))
}

/// A place where two shapes are not the same.
pub struct Difference {
    /// Pointer to the first such place; elements of a list count as one, so its index is 0.
    pub pointer: String,
    /// What kind of difference it is: `keys` or `types`.
    pub kind: &'static str,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// What is not the same in two shapes, if anything: a key that is always there in one and never in the
/// other, or another type. Null stands for any type; empty lists say nothing of their elements; keys
/// that are data (IDs, paths, numbers) may differ.
pub fn difference(a: &Shape, b: &Shape) -> Option<Difference> {
    let mut pointer = String::new();
    let (kind, what) = differ(a, b, &mut pointer)?;
    Some(Difference { pointer, kind, what })
}

fn differ(a: &Node, b: &Node, pointer: &mut String) -> Option<(&'static str, String)> {
    let place =
        |pointer: &str| if pointer.is_empty() { "the document".to_owned() } else { pointer.to_owned() };
    let types =
        |node: &Node| node.types.keys().copied().filter(|of| *of != JsonType::Null).collect::<BTreeSet<_>>();
    let (left, right) = (types(a), types(b));
    if !left.is_empty() && !right.is_empty() && left.is_disjoint(&right) {
        let (left, right) = (names(&left), names(&right));
        return Some(("types", format!("{} is {left} in one and {right} in the other", place(pointer))));
    }
    if a.objects() > 0 && b.objects() > 0 && !(keys_are_data(a, b) || a.more_keys || b.more_keys) {
        for (one, other) in [(a, b), (b, a)] {
            let gone = one.keys.iter().find(|(key, node)| {
                node.count() == one.objects() && !other.keys.contains_key(*key) && same_number(one, other)
            });
            if let Some((key, _)) = gone {
                let whole = place(pointer);
                return Some(("keys", format!("the key `{key}` of {whole} is missing in one of them")));
            }
        }
    }
    for (key, child) in &a.keys {
        if let Some(other) = b.keys.get(key) {
            let length = pointer.len();
            pointer.push('/');
            pointer.push_str(&escape_token(key));
            if let Some(found) = differ(child, other, pointer) {
                return Some(found);
            }
            pointer.truncate(length);
        }
    }
    if let (Some(left), Some(right)) = (&a.items, &b.items) {
        let length = pointer.len();
        pointer.push_str("/0");
        if let Some(found) = differ(left, right, pointer) {
            return Some(found);
        }
        pointer.truncate(length);
    }
    None
}

/// With other elements in a list, other optional keys are to be expected.
fn same_number(a: &Node, b: &Node) -> bool {
    a.objects() == b.objects()
}

fn names(types: &BTreeSet<JsonType>) -> String {
    types.iter().map(|of| of.name()).collect::<Vec<_>>().join(" or ")
}

/// Whether the keys in which two objects differ are data, as in a map, rather than names: they look
/// like it, and so do the others, or all values are of one type.
fn keys_are_data(a: &Node, b: &Node) -> bool {
    let differing: Vec<&String> = a
        .keys
        .keys()
        .filter(|key| !b.keys.contains_key(*key))
        .chain(b.keys.keys().filter(|key| !a.keys.contains_key(*key)))
        .collect();
    let is_data = |key: &str| key.contains(|c: char| c.is_ascii_digit() || "/.:@ ".contains(c));
    let all = || a.keys.iter().chain(&b.keys);
    let types: BTreeSet<JsonType> = all().flat_map(|(_, node)| node.types.keys().copied()).collect();
    differing.iter().all(|key| is_data(key)) && (types.len() == 1 || all().all(|(key, _)| is_data(key)))
}

/// `p2-envelope`
pub fn envelope(context: &CheckContext) -> Judgement {
    let mut first: Option<(RunView, Vec<String>)> = None;
    let mut assertions = Vec::new();
    let mut commands = 0;
    for run in context.data_probes().filter_map(|probe| context.plain(probe, OutputFormat::Json)) {
        commands += 1;
        let scan = match run.parsed() {
            Ok(scan) => scan,
            Err(reason) => {
                assertions.push(inconclusive(reason));
                continue;
            }
        };
        if scan.shape.objects() != 1 {
            let detail =
                "the document is not an object; expected one envelope with the same keys for all commands";
            assertions.push(run.failed_at_start("not-object", Stream::Stdout, detail));
            continue;
        }
        let keys: Vec<String> = scan.shape.keys.keys().cloned().collect();
        match &first {
            None => first = Some((run, keys)),
            Some((other, expected)) if *expected != keys => assertions.push(run.failed_at_start(
                "keys",
                Stream::Stdout,
                format!(
                    "the top-level keys are {}, but {} in {}",
                    join_capped(&keys),
                    join_capped(expected),
                    other.label()
                ),
            )),
            Some(_) => assertions.push(Ok(())),
        }
    }
    if commands < 2 && !assertions.iter().any(|assertion| matches!(assertion, Err(Unmet::Failed(_)))) {
        return Judgement::unverified(
            "a comparison needs two commands: declare a probe of another one in json",
        );
    }
    Judgement::of(assertions, declare_success("json"))
}

/// The first of some keys, and how many more there are.
fn join_capped(keys: &[String]) -> String {
    const SHOWN: usize = 6;
    match keys.len() {
        0 => "none".into(),
        n if n > SHOWN => format!("{} and {} more", keys[..SHOWN].join(", "), n - SHOWN),
        _ => keys.join(", "),
    }
}
