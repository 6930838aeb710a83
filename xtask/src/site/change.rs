//! The pages about the kinds of change that `contract diff` reports.

use super::markdown::{capitalize, facts, fence, inline, link, prose, table};
use agentnative::model::Topic;
use agentnative_diff::{ChangeRule, ChangeSeverity};
use std::fmt::Write as _;

/// Maximum length of JSON on one line, in bytes.
const MAX_LINE: usize = 90;

/// Returns the list of all kinds of change by their usual severity.
pub(super) fn index(rules: &[ChangeRule]) -> String {
    let mut out = "# Kinds of change\n\n`agentnative contract diff` compares two versions of an output and reports \
                   these changes; [Regression](../regression.md) describes how. `agentnative explain ID` prints \
                   the page of a change.\n"
        .to_owned();
    for (class, heading) in [
        (ChangeSeverity::Breaking, "Breaking"),
        (ChangeSeverity::Risky, "Risky"),
        (ChangeSeverity::Undecided, "Undecided"),
        (ChangeSeverity::Compatible, "Compatible"),
    ] {
        let rules = rules.iter().filter(|rule| rule.classes.first() == Some(&class));
        let rows: Vec<_> = rules
            .map(|rule| {
                let also: Vec<&str> = rule.classes.iter().skip(1).map(|class| class.name()).collect();
                [link(Topic::Change, &rule.id), inline(&rule.title, &rule.id), also.join(", ")]
            })
            .collect();
        if !rows.is_empty() {
            _ = write!(out, "\n## {heading}\n{}", table(["Change", "Meaning", "In other cases"], rows));
        }
    }
    out
}

/// Returns the page about a kind of change.
pub(super) fn page(rule: &ChangeRule) -> String {
    let id = rule.id.as_str();
    let classes: Vec<&str> = rule.classes.iter().map(|class| class.name()).collect();
    let mut out = format!("# {id}\n\n**{}**\n", inline(&rule.title, id));
    let facts =
        [("severity", classes.join(" or ")), ("in the terminal", format!("`agentnative explain {id}`"))];
    out.push_str(&self::facts(facts));
    for (heading, text) in [("What changes", &rule.what), ("Who breaks", &rule.why)] {
        _ = write!(out, "\n## {heading}\n{}", prose(text, id));
    }
    out.push_str("\n## Examples\n");
    for example in &rule.examples {
        _ = write!(out, "\n### {}\n", capitalize(example.class.name()));
        if !example.note.is_empty() {
            out.push_str(&prose(&example.note, id));
        }
        for (label, side) in [("Old", &example.old), ("New", &example.new)] {
            _ = write!(out, "\n{label}:\n{}", fence("json", &format_json(side)));
        }
        if !example.back.is_empty() && example.back != id {
            _ = write!(out, "\nThe reverse is {}.\n", link(Topic::Change, &example.back));
        }
    }
    for sound in &rule.sound {
        _ = write!(out, "\n### Not reported\n{}", prose(&sound.note, id));
        for (label, side) in [("Old", &sound.old), ("New", &sound.new)] {
            _ = write!(out, "\n{label}:\n{}", fence("json", &format_json(side)));
        }
    }
    out
}

/// Formats long JSON over several lines.
fn format_json(json: &str) -> String {
    let json = json.trim();
    let long = json.len() > MAX_LINE && !json.contains('\n');
    let value = long.then(|| serde_json::from_str::<serde_json::Value>(json).ok()).flatten();
    value.map_or_else(|| json.to_owned(), |value| format!("{value:#}"))
}
