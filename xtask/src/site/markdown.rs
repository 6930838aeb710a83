//! Converts the texts of the catalogue files to Markdown.

use agentnative::catalogue::check;
use agentnative::model::Topic;
use agentnative_contract::bundled_names;
use agentnative_diff::change_rule;
use std::fmt::Write as _;
use strict_json::sanitize;

/// Returns the topic of the page with this name, if there is one.
fn topic(name: &str) -> Option<Topic> {
    let check = check(name).map(|_| Topic::Check);
    let change = || change_rule(name).map(|_| Topic::Change);
    check
        .or_else(change)
        .or_else(|| bundled_names().any(|contract| contract == name).then_some(Topic::Contract))
}

/// Returns a link to the page about `name` from a page in one of the topic folders.
pub(super) fn link(topic: Topic, name: &str) -> String {
    format!("[`{name}`](../{}/{name}.md)", topic.folder())
}

/// Returns the text on one line, with code in backticks as its only markup. Code that names a check, a change or a
/// contract is a link to its page, except on the page `page_name`.
pub(super) fn inline(text: &str, page_name: &str) -> String {
    let text = sanitize::sanitize_line(text);
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, code, after)) = split_code(rest) {
        escape(before, &mut out);
        match topic(code).filter(|_| code != page_name) {
            Some(topic) => out.push_str(&link(topic, code)),
            // A bar ends a table cell, in code as well.
            None => _ = write!(out, "`{}`", code.replace('|', "\\|")),
        }
        rest = after;
    }
    escape(rest, &mut out);
    out
}

/// Splits the text at the first code in backticks: the text before it, the code, and the text after it.
fn split_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

/// Returns the text with an initial capitalize letter.
pub(super) fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Appends the text with all markup characters escaped.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Converts the paragraphs, lists (`- `) and indented code of a catalogue file.
pub(super) fn prose(text: &str, page_name: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    let mut in_list = false;
    while let Some(line) = lines.next() {
        if let Some(item) = line.strip_prefix("- ") {
            if !in_list {
                out.push('\n');
            }
            in_list = true;
            _ = writeln!(out, "- {}", inline(item, page_name));
            continue;
        }
        in_list = false;
        if let Some(code) = line.strip_prefix("    ") {
            let mut block = format!("{code}\n");
            while let Some(code) = lines.next_if(|line| line.starts_with("    ")) {
                _ = writeln!(block, "{}", &code[4..]);
            }
            out.push_str(&fence("text", &block));
        } else if !line.trim().is_empty() {
            _ = write!(out, "\n{}\n", inline(line, page_name));
        }
    }
    out
}

/// Returns text of a target as code in a line.
pub(super) fn code(text: &str) -> String {
    let text = sanitize::sanitize_line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    format!("{fence}{text}{fence}")
}

/// Returns a code block.
pub(super) fn fence(language: &str, text: &str) -> String {
    let text = sanitize::sanitize_text(text);
    let fence = "`".repeat(3.max(longest_run(&text) + 1));
    format!("\n{fence}{language}\n{}\n{fence}\n", text.trim_matches('\n'))
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns a list of facts, each with a label and Markdown.
pub(super) fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let items = facts.into_iter().map(|(label, text)| format!("- **{}**: {text}\n", capitalize(label)));
    format!("\n{}", items.collect::<String>())
}

/// Returns a table with cells of Markdown.
pub(super) fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut out = format!("\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
    for row in rows {
        _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out
}
