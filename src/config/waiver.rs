//! `[[waiver]]`.

use super::{Date, Known, Waiver};
use agentnative_contract::spanned_toml::{Table, Value};
use toml::de::DeValue;

/// All waivers of the file that are good.
pub(super) fn read_all(file: &Table<'_>, known: &Known<'_>) -> Vec<Waiver> {
    let expected = "tables: [[waiver]] for each";
    let elements = file.get("waiver").and_then(|value| value.elements(expected)).unwrap_or_default();
    elements.iter().filter_map(|element| read(&element.table("[[waiver]]", expected)?, known)).collect()
}

fn read(table: &Table<'_>, known: &Known<'_>) -> Option<Waiver> {
    table.allow(&["check", "reason", "expires"]);
    let check = table.require("check", "the ID of a check").and_then(|value| {
        let id = value.string("the ID of a check, a string")?.text;
        if known.checks.contains(&id.as_str()) {
            return Some(id);
        }
        let near = match agentnative_contract::spanned_toml::nearest(&id, known.checks.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`agentnative list` shows them".to_owned(),
        };
        value.fault(&format!("unknown check `{id}`; {near}"))
    });
    let reason = table.require("reason", "why the fault is accepted").and_then(|value| {
        let reason = value.string("why the fault is accepted, a string")?.text;
        if reason.trim().is_empty() {
            return value.fault("`reason` is empty; expected why the fault is accepted");
        }
        Some(reason)
    });
    let expires = table.get("expires").and_then(|value| expires(&value, known.today));
    Some(Waiver { check: check?, reason: reason?, expires })
}

fn expires(value: &Value<'_>, today: Date) -> Option<Date> {
    let date = match value.inner {
        DeValue::Datetime(toml::value::Datetime { date: Some(date), time: None, offset: None }) => date,
        _ => return value.wrong("a date without quotes and without a time, such as 2027-03-01"),
    };
    let date = Date { year: date.year.into(), month: date.month, day: date.day };
    if date < today {
        return value.fault(&format!(
            "this waiver expired on {date} and today is {today}; mend what it waives, or give it a later date"
        ));
    }
    Some(date)
}
