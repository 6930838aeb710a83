//! The files that a run touched, each once, with what became of it.

use super::fields::MAX_TEXT;
use super::json::owned;
use super::types::{Artifact, ArtifactKind, ArtifactSource, Operation};
use serde_json::Value;
use std::collections::HashMap;

/// What one event tells of a file.
#[derive(Debug, Clone)]
pub(super) struct Touch {
    pub(super) path: String,
    /// None when the event does not tell: then it was at least modified.
    pub(super) operation: Option<Operation>,
    pub(super) size: Option<u64>,
    pub(super) kind: ArtifactKind,
    pub(super) source: Option<ArtifactSource>,
}

impl Touch {
    /// A touch of a file by a tool.
    pub(super) fn of_file(path: String, operation: Option<Operation>, size: Option<u64>) -> Self {
        Self { path, operation, size, kind: ArtifactKind::File, source: None }
    }
}

/// What became of each file, in the order they were met.
#[derive(Debug, Clone, Default)]
pub(super) struct Artifacts {
    list: Vec<(u64, Touch)>,
    index: HashMap<String, usize>,
}

impl Artifacts {
    /// Takes a touch; `when` orders the files over several of these collections.
    pub(super) fn touch(&mut self, when: u64, touch: Touch) {
        if let Some(at) = self.index.get(&touch.path) {
            let known = &mut self.list[*at].1;
            known.operation = then(known.operation, touch.operation);
            known.size = match touch.operation {
                Some(Operation::Deleted) => None,
                _ => touch.size.or(known.size),
            };
            known.kind = touch.kind;
            known.source = touch.source.or(known.source.take());
        } else {
            self.index.insert(touch.path.clone(), self.list.len());
            self.list.push((when, touch));
        }
    }

    /// Evidence about a file from somebody who saw it change, which does not make it one of the run.
    pub(super) fn add(&mut self, path: &str, operation: Operation) {
        if let Some(at) = self.index.get(path) {
            let known = &mut self.list[*at].1;
            known.operation = then(known.operation, Some(operation));
        }
    }

    /// Takes all of another collection.
    pub(super) fn merge(&mut self, other: &Self) {
        for (when, touch) in &other.list {
            self.touch(*when, touch.clone());
        }
    }

    pub(super) fn finish(mut self) -> Vec<Artifact> {
        self.list.sort_by_key(|(when, _)| *when);
        let artifact = |(_, touch): (u64, Touch)| Artifact {
            path: touch.path,
            operation: touch.operation.unwrap_or(Operation::Modified),
            size: touch.size,
            kind: Some(touch.kind),
            source: touch.source,
        };
        self.list.into_iter().map(artifact).collect()
    }
}

/// What a call of a tool that writes files will have done when it succeeds. Agents name these tools and their
/// parameters in similar ways; whether the file was there before, the call does not say.
pub(super) fn touches(tool: Option<&str>, input: Option<&Value>) -> Vec<Touch> {
    let writes = matches!(tool, Some("Write" | "write" | "write_file" | "write_to_file"));
    let edits = ["Edit", "MultiEdit", "NotebookEdit", "edit", "replace", "replace_in_file", "editor"];
    let path = |input: &Value| {
        ["/file_path", "/path", "/notebook_path"].iter().find_map(|place| owned(input, place))
    };
    let known = writes || tool.is_some_and(|tool| edits.contains(&tool));
    let Some((path, input)) = input.filter(|_| known).and_then(|input| Some((path(input)?, input))) else {
        return Vec::new();
    };
    let content = input.get("content").and_then(Value::as_str).filter(|_| writes);
    // A longer one was truncated.
    let content = content.filter(|content| content.len() <= MAX_TEXT);
    let size = content.map(|content| content.len() as u64);
    vec![Touch::of_file(path, None, size)]
}

/// What two operations on a file, one behind the other, come to.
fn then(first: Option<Operation>, second: Option<Operation>) -> Option<Operation> {
    use Operation::{Created, Deleted, Modified};
    match (first, second) {
        (known, None) | (None, known) => known,
        (Some(_), Some(Deleted)) => Some(Deleted),
        (Some(Created), Some(_)) => Some(Created),
        (Some(Modified | Deleted), Some(_)) => Some(Modified),
    }
}

/// What the contents before and after an edit tell; a content that is absent counts as empty.
pub(super) fn by_contents(before: Option<u64>, after: Option<u64>) -> Option<Operation> {
    match (before.unwrap_or(0), after.unwrap_or(0)) {
        _ if before.is_none() && after.is_none() => None,
        (0, _) => Some(Operation::Created),
        (_, 0) => Some(Operation::Deleted),
        _ => Some(Operation::Modified),
    }
}
