//! One change in several outputs, told once.

use super::change::{Change, Elsewhere};
use agentnative_contract::OutputFormat;

/// Each change once: the first of those that are alike, which names the outputs of the others.
pub(super) fn told_once(changes: Vec<Change>) -> Vec<Change> {
    let mut told: Vec<Change> = Vec::new();
    for change in changes {
        match told.iter_mut().find(|known| alike(known, &change)) {
            Some(known) => {
                let pointer = Some(change.pointer).filter(|pointer| *pointer != known.pointer);
                known.also.push(Elsewhere { probe: change.probe, format: change.format, pointer });
            }
            None => told.push(change),
        }
    }
    told
}

/// Whether they say the same of different outputs.
fn alike(known: &Change, other: &Change) -> bool {
    let what = |change: &Change| {
        let Change { rule, class, event, in_error, variant, old, new, message, .. } = change.clone();
        (rule, class, event, in_error, variant, old, new, message)
    };
    (&known.probe, known.format) != (&other.probe, other.format)
        && what(known) == what(other)
        && (known.pointer == other.pointer || is_element(known, other) || is_element(other, known))
}

/// Whether one is in the elements of a list in a document, the other in the lines that are those elements.
fn is_element(document: &Change, line: &Change) -> bool {
    let formats = (document.format, line.format) == (Some(OutputFormat::Json), Some(OutputFormat::Jsonl));
    let list = document.pointer.strip_suffix(line.pointer.as_str());
    formats && list.is_some_and(|list| list.ends_with("/*"))
}
