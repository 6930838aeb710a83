//! The files that a run changed, each with its overall operation.

use super::json::{at, string};
use super::types::{Artifact, ArtifactKind, ArtifactSource, Operation};
use std::collections::HashMap;
use strict_json::TapeNode;

/// A change of a file that one event reports.
#[derive(Debug, Clone)]
pub(super) struct ArtifactChange {
    pub(super) path: String,
    /// Operation on the file; `None` if the event does not report it.
    pub(super) operation: Option<Operation>,
    pub(super) size: Option<u64>,
    pub(super) kind: ArtifactKind,
    pub(super) source: Option<ArtifactSource>,
}

impl ArtifactChange {
    /// Creates a change of a regular file.
    pub(super) fn of_file(path: String, operation: Option<Operation>, size: Option<u64>) -> Self {
        Self { path, operation, size, kind: ArtifactKind::File, source: None }
    }
}

/// The changed files, each with the number of its first event.
#[derive(Debug, Clone, Default)]
pub(super) struct Artifacts {
    list: Vec<(u64, ArtifactChange)>,
    index: HashMap<String, usize>,
}

impl Artifacts {
    /// Records a change of a file, which event number `event` reports.
    pub(super) fn record(&mut self, event: u64, change: ArtifactChange) {
        if let Some(index) = self.index.get(&change.path) {
            let known = &mut self.list[*index].1;
            known.operation = combine(known.operation, change.operation);
            known.size = match change.operation {
                Some(Operation::Deleted) => None,
                _ => change.size.or(known.size),
            };
            known.kind = change.kind;
            known.source = change.source.or(known.source.take());
        } else {
            self.index.insert(change.path.clone(), self.list.len());
            self.list.push((event, change));
        }
    }

    /// Updates the operation on a file from other evidence, such as a file watcher. Files that no event of the run
    /// reports are ignored, because other programs may have changed them.
    pub(super) fn refine(&mut self, path: &str, operation: Operation) {
        if let Some(index) = self.index.get(path) {
            let known = &mut self.list[*index].1;
            known.operation = combine(known.operation, Some(operation));
        }
    }

    /// Records all changes of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        for (event, change) in &other.list {
            self.record(*event, change.clone());
        }
    }

    pub(super) fn finish(mut self) -> Vec<Artifact> {
        self.list.sort_by_key(|(event, _)| *event);
        let artifact = |(_, change): (u64, ArtifactChange)| Artifact {
            path: change.path,
            operation: change.operation,
            size: change.size,
            kind: Some(change.kind),
            source: change.source,
        };
        self.list.into_iter().map(artifact).collect()
    }
}

/// Returns the change of a file by a call of a tool that writes or edits files, such as `Write`; empty for other tools.
/// The change only counts if the call succeeds. Agents use similar names for these tools and their parameters. A call
/// does not show whether the file existed before.
pub(super) fn file_changes(tool: Option<&str>, input: Option<TapeNode<'_>>) -> Vec<ArtifactChange> {
    let writes =
        matches!(tool, Some("Write" | "write" | "write_file" | "write_to_file" | "Create" | "create"));
    let edits = ["Edit", "MultiEdit", "NotebookEdit", "edit", "replace", "replace_in_file", "editor"];
    let path = |input: TapeNode<'_>| {
        ["/file_path", "/path", "/notebook_path"].iter().find_map(|pointer| string(input, pointer))
    };
    let known = writes || tool.is_some_and(|tool| edits.contains(&tool));
    let Some((path, input)) = input.filter(|_| known).and_then(|input| Some((path(input)?, input))) else {
        return Vec::new();
    };
    // The length of a truncated content is not known.
    let content = at(input, "/content").filter(|content| writes && content.omitted_chars() == 0);
    let size = content.and_then(TapeNode::as_str).map(|content| content.len() as u64);
    vec![ArtifactChange::of_file(path, None, size)]
}

/// Returns the operation of a call that wrote a file, which existed before or not.
pub(super) const fn write_operation(existed: bool) -> Operation {
    if existed { Operation::Modified } else { Operation::Created }
}

/// Combines two consecutive operations on a file into one: created and then modified is created.
fn combine(first: Option<Operation>, second: Option<Operation>) -> Option<Operation> {
    use Operation::{Created, Deleted, Modified};
    match (first, second) {
        (known, None) | (None, known) => known,
        (Some(_), Some(Deleted)) => Some(Deleted),
        (Some(Created), Some(_)) => Some(Created),
        (Some(Modified | Deleted), Some(_)) => Some(Modified),
    }
}

/// Infers the operation on a file from the lengths of its content before and after it. A missing length counts as 0;
/// `None` if both are missing.
pub(super) fn operation_from_lengths(before: Option<u64>, after: Option<u64>) -> Option<Operation> {
    match (before.unwrap_or(0), after.unwrap_or(0)) {
        _ if before.is_none() && after.is_none() => None,
        (0, _) => Some(Operation::Created),
        (_, 0) => Some(Operation::Deleted),
        _ => Some(Operation::Modified),
    }
}
