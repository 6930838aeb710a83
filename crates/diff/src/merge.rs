//! Merges equal changes of several outputs.

use super::change::{Change, OtherOutput};
use agentnative_contract::OutputFormat;

/// Merges equal changes into the first of them, which lists the outputs of the others.
pub(super) fn merge_duplicates(changes: Vec<Change>) -> Vec<Change> {
    let mut merged: Vec<Change> = Vec::new();
    for change in changes {
        match merged.iter_mut().find(|known| is_same_change(known, &change)) {
            Some(known) => {
                let pointer = Some(change.pointer).filter(|pointer| *pointer != known.pointer);
                known.also.push(OtherOutput { probe: change.probe, format: change.format, pointer });
            }
            None => merged.push(change),
        }
    }
    merged
}

/// Returns whether two changes of different outputs are equal.
fn is_same_change(known: &Change, other: &Change) -> bool {
    let content = |change: &Change| {
        let Change { rule, class, event, in_error, variant, old, new, message, .. } = change.clone();
        (rule, class, event, in_error, variant, old, new, message)
    };
    (&known.probe, known.format) != (&other.probe, other.format)
        && content(known) == content(other)
        && (known.pointer == other.pointer || is_element(known, other) || is_element(other, known))
}

/// Returns whether one change is in the elements of a list in a document, and the other in the JSON lines that
/// correspond to these elements.
fn is_element(document: &Change, line: &Change) -> bool {
    let formats = (document.format, line.format) == (Some(OutputFormat::Json), Some(OutputFormat::Jsonl));
    let list = document.pointer.strip_suffix(line.pointer.as_str());
    formats && list.is_some_and(|list| list.ends_with("/*"))
}
