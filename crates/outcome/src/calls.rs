//! The tool calls of a session: each call once, however often its part is updated.

use super::arithmetic::span;
use super::artifacts::{Touch, by_contents};
use super::event::EventFields;
use super::fields::Field;
use super::types::{CallStatus, Operation, Quantity, ToolCall};
use serde_json::Value;
use std::collections::HashMap;
use std::rc::Rc;
use xxhash_rust::xxh3::xxh3_64;

/// What one event tells of a call.
#[derive(Debug, Default)]
pub(super) struct Update<'e> {
    pub(super) id: &'e str,
    /// A call begins, even if an earlier one had this id.
    pub(super) begins: bool,
    pub(super) message: Option<&'e str>,
    pub(super) name: Option<&'e str>,
    /// How it ended; none as long as it has not.
    pub(super) status: Option<CallStatus>,
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    pub(super) input: Option<Value>,
    pub(super) output: Option<String>,
    /// The files that it touches if it succeeds.
    pub(super) touches: Vec<Touch>,
}

/// What became of an update.
#[derive(Debug)]
pub(super) struct Taken {
    /// Which call it is.
    pub(super) at: usize,
    /// The call is new.
    pub(super) new: bool,
    /// The files that it touched.
    pub(super) touches: Vec<Touch>,
}

#[derive(Debug, Default)]
struct Call {
    /// Kept if inputs and outputs are.
    id: String,
    name: Rc<str>,
    /// Hash of the message that it belongs to.
    message: Option<u64>,
    /// How it ended; none as long as it has not.
    status: Option<CallStatus>,
    start: Option<f64>,
    end: Option<f64>,
    input: Option<Value>,
    output: Option<String>,
    touches: Vec<Touch>,
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

    /// Whether a call with this id began.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.index.contains_key(&xxh3_64(id.as_bytes()))
    }

    /// Takes an update of a tool part. None when it does not name its call.
    pub(super) fn update(&mut self, event: &EventFields, full: bool) -> Option<Taken> {
        let output = event.text(Field::ToolOutput).or(event.text(Field::ToolError));
        let update = Update {
            id: event.name(Field::CallId).or(event.name(Field::PartId))?,
            begins: false,
            message: event.name(Field::PartMessage),
            name: event.name(Field::Tool),
            status: match event.text(Field::ToolStatus) {
                Some("completed") => Some(CallStatus::Completed),
                Some("error") => Some(CallStatus::Error),
                _ => None,
            },
            start: event.number(Field::ToolStart),
            end: event.number(Field::ToolEnd),
            input: event.input.clone(),
            output: output.map(str::to_owned),
            touches: Vec::new(),
        };
        Some(self.take(update, full))
    }

    /// Takes what one event tells of a call.
    pub(super) fn take(&mut self, update: Update<'_>, full: bool) -> Taken {
        let hash = xxh3_64(update.id.as_bytes());
        let message = update.message.map(|message| xxh3_64(message.as_bytes()));
        // Some providers give the ids of calls anew with each message.
        let same = |call: &Call| {
            !(update.begins && call.status.is_some())
                && (call.message.is_none() || message.is_none() || call.message == message)
        };
        let known = self.index.get(&hash).copied().filter(|at| same(&self.list[*at]));
        let at = known.unwrap_or_else(|| {
            let name = self.name(update.name.unwrap_or("unknown"));
            let id = if full { update.id.to_owned() } else { String::new() };
            self.list.push(Call { id, name, message, ..Call::default() });
            self.index.insert(hash, self.list.len() - 1);
            self.open += 1;
            self.list.len() - 1
        });
        if let Some(name) = update.name {
            self.list[at].name = self.name(name);
        }
        let mut taken = Taken { at, new: known.is_none(), touches: Vec::new() };
        let call = &mut self.list[at];
        if update.status.is_none() && call.status.is_some() {
            return taken; // An update that comes late.
        }
        self.open -= usize::from(update.status.is_some() && call.status.is_none());
        call.status = update.status.or(call.status);
        call.message = message.or(call.message);
        call.start = update.start.or(call.start);
        call.end = update.end.or(call.end);
        call.input = update.input.filter(|_| full).or(call.input.take());
        call.output = update.output.filter(|_| full).or(call.output.take());
        call.touches.extend(update.touches);
        if call.status.is_some() {
            taken.touches = std::mem::take(&mut call.touches);
            taken.touches.retain(|_| call.status == Some(CallStatus::Completed));
        }
        taken
    }

    /// Id, input and output of a call, as far as they are kept.
    pub(super) fn kept(&self, at: usize) -> (&str, &str, Option<&Value>, Option<&str>) {
        let call = &self.list[at];
        (&call.id, &call.name, call.input.as_ref(), call.output.as_deref())
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
            status: call.status.unwrap_or(CallStatus::Cancelled),
        };
        self.list.iter().map(finish).collect()
    }
}

/// What a completed call of a tool that edits files tells of them.
pub(super) fn touches(event: &EventFields) -> Vec<Touch> {
    if event.text(Field::ToolStatus) != Some("completed") {
        return Vec::new();
    }
    let content = event.length(Field::ToolContent);
    let path = event.owned(Field::ToolPath).or(event.owned(Field::DiffPath));
    match event.text(Field::Tool) {
        Some("write") => {
            let operation = event.flag(Field::ToolExists);
            let operation =
                operation.map(|there| if there { Operation::Modified } else { Operation::Created });
            path.map(|path| Touch::of_file(path, operation, content)).into_iter().collect()
        }
        Some("edit" | "multiedit") => {
            let (before, after) = (event.length(Field::DiffBefore), event.length(Field::DiffAfter));
            let operation = by_contents(before, after);
            path.map(|path| Touch::of_file(path, operation, after)).into_iter().collect()
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
            let touch = |(at, path): (usize, &String)| Touch::of_file(path.clone(), operation(at), None);
            paths.map(touch).collect()
        }
        _ => Vec::new(),
    }
}
