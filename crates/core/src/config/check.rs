//! `[check]`.

use super::section::Section;
use super::{CheckConfig, Known};
use crate::model::{Edition, Level, matches, nearest_pattern};
use agentnative_contract::spanned_toml::{Value, all, nearest};

const EXPECTED: &str = "a table: [check]";

/// What the file says of the checks; the default when it says nothing.
pub(super) fn read(file: &Section<'_>, known: &Known<'_>) -> CheckConfig {
    let table = file.get("check").and_then(|value| value.table("[check]", EXPECTED));
    let Some(table) = table.map(|table| Section::new(table, "check")) else { return CheckConfig::default() };
    CheckConfig {
        skip: table.get("skip").and_then(|value| skip(&value, known)).unwrap_or_default(),
        deny: table.get("deny").and_then(|value| deny(&value)).unwrap_or_default(),
        edition: table.get("edition").and_then(|value| value.choice(&Edition::NAMED)).unwrap_or_default(),
    }
}

/// IDs and patterns, each of at least one check.
fn skip(value: &Value<'_>, known: &Known<'_>) -> Option<Vec<String>> {
    let elements = value.elements("an array of check IDs, such as [\"p2-json-interop\", \"p2-src-*\"]")?;
    all(elements.iter().map(|element| {
        let pattern = element.string("a check ID or a pattern with `*` (a string)")?.text;
        if known.checks.iter().any(|id| matches(&pattern, id)) {
            return Some(pattern);
        }
        let what = if pattern.contains('*') { "no check matches" } else { "unknown check" };
        let near = nearest_pattern(&pattern, known.checks.iter().copied());
        element.fault(&format!("{what} `{pattern}`; {}", meant(near.as_deref())))
    }))
}

/// Notes that there is no check of this ID.
pub(super) fn unknown_check<T>(value: &Value<'_>, id: &str, known: &Known<'_>) -> Option<T> {
    value.fault(&format!("unknown check `{id}`; {}", meant(nearest(id, known.checks.iter().copied()))))
}

fn meant(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`agentnative list` shows them".to_owned(),
    }
}

fn deny(value: &Value<'_>) -> Option<Vec<Level>> {
    let elements = value.elements("an array of levels: [\"should\"]")?;
    let mut levels = all(elements.iter().map(|element| element.choice(&[("should", Level::Should)])))?;
    levels.dedup();
    Some(levels)
}
