//! An answer that comes as server-sent events.

use super::answer::{Function, Problem, Told, call, parse};
use crate::model::{Turn, Usage};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

/// Longest line of a stream.
const MAX_LINE: u64 = 4 << 20;

/// A tool call that grows.
#[derive(Default)]
struct Growing {
    id: Option<String>,
    name: String,
    arguments: String,
}

/// Reads a stream to `[DONE]`, or to its end after a reason to finish was given.
pub(super) fn read(reader: impl Read, told: &mut Told<'_>) -> Result<Turn, Problem> {
    let mut reader = BufReader::new(reader);
    let mut turn = Turn::default();
    let mut calls: BTreeMap<usize, Growing> = BTreeMap::new();
    let mut finished = false;
    let mut data = Vec::new();
    loop {
        let line = line(&mut reader)?;
        match line.as_deref() {
            // An event ends with an empty line, and the last one with the stream.
            None | Some(b"") => {
                let event = std::mem::take(&mut data);
                if event.trim_ascii() == b"[DONE]" {
                    finished = true;
                    break;
                }
                if !event.is_empty() {
                    finished |= take(&event, &mut turn, &mut calls, told)?;
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
                // Comments keep the connection alive; names of events are not used.
            }
        }
    }
    if !finished {
        let cut = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the stream ended too early");
        return Err(Problem::Read(cut));
    }
    for growing in calls.into_values() {
        let function = Function { name: Some(growing.name), arguments: Some(growing.arguments) };
        turn.calls.push(call(growing.id, Some(function))?);
    }
    Ok(turn)
}

/// Takes one event in; true when it says why the answer ends.
fn take(
    event: &[u8],
    turn: &mut Turn,
    calls: &mut BTreeMap<usize, Growing>,
    told: &mut Told<'_>,
) -> Result<bool, Problem> {
    let piece = parse(event)?;
    if let Some(usage) = piece.usage {
        turn.usage = Some(Usage::from(usage));
    }
    let Some(choice) = piece.choices.into_iter().next() else { return Ok(false) };
    if let Some(said) = choice.message {
        let words = said.content.unwrap_or_default();
        told.say(&words);
        turn.text.push_str(&words);
        for asked in said.tool_calls {
            // A piece without an index belongs to the last call, unless it names a new one.
            let last = calls.keys().next_back().copied();
            let index = asked.index.or(last.filter(|_| asked.id.is_none())).unwrap_or(calls.len());
            let growing = calls.entry(index).or_default();
            growing.id = asked.id.filter(|id| !id.is_empty()).or(growing.id.take());
            if let Some(function) = asked.function {
                growing.name.push_str(&function.name.unwrap_or_default());
                growing.arguments.push_str(&function.arguments.unwrap_or_default());
            }
        }
    }
    Ok(choice.finish_reason.is_some())
}

/// One line without its end; none at the end of the stream.
fn line(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>, Problem> {
    let mut line = Vec::new();
    let read = reader.take(MAX_LINE).read_until(b'\n', &mut line).map_err(Problem::Read)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == MAX_LINE {
        return Err(Problem::Wrong("a line of the stream is too long".into()));
    }
    while matches!(line.last(), Some(b'\n' | b'\r')) {
        line.pop();
    }
    Ok(Some(line))
}
