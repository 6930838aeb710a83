//! Merges changes that are equal in several outputs, such as in the json and the jsonl output of a probe.

use super::change::{Change, OtherOutput};
use agentnative_contract::OutputFormat;

/// Keeps the first of equal changes and adds the outputs of the others to its field `also`.
pub(super) fn merge_duplicates(changes: Vec<Change>) -> Vec<Change> {
    let mut merged: Vec<Change> = Vec::new();
    for change in changes {
        match merged.iter_mut().find(|known| is_same_change(known, &change)) {
            Some(known) => {
                let pointer = Some(change.pointer.clone()).filter(|pointer| *pointer != known.pointer);
                let Change { command, probe, format, .. } = change;
                known.also.push(OtherOutput { command, probe, format, pointer });
            }
            None => merged.push(change),
        }
    }
    merged
}

/// Returns whether two changes are in different outputs and are equal otherwise.
fn is_same_change(known: &Change, other: &Change) -> bool {
    let content = |change: &Change| {
        let Change { rule, class, event, in_error, variant, old, new, message, .. } = change.clone();
        (rule, class, event, in_error, variant, old, new, message)
    };
    (&known.probe, known.format) != (&other.probe, other.format)
        && content(known) == content(other)
        && (known.pointer == other.pointer || is_element(known, other) || is_element(other, known))
}

/// Returns whether two changes concern the same records: `document` is in the elements of an array in json output, such
/// as `/items/*/id`, and `line` is in the records of jsonl output, such as `/id`.
fn is_element(document: &Change, line: &Change) -> bool {
    let formats = (document.format, line.format) == (Some(OutputFormat::Json), Some(OutputFormat::Jsonl));
    let list = document.pointer.strip_suffix(line.pointer.as_str());
    formats && list.is_some_and(|list| list.ends_with("/*"))
}
