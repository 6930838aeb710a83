//! `[[waiver]]`.

use super::check::unknown_check;
use super::section::Section;
use super::{Date, Known, ProbeConfig, Waiver};
use crate::model::OutputFormat;
use agentnative_contract::spanned_toml::{Value, suggestion};
use toml::de::DeValue;
use toml::value::Datetime;

/// All waivers of the file that are good, held against its probes.
pub(super) fn read_all(file: &Section<'_>, probes: &[ProbeConfig], known: &Known<'_>) -> Vec<Waiver> {
    let expected = "tables: [[waiver]] for each";
    let elements = file.get("waiver").and_then(|value| value.elements(expected)).unwrap_or_default();
    elements
        .iter()
        .filter_map(|element| {
            read(&Section::new(element.table("[[waiver]]", expected)?, "waiver"), probes, known)
        })
        .collect()
}

fn read(table: &Section<'_>, probes: &[ProbeConfig], known: &Known<'_>) -> Option<Waiver> {
    let check = table.require("check", "a check ID").and_then(|value| {
        let id = value.string("a check ID (a string)")?.text;
        if known.checks.contains(&id.as_str()) {
            return Some(id);
        }
        unknown_check(&value, &id, known)
    });
    let reason = table.require("reason", "why the problem is accepted").and_then(|value| {
        let reason = value.string("why the problem is accepted (a string)")?.text;
        if reason.trim().is_empty() {
            return value.fault("`reason` is empty; expected why the problem is accepted");
        }
        Some(reason)
    });
    let probe = table.get("probe").map(|value| probe(&value, probes));
    let formats = OutputFormat::ALL.map(|format| (format.name(), format));
    let format = table.get("format").map(|value| value.choice(&formats));
    let expires = table.get("expires").and_then(|value| expires(&value));
    Some(Waiver {
        check: check?,
        // One that should be narrow and is not said to what is none.
        probe: probe.map_or(Some(None), |probe| probe.map(Some))?,
        format: format.map_or(Some(None), |format| format.map(Some))?,
        reason: reason?,
        expires,
        expired: expires.is_some_and(|last| last < known.today),
    })
}

/// The name of a probe: a declared one, or one that is made, such as `--help`.
fn probe(value: &Value<'_>, probes: &[ProbeConfig]) -> Option<String> {
    let name = value.string("the name of a probe (a string)")?.text;
    let mut names = probes.iter().map(|probe| probe.name.as_str());
    let is_made = name.starts_with('-') || name.starts_with("agentnative-");
    if is_made || names.clone().any(|declared| declared == name) {
        return Some(name);
    }
    let near = if names.next().is_none() {
        "the file declares no probes".into()
    } else {
        suggestion(&name, probes.iter().map(|probe| probe.name.as_str()))
    };
    value.fault(&format!("unknown probe `{name}`; {near}"))
}

/// A date; JSON can only hold it as a string.
fn expires(value: &Value<'_>) -> Option<Date> {
    const EXPECTED: &str = "a date without a time, such as 2027-03-01";
    let read = match value.inner {
        DeValue::Datetime(read) => Some(*read),
        DeValue::String(text) => text.parse().ok(),
        _ => return value.wrong(EXPECTED),
    };
    match read {
        Some(Datetime { date: Some(date), time: None, offset: None }) => {
            Some(Date { year: date.year.into(), month: date.month, day: date.day })
        }
        _ => value.fault(&format!("`expires` is no date; expected {EXPECTED}")),
    }
}
