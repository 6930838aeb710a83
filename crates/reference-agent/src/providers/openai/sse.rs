//! Reads a chat completion that is a stream of server-sent events.

use super::completion::{ResponseError, check_limits, parse, validate_call};
use crate::model::{ToolCall, Turn, Usage};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

/// Maximum length of a line of the stream, in bytes.
const MAX_LINE: u64 = 4 << 20;

/// Reads a stream of events into a turn, and passes its text to `emit`. The stream must end with `[DONE]`, or after an
/// event with a finish reason.
pub(super) fn read_stream(reader: impl Read, emit: &mut dyn FnMut(&str)) -> Result<Turn, ResponseError> {
    let mut reader = BufReader::new(reader);
    let mut turn = Turn::default();
    let mut calls: BTreeMap<usize, ToolCall> = BTreeMap::new();
    let mut finished = false;
    let mut data = Vec::new();
    loop {
        let line = read_line(&mut reader)?;
        match line.as_deref() {
            // An empty line or the end of the stream ends an event.
            None | Some(b"") => {
                let event = std::mem::take(&mut data);
                if event.trim_ascii() == b"[DONE]" {
                    finished = true;
                    break;
                }
                if !event.is_empty() {
                    finished |= apply_event(&event, &mut turn, &mut calls, emit)?;
                }
                if line.is_none() {
                    break;
                }
            }
            Some(line) => {
                if let Some(more) = line.strip_prefix(b"data:") {
                    if !data.is_empty() {
                        data.push(b'\n');
                    }
                    data.extend_from_slice(more.strip_prefix(b" ").unwrap_or(more));
                }
                // Comments and event names are ignored.
            }
        }
    }
    if !finished {
        let truncated = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the stream ended too early");
        return Err(ResponseError::Io(truncated));
    }
    turn.calls = calls.into_values().map(validate_call).collect::<Result<_, _>>()?;
    Ok(turn)
}

/// Adds the contents of an event to the turn and its tool calls. Returns whether the event has a finish reason.
fn apply_event(
    event: &[u8],
    turn: &mut Turn,
    calls: &mut BTreeMap<usize, ToolCall>,
    emit: &mut dyn FnMut(&str),
) -> Result<bool, ResponseError> {
    let chunk = parse(event)?;
    if let Some(usage) = chunk.usage {
        turn.usage = Some(Usage::from(usage));
    }
    let Some(choice) = chunk.choices.into_iter().next() else { return Ok(false) };
    if let Some(message) = choice.message {
        let text = message.content.unwrap_or_default();
        emit(&text);
        turn.text.push_str(&text);
        let has_calls = !message.tool_calls.is_empty();
        for piece in message.tool_calls {
            // A piece without an index belongs to the last call, unless it names a new one.
            let last = calls.keys().next_back().copied();
            let index = piece.index.or(last.filter(|_| piece.id.is_none())).unwrap_or(calls.len());
            let partial = calls.entry(index).or_default();
            if let Some(id) = piece.id.filter(|id| !id.is_empty()) {
                partial.id = id;
            }
            if let Some(function) = piece.function {
                partial.name.push_str(&function.name.unwrap_or_default());
                partial.arguments.push_str(&function.arguments.unwrap_or_default());
            }
        }
        if has_calls {
            check_limits(calls.values())?;
        }
    }
    Ok(choice.finish_reason.is_some())
}

/// Returns a line without its line ending; `None` at the end of the stream.
fn read_line(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>, ResponseError> {
    let mut line = Vec::new();
    let count = reader.take(MAX_LINE).read_until(b'\n', &mut line).map_err(ResponseError::Io)?;
    if count == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == MAX_LINE {
        return Err(ResponseError::Malformed("a line of the stream is too long".into()));
    }
    while matches!(line.last(), Some(b'\n' | b'\r')) {
        line.pop();
    }
    Ok(Some(line))
}
