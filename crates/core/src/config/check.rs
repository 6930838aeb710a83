//! Parses the `[check]` table of the configuration.

use super::section::Section;
use super::{CheckConfig, ValidationContext};
use crate::model::{matches_pattern, nearest_pattern};
use agentnative_contract::spanned_toml::{Value, nearest};

pub(super) fn parse(file: &Section<'_>, known: &ValidationContext<'_>) -> CheckConfig {
    let Some(section) = file.section("check") else { return CheckConfig::default() };
    let mut check = section.applied_to(CheckConfig::default());
    check.deny.dedup();
    if let Some(value) = section.get("skip") {
        check
            .skip
            .iter()
            .enumerate()
            .for_each(|(index, pattern)| check_skip_pattern(&value, index, pattern, known));
    }
    check
}

/// Reports element `index` of the array `skip` if its ID or pattern matches no check.
fn check_skip_pattern(value: &Value<'_>, index: usize, pattern: &str, known: &ValidationContext<'_>) {
    if known.checks.iter().any(|id| matches_pattern(pattern, id)) {
        return;
    }
    let problem = if pattern.contains('*') { "no check matches" } else { "unknown check" };
    let suggestion = nearest_pattern(pattern, known.checks.iter().copied());
    let element = value.child(&index.to_string());
    element.report::<()>(&format!("{problem} `{pattern}`; {}", hint(suggestion.as_deref())));
}

pub(super) fn report_unknown_check(value: &Value<'_>, id: &str, known: &ValidationContext<'_>) {
    value.report::<()>(&format!("unknown check `{id}`; {}", hint(nearest(id, known.checks.iter().copied()))));
}

fn hint(suggestion: Option<&str>) -> String {
    match suggestion {
        Some(suggestion) => format!("did you mean `{suggestion}`?"),
        None => "list all checks with `agentnative list`".to_owned(),
    }
}
