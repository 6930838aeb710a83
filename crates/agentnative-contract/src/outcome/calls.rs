//! The tool calls of a session: each call once, however often its part is updated.

use super::artifacts::{Touch, by_contents};
use super::event::EventFields;
use super::fields::Field;
use super::types::{ArtifactKind, CallStatus, Operation, Quantity, ToolCall};
use serde_json::Value;
use std::collections::HashMap;
use std::rc::Rc;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Debug)]
struct Call {
    name: Rc<str>,
    /// Hash of the message that it belongs to.
    message: Option<u64>,
    /// How it ended; cancelled as long as it has not.
    status: CallStatus,
    start: Option<f64>,
    end: Option<f64>,
    input: Option<Value>,
    output: Option<String>,
}

/// The tool calls of a session, in the order they were begun.
#[derive(Debug, Default)]
pub(super) struct Calls {
    list: Vec<Call>,
    /// By hash of the call id, the call that had it last.
    index: HashMap<u64, usize>,
    names: Vec<Rc<str>>,
    /// How many have not ended.
    open: usize,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether a call has begun and not ended.
    pub(super) fn any_open(&self) -> bool {
        self.open > 0
    }

    /// Takes an update of a tool part. False when it does not name its call.
    pub(super) fn update(&mut self, event: &EventFields, full: bool) -> bool {
        let Some(id) = event.name(Field::CallId).or(event.name(Field::PartId)) else { return false };
        let id = xxh3_64(id.as_bytes());
        let message = event.name(Field::PartMessage).map(|message| xxh3_64(message.as_bytes()));
        let status = match event.text(Field::ToolStatus) {
            Some("completed") => CallStatus::Completed,
            Some("error") => CallStatus::Error,
            _ => CallStatus::Cancelled,
        };
        // Some providers give the ids of calls anew with each message.
        let same = |call: &Call| call.message.is_none() || message.is_none() || call.message == message;
        let known = self.index.get(&id).copied().filter(|at| same(&self.list[*at]));
        let at = known.unwrap_or_else(|| {
            let name = self.name(event.name(Field::Tool).unwrap_or("unknown"));
            let (start, end, input, output) = (None, None, None, None);
            self.list.push(Call { name, message, status: CallStatus::Cancelled, start, end, input, output });
            self.index.insert(id, self.list.len() - 1);
            self.open += 1;
            self.list.len() - 1
        });
        if let Some(name) = event.name(Field::Tool) {
            self.list[at].name = self.name(name);
        }
        let call = &mut self.list[at];
        if status != CallStatus::Cancelled {
            self.open -= usize::from(call.status == CallStatus::Cancelled);
        } else if call.status != CallStatus::Cancelled {
            return true; // An update that comes late.
        }
        call.status = status;
        call.message = message.or(call.message);
        call.start = event.number(Field::ToolStart).or(call.start);
        call.end = event.number(Field::ToolEnd).or(call.end);
        if full {
            call.input = event.input.clone().or(call.input.take());
            let output = event.text(Field::ToolOutput).or(event.text(Field::ToolError));
            call.output = output.map(str::to_owned).or(call.output.take());
        }
        true
    }

    /// Names repeat: each is held once.
    fn name(&mut self, name: &str) -> Rc<str> {
        if let Some(known) = self.names.iter().rev().take(64).find(|known| &***known == name) {
            return Rc::clone(known);
        }
        self.names.push(name.into());
        Rc::clone(&self.names[self.names.len() - 1])
    }

    pub(super) fn finish(&self) -> Vec<ToolCall> {
        let finish = |call: &Call| ToolCall {
            name: call.name.to_string(),
            inputs: call.input.clone().unwrap_or(Value::Null),
            outputs: call.output.clone(),
            duration_ms: span(call.start, call.end).map(Quantity),
            status: call.status,
        };
        self.list.iter().map(finish).collect()
    }
}

/// From one time to a later one.
pub(super) fn span(start: Option<f64>, end: Option<f64>) -> Option<f64> {
    Some(end? - start?).filter(|span| *span >= 0.0)
}

/// What a completed call of a tool that edits files tells of them.
pub(super) fn touches(event: &EventFields) -> Vec<Touch> {
    if event.text(Field::ToolStatus) != Some("completed") {
        return Vec::new();
    }
    let (kind, content) = (ArtifactKind::File, event.length(Field::ToolContent));
    let path = event.owned(Field::ToolPath).or(event.owned(Field::DiffPath));
    match event.text(Field::Tool) {
        Some("write") => {
            let operation = event.flag(Field::ToolExists);
            let operation =
                operation.map(|there| if there { Operation::Modified } else { Operation::Created });
            path.map(|path| Touch { path, operation, size: content, kind }).into_iter().collect()
        }
        Some("edit" | "multiedit") => {
            let (before, after) = (event.length(Field::DiffBefore), event.length(Field::DiffAfter));
            let operation = by_contents(before, after);
            path.map(|path| Touch { path, operation, size: after, kind }).into_iter().collect()
        }
        Some("patch" | "apply_patch") => {
            let kinds = event.list(Field::PatchKinds);
            let operation = |at: usize| match kinds.get(at).map(String::as_str) {
                Some("add") => Some(Operation::Created),
                Some("delete") => Some(Operation::Deleted),
                Some("update" | "move") => Some(Operation::Modified),
                _ => None,
            };
            let paths = event.list(Field::PatchPaths).iter().enumerate();
            let paths = paths.filter(|(_, path)| !path.is_empty());
            let touch = |(at, path): (usize, &String)| {
                let (path, operation) = (path.clone(), operation(at));
                Touch { path, operation, size: None, kind }
            };
            paths.map(touch).collect()
        }
        _ => Vec::new(),
    }
}
