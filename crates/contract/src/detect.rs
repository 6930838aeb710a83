//! Finds the bundled contract that describes an output, by the beginning of the output.

use super::contract::{CONTRACT_FILE, Contract, bundled_names};
use super::exit_rules::RunExit;
use super::pointer::Pointer;
use super::read;
use super::sources::bundled;
use super::spec::Framing;
use super::version;
use crate::error::{Error, ErrorKind, Result};
use serde_json::{Deserializer, Value};
use std::io::{self, Read};
use std::path::Path;

/// Maximum number of bytes that are read to find the first event or the document.
const MAX_HEAD: u64 = 4 << 20;

/// The beginning of an output.
struct Head {
    bytes: Vec<u8>,
    /// Whether the output has more bytes.
    is_part: bool,
}

impl Head {
    fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        input.take(MAX_HEAD).read_to_end(&mut bytes)?;
        let is_part = bytes.len() as u64 == MAX_HEAD;
        Ok(Self { bytes, is_part })
    }

    /// Returns the first JSON value from this offset, and whether it is followed by more data.
    fn value(&self, from: usize) -> Option<(Value, bool)> {
        let mut values = Deserializer::from_slice(self.bytes.get(from..)?).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let rest = &self.bytes[from + values.byte_offset()..];
        Some((value, self.is_part || !rest.trim_ascii().is_empty()))
    }

    /// Returns what a contract with this framing validates first: an event, or the document.
    fn first(&self, framing: Framing) -> Option<Value> {
        let begin = self.bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
        match framing {
            Framing::Lines => self.value(begin).map(|(event, _)| event),
            Framing::Document => self.value(begin).filter(|(_, more)| !more).map(|(document, _)| document),
            Framing::Array => {
                self.bytes[begin..].starts_with(b"[").then(|| self.value(begin + 1))?.map(|(event, _)| event)
            }
        }
    }
}

impl Contract {
    /// Finds the bundled contract of a program whose output has this beginning, in the version that the first event
    /// names; without one, in the newest. Also returns a reader of the complete output.
    ///
    /// # Errors
    /// An [`Error`] of kind `Unrecognised` if no contract, or more than one, accepts the first event; the errors of the
    /// reader.
    pub fn detect<R: Read>(mut input: R) -> io::Result<(Self, impl Read + use<R>)> {
        let head = Head::read(&mut input)?;
        let contract = find(&head).map_err(io::Error::other)?;
        Ok((contract, io::Cursor::new(head.bytes).chain(input)))
    }
}

fn find(head: &Head) -> Result<Contract> {
    let found = bundled_names().filter(|name| may_accept(name, head));
    let mut found: Vec<(Contract, Value)> = found
        .filter_map(|name| {
            let contract = Contract::bundled(name).ok()?;
            let first = head.first(contract.framing())?;
            accepts(&contract, &first).then_some((contract, first))
        })
        .collect();
    // A single object can be a document, or a stream that ended early.
    if found.iter().any(|(contract, _)| contract.framing() == Framing::Document) {
        found.retain(|(contract, _)| contract.framing() == Framing::Document);
    }
    let names: Vec<String> = found.iter().map(|(contract, _)| contract.name().to_owned()).collect();
    let Some((contract, first)) = found.pop().filter(|_| found.is_empty()) else {
        let reason = match names.is_empty() {
            true => "no bundled contract accepts the first event".to_owned(),
            false => format!("the contracts {} accept the first event", names.join(" and ")),
        };
        let error = Error::new(ErrorKind::Unrecognised, reason);
        return Err(error.hint("name the contract; `agentnative contract list` lists them"));
    };
    let pointer = contract.spec.events.as_ref().and_then(|events| events.version.as_ref());
    let printed = pointer.and_then(|pointer| first.pointer(&pointer.text)?.as_str());
    let found = printed.and_then(version::find_version);
    match found.and_then(|found| version::choose(contract.versions(), None, &found)) {
        Some(choice) => Contract::bundled(&format!("{}@{}", contract.name(), choice.version.version)),
        None => Ok(contract),
    }
}

/// Returns whether a bundled contract describes a program, and defines the type of the first event. Compiles no schema.
fn may_accept(name: &str, head: &Head) -> bool {
    // Only the contracts of programs have versions.
    let text = bundled(name, CONTRACT_FILE).filter(|text| text.contains("[[versions]]"));
    let Some(Ok((spec, _))) = text.map(|text| read::read(text, Path::new(name), None)) else { return false };
    let Some(first) = head.first(spec.framing) else { return false };
    spec.events.is_none_or(|events| {
        let text = |pointer: &Pointer| first.pointer(&pointer.text).and_then(Value::as_str);
        let kind = text(&events.discriminator).unwrap_or_default();
        let both = events.subtype.as_ref().and_then(text).map(|subtype| format!("{kind}/{subtype}"));
        events.schemas.iter().any(|(known, _)| known == kind || Some(known) == both.as_ref())
    })
}

/// Returns whether a contract defines the type of the first event, and the event meets its schema.
fn accepts(contract: &Contract, first: &Value) -> bool {
    let mut validator = contract.validator();
    validator.push(1, first).is_empty() && validator.finish(&RunExit::default()).unknown.is_empty()
}
