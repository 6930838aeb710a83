//! The tool calls of a session; a call that is updated several times counts once.

use super::arithmetic::elapsed;
use super::artifacts::{ArtifactChange, operation_from_lengths, write_operation};
use super::event_fields::EventFields;
use super::fields::Field;
use super::types::{CallStatus, Operation, Quantity, ToolCall};
use serde_json::Value;
use std::collections::HashMap;
use std::rc::Rc;
use xxhash_rust::xxh3::xxh3_64;

/// What one event reports about a tool call.
#[derive(Debug, Default)]
pub(super) struct Update<'e> {
    pub(super) id: &'e str,
    /// True if the event begins a new call, even if an earlier call has the same ID.
    pub(super) is_new_call: bool,
    pub(super) message: Option<&'e str>,
    pub(super) name: Option<&'e str>,
    /// Status of the call if it has ended, otherwise `None`.
    pub(super) status: Option<CallStatus>,
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    pub(super) input: Option<Value>,
    pub(super) output: Option<String>,
    /// Files that the call changes if it succeeds.
    pub(super) file_changes: Vec<ArtifactChange>,
}

impl<'e> Update<'e> {
    /// Creates the update for an event at the beginning of a call (`status` is `None`) or at its end. `now` is the time
    /// of the event.
    pub(super) fn begin_or_end(id: &'e str, now: Option<f64>, status: Option<CallStatus>) -> Self {
        Self {
            id,
            is_new_call: status.is_none(),
            start: now.filter(|_| status.is_none()),
            end: now.filter(|_| status.is_some()),
            status,
            ..Self::default()
        }
    }
}

/// What an update did: the call that it changed or added, and the files that this call changed.
#[derive(Debug)]
pub(super) struct UpdateResult {
    /// Index of the updated call in the list of all calls.
    pub(super) index: usize,
    pub(super) is_new: bool,
    /// Files that the call changed; empty unless this update reports that the call has succeeded.
    pub(super) file_changes: Vec<ArtifactChange>,
}

#[derive(Debug, Default)]
struct Call {
    /// ID of the call; empty unless inputs and outputs are kept.
    id: String,
    name: Rc<str>,
    /// Hash of the ID of the message that contains the call.
    message: Option<u64>,
    /// `None` until the call has ended.
    status: Option<CallStatus>,
    start: Option<f64>,
    end: Option<f64>,
    input: Option<Value>,
    output: Option<String>,
    file_changes: Vec<ArtifactChange>,
}

/// The tool calls of a session, in the order of their start.
#[derive(Debug, Default)]
pub(super) struct Calls {
    list: Vec<Call>,
    /// Maps the hash of a call's ID to the index of the last call with this ID.
    index: HashMap<u64, usize>,
    /// Names of tools, each stored once.
    shared_names: Vec<Rc<str>>,
    /// Number of calls that have not ended.
    open_count: usize,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True if at least one call has not ended.
    pub(super) fn any_open(&self) -> bool {
        self.open_count > 0
    }

    /// True if there is a call with this ID.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.index.contains_key(&xxh3_64(id.as_bytes()))
    }

    /// Applies an event of opencode that updates a tool call. Inputs and outputs are kept if `full` is true. Returns
    /// `None` if the event contains no ID of the call.
    pub(super) fn update_from_part(&mut self, event: &EventFields, full: bool) -> Option<UpdateResult> {
        let output = event.text(Field::ToolOutput).or(event.text(Field::ToolError));
        let update = Update {
            id: event.nonempty(Field::CallId).or(event.nonempty(Field::PartId))?,
            is_new_call: false,
            message: event.nonempty(Field::PartMessage),
            name: event.nonempty(Field::Tool),
            status: match event.text(Field::ToolStatus) {
                Some("completed") => Some(CallStatus::Completed),
                Some("error") => Some(CallStatus::Error),
                _ => None,
            },
            start: event.number(Field::ToolStart),
            end: event.number(Field::ToolEnd),
            input: event.input.clone(),
            output: output.map(str::to_owned),
            file_changes: Vec::new(),
        };
        Some(self.apply(update, full))
    }

    /// Applies an update to the call with its ID, or adds the call if it is new. Inputs and outputs are kept if `full`
    /// is true.
    pub(super) fn apply(&mut self, update: Update<'_>, full: bool) -> UpdateResult {
        let hash = xxh3_64(update.id.as_bytes());
        let message = update.message.map(|message| xxh3_64(message.as_bytes()));
        // Some providers reuse the ids of calls in each message.
        let same = |call: &Call| {
            !(update.is_new_call && call.status.is_some())
                && (call.message.is_none() || message.is_none() || call.message == message)
        };
        let known = self.index.get(&hash).copied().filter(|index| same(&self.list[*index]));
        let index = known.unwrap_or_else(|| {
            let name = self.shared_name(update.name.unwrap_or("unknown"));
            let id = if full { update.id.to_owned() } else { String::new() };
            self.list.push(Call { id, name, message, ..Call::default() });
            self.index.insert(hash, self.list.len() - 1);
            self.open_count += 1;
            self.list.len() - 1
        });
        if let Some(name) = update.name {
            self.list[index].name = self.shared_name(name);
        }
        let mut result = UpdateResult { index, is_new: known.is_none(), file_changes: Vec::new() };
        let call = &mut self.list[index];
        if update.status.is_none() && call.status.is_some() {
            return result; // A late update.
        }
        self.open_count -= usize::from(update.status.is_some() && call.status.is_none());
        call.status = update.status.or(call.status);
        call.message = message.or(call.message);
        call.start = update.start.or(call.start);
        call.end = update.end.or(call.end);
        call.input = update.input.filter(|_| full).or(call.input.take());
        call.output = update.output.filter(|_| full).or(call.output.take());
        call.file_changes.extend(update.file_changes);
        if call.status.is_some() {
            result.file_changes = std::mem::take(&mut call.file_changes);
            result.file_changes.retain(|_| call.status == Some(CallStatus::Completed));
        }
        result
    }

    /// Returns ID, name, input and output of the call with this index. ID, input and output are missing unless they are
    /// kept.
    pub(super) fn details(&self, index: usize) -> (&str, &str, Option<&Value>, Option<&str>) {
        let call = &self.list[index];
        (&call.id, &call.name, call.input.as_ref(), call.output.as_deref())
    }

    /// Returns a shared copy of the name of a tool. This saves memory, because the same few names repeat.
    fn shared_name(&mut self, name: &str) -> Rc<str> {
        if let Some(known) = self.shared_names.iter().rev().take(64).find(|known| &***known == name) {
            return Rc::clone(known);
        }
        self.shared_names.push(name.into());
        Rc::clone(&self.shared_names[self.shared_names.len() - 1])
    }

    pub(super) fn finish(&self) -> Vec<ToolCall> {
        let finish = |call: &Call| ToolCall {
            name: call.name.to_string(),
            inputs: call.input.clone().unwrap_or(Value::Null),
            outputs: call.output.clone(),
            duration_ms: elapsed(call.start, call.end).map(Quantity),
            status: call.status.unwrap_or(CallStatus::Cancelled),
        };
        self.list.iter().map(finish).collect()
    }
}

/// Returns the file changes by a completed call of a tool of opencode, such as `write` or `edit`; empty for other
/// events.
pub(super) fn file_changes(event: &EventFields) -> Vec<ArtifactChange> {
    if event.text(Field::ToolStatus) != Some("completed") {
        return Vec::new();
    }
    let content = event.length(Field::ToolContent);
    let path = event.string(Field::ToolPath).or(event.string(Field::DiffPath));
    match event.text(Field::Tool) {
        Some("write") => {
            let operation = event.flag(Field::ToolExists).map(write_operation);
            path.map(|path| ArtifactChange::of_file(path, operation, content)).into_iter().collect()
        }
        Some("edit" | "multiedit") => {
            let (before, after) = (event.length(Field::DiffBefore), event.length(Field::DiffAfter));
            let operation = operation_from_lengths(before, after);
            path.map(|path| ArtifactChange::of_file(path, operation, after)).into_iter().collect()
        }
        Some("patch" | "apply_patch") => {
            let kinds = event.list(Field::PatchKinds);
            let operation = |index: usize| match kinds.get(index).map(String::as_str) {
                Some("add") => Some(Operation::Created),
                Some("delete") => Some(Operation::Deleted),
                Some("update" | "move") => Some(Operation::Modified),
                _ => None,
            };
            let paths = event.list(Field::PatchPaths).iter().enumerate();
            let paths = paths.filter(|(_, path)| !path.is_empty());
            let change = |(index, path): (usize, &String)| {
                ArtifactChange::of_file(path.clone(), operation(index), None)
            };
            paths.map(change).collect()
        }
        _ => Vec::new(),
    }
}
