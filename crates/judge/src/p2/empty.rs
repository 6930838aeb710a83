//! `p2-output-empty`: without results, the output contains an empty list.

use crate::context::{CheckContext, RunView};
use crate::undeclared::without_feature;
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::config::Feature;
use agentnative_core::model::OutputFormat::{Json, Jsonl};
use agentnative_core::model::{CheckId, Stream};
use serde_json::Value;
use strict_json::escape_token;

/// Judges `p2-output-empty`: without results, the output contains an empty list.
pub fn judge_empty_lists(context: &CheckContext) -> Judgement {
    let probes: Vec<_> = context.data_probes().filter(|probe| probe.call.empty).collect();
    if probes.is_empty() {
        if let Some(probe) = context.sources().find(|probe| probe.call.empty) {
            return Judgement::unverified(format!(
                "{} should fail, so its output is no data: declare `result = true` as well",
                probe.name
            ));
        }
        let lists = context.sources().find(|probe| probe.call.list.is_some());
        let lacking = || without_feature(context, Feature::Lists, "the target has no lists");
        return lacking().unwrap_or_else(|| match lists {
            Some(probe) => Judgement::unverified(format!(
                "no probe has `empty`, but {} has `list`: declare a call without results with `empty = true`",
                probe.name
            )),
            None => Judgement::NotApplicable("no probe has `list` or `empty`".to_owned()),
        });
    }
    let runs = probes
        .into_iter()
        .flat_map(|probe| [Json, Jsonl].into_iter().filter_map(|format| context.plain_run(probe, format)));
    Judgement::from_assertions(
        runs.map(|run| if run.format() == Json { judge_document(&run) } else { judge_records(&run) }),
        "a probe with `empty` needs the format json or jsonl",
    )
}

fn judge_document(run: &RunView) -> Assertion {
    run.parsed()?;
    let Some(document) = run.value(Stream::Stdout) else { return inconclusive(run.too_long()) };
    let mut places = Vec::new();
    match &run.probe.call.list {
        Some(list) => {
            places.push((list.items.clone(), document.pointer(&list.items).unwrap_or(&Value::Null)))
        }
        None => collect_lists(&document, String::new(), &mut places),
    }
    let full = places.iter().find(|(_, value)| value.as_array().is_some_and(|items| !items.is_empty()));
    if let Some((pointer, _)) = full {
        let detail = "the list has items; expected none, since the probe has `empty`";
        return run.failed_at_pointer("items", &format!("{pointer}/0"), detail);
    }
    if places.iter().any(|(_, value)| value.is_array()) {
        return Ok(());
    }
    match places.first() {
        Some((pointer, _)) => {
            run.failed_at_pointer("null", pointer, "null stands for the list; expected `[]`")
        }
        None => {
            run.failed_at_start("no-list", Stream::Stdout, "the document contains no list; expected `[]`")
        }
    }
}

/// Collects the lists of a document and the places with null, which may stand for a list, with their JSON pointers. The
/// items of lists are not searched.
fn collect_lists<'v>(value: &'v Value, pointer: String, places: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Array(_) | Value::Null => places.push((pointer, value)),
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            collect_lists(member, format!("{pointer}/{}", escape_token(key)), places);
        }),
        _ => {}
    }
}

fn judge_records(run: &RunView) -> Assertion {
    run.usable()?;
    let scan = run.scan();
    if scan.summary.records == 0 {
        return Ok(());
    }
    if scan.first_structural_problem().is_some() {
        let what = format!("stdout of {} is not JSON Lines", run.label());
        return Err(run.blocked_by(CheckId::P2OutputJsonl, what).into());
    }
    run.failed_at_start("record", Stream::Stdout, "a record is printed; expected none without results")
}
