//! `[check]`.

use super::section::Section;
use super::{CheckConfig, Known};
use crate::model::{matches, nearest_pattern};
use agentnative_contract::spanned_toml::{Value, nearest};

/// Returns what the file says of the checks; the default when it says nothing.
pub(super) fn read(file: &Section<'_>, known: &Known<'_>) -> CheckConfig {
    let Some(section) = file.section("check") else { return CheckConfig::default() };
    let mut check = section.applied_to(CheckConfig::default());
    check.deny.dedup();
    if let Some(value) = section.get("skip") {
        check.skip.iter().enumerate().for_each(|(index, pattern)| skipped(&value, index, pattern, known));
    }
    check
}

/// Notes an ID or a pattern that no check has.
fn skipped(value: &Value<'_>, index: usize, pattern: &str, known: &Known<'_>) {
    if known.checks.iter().any(|id| matches(pattern, id)) {
        return;
    }
    let what = if pattern.contains('*') { "no check matches" } else { "unknown check" };
    let near = nearest_pattern(pattern, known.checks.iter().copied());
    let element = value.child(&index.to_string());
    element.fault::<()>(&format!("{what} `{pattern}`; {}", meant(near.as_deref())));
}

/// Notes that there is no check of this ID.
pub(super) fn unknown_check(value: &Value<'_>, id: &str, known: &Known<'_>) {
    value.fault::<()>(&format!("unknown check `{id}`; {}", meant(nearest(id, known.checks.iter().copied()))));
}

fn meant(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`agentnative list` shows them".to_owned(),
    }
}
