//! `[[service]]`.

use super::section::{Section, argv};
use super::{PORT_PLACE, Ready, ServiceConfig};
use agentnative_contract::spanned_toml::{Span, Value};
use toml::de::DeValue;

/// A service, and where it says what is held against the rest of the file.
pub(super) struct Read {
    pub(super) service: ServiceConfig,
    pub(super) span: Span,
    /// Where its target is; none if it names none.
    pub(super) target: Option<Span>,
    /// It names a target, but not with a string.
    pub(super) target_broken: bool,
}

/// All services of the file that are good.
pub(super) fn read_all(file: &Section<'_>) -> Vec<Read> {
    let expected = "tables: [[service]] for each";
    let elements = file.get("service").and_then(|value| value.elements(expected)).unwrap_or_default();
    elements
        .iter()
        .filter_map(|element| read(&Section::new(element.table("[[service]]", expected)?, "service")))
        .collect()
}

fn read(table: &Section<'_>) -> Option<Read> {
    let command = table.require("command", "an array of strings, such as command = [\"./server\"]");
    let command = command.and_then(|value| argv(&value));
    let ready = table.require("ready", READY).and_then(|value| ready(&value));
    let env = table.get("env").map(|value| value.variables());
    let target_value = table.get("target");
    let target = target_value.as_ref().and_then(|value| value.string("the name of a target (a string)"));
    Some(Read {
        span: table.span.clone(),
        target_broken: target_value.is_some() && target.is_none(),
        target: target.as_ref().map(|target| target.span.clone()),
        service: ServiceConfig {
            target: target.map(|target| target.text),
            command: command?,
            ready: ready?,
            env: env.unwrap_or_else(|| Some(Default::default()))?,
        },
    })
}

const READY: &str = "ready = { port = \"{port}\" }, or { line = \"…\" } for a line of its output";

fn ready(value: &Value<'_>) -> Option<Ready> {
    let table = Section::new(value.table("`ready`", READY)?, "service.ready");
    match (table.get("port"), table.get("line")) {
        (Some(port), None) => port_number(&port).map(Ready::Port),
        (None, Some(line)) => {
            let text = line.string("the text of a line of its output")?.text;
            if text.is_empty() || text.contains('\n') {
                return line.fault("`line` is empty or has several lines; expected a text of one line");
            }
            Some(Ready::Line(text))
        }
        _ => value.fault(&format!("`ready` has no `port` and no `line`, or both; expected {READY}")),
    }
}

/// A port, or none for the one that is chosen.
fn port_number(value: &Value<'_>) -> Option<Option<u16>> {
    const EXPECTED: &str = "a port from 1 to 65535, or \"{port}\" for a free port";
    match value.inner {
        DeValue::Integer(integer) => {
            let port = u16::from_str_radix(integer.as_str(), integer.radix()).ok().filter(|port| *port > 0);
            port.map(Some).or_else(|| value.fault(&format!("`port` is {integer}; expected {EXPECTED}")))
        }
        DeValue::String(text) if text == PORT_PLACE => Some(None),
        DeValue::String(text) => value.fault(&format!("`port` is {text:?}; expected {EXPECTED}")),
        _ => value.wrong(EXPECTED),
    }
}
