//! The layout of a help page: its lines, its usage and its sections. It is read once; the other files of this folder
//! interpret it.

use super::{boxes, usage};
use std::collections::BTreeSet;
use std::ops::Range;
use strict_json::sanitize;

/// The maximum number of bytes of a page that are read.
const MAX_BYTES: usize = 1 << 20;
/// The maximum length of a heading, in bytes.
const MAX_HEADING: usize = 100;

/// A help page, cut into its usage and its sections.
#[derive(Debug, Clone)]
pub struct HelpPage {
    /// The text without escape sequences and boxes.
    pub(super) text: String,
    /// The lines that are not blank.
    pub(super) lines: Vec<Line>,
    /// The forms of the usage: a line each, with those that continue it.
    pub(super) usage: Vec<String>,
    /// The numbers of the lines of the usage.
    pub(super) usage_lines: BTreeSet<usize>,
    pub(super) sections: Vec<Section>,
}

/// A line of a page.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Its number, counted from 0.
    pub(super) number: usize,
    /// The width of the white space in front of it.
    pub(super) indent: usize,
    pub(super) words: String,
    /// A blank line stands above it.
    pub(super) after_blank: bool,
}

/// What the lines below a heading are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Commands,
    /// Positional arguments in the style of argparse, among which may be a choice of commands.
    Positionals,
    Examples,
    Other,
}

/// The lines from a heading to the next one.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) kind: Kind,
    /// The indentation of its heading.
    indent: usize,
    /// The position of its heading in `HelpPage::lines`.
    heading: Option<usize>,
    /// The positions of its lines in `HelpPage::lines`, without the heading.
    lines: Range<usize>,
}

impl Section {
    /// Whether its entries may be names of commands.
    pub(super) fn lists_names(&self) -> bool {
        matches!(self.kind, Kind::Commands | Kind::Positionals)
    }
}

impl HelpPage {
    /// Reads the bytes of a help page.
    pub fn read(bytes: &[u8]) -> Self {
        let text = boxes::removed(&sanitize::plain(&bytes[..bytes.len().min(MAX_BYTES)]));
        let (usage, usage_lines) = usage::read(&text);
        let lines = lines(&text);
        let sections = sections(&lines);
        Self { lines, usage, usage_lines, sections, text }
    }

    /// The heading of a section.
    pub(super) fn heading(&self, section: &Section) -> Option<&Line> {
        section.heading.map(|at| &self.lines[at])
    }

    /// All lines of a section, also those that are not indented more than its heading.
    pub(super) fn lines_of(&self, section: &Section) -> &[Line] {
        &self.lines[section.lines.clone()]
    }

    /// The lines of a section that are indented more than its heading, each with its indentation.
    pub(super) fn entries(&self, section: &Section) -> Vec<(usize, &str)> {
        let below = self.lines_of(section).iter().filter(|line| line.indent > section.indent);
        below.map(|line| (line.indent, line.words.as_str())).collect()
    }
}

fn lines(text: &str) -> Vec<Line> {
    let mut after_blank = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words = line.trim();
        if !words.is_empty() {
            let indent = line.trim_end().len() - words.len();
            lines.push(Line { number, indent, words: words.to_owned(), after_blank });
        }
        after_blank = words.is_empty();
    }
    lines
}

/// Cuts a page at its headings.
fn sections(lines: &[Line]) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut current = Section { kind: Kind::Other, indent: 0, heading: None, lines: 0..0 };
    // The indentation of the first line below the heading of the current section.
    let mut entries = None;
    for (at, line) in lines.iter().enumerate() {
        let inside = current.kind != Kind::Other && line.indent > current.indent;
        let kind = match inside {
            false => heading(&line.words),
            true if line.after_blank && entries.is_some_and(|entries| line.indent <= entries) => {
                inner_heading(&line.words, current.kind)
            }
            true => None,
        };
        if let Some(kind) = kind {
            let next = Section { kind, indent: line.indent, heading: Some(at), lines: at + 1..at + 1 };
            sections.push(std::mem::replace(&mut current, next));
            entries = None;
        } else {
            entries = entries.or(inside.then_some(line.indent));
            current.lines.end = at + 1;
        }
    }
    sections.push(current);
    sections
}

/// Words of headings of options, arguments and examples.
const OF_ARGUMENTS: [&str; 8] =
    ["option", "options", "flag", "flags", "argument", "arguments", "example", "examples"];
/// Words of headings of prose.
const OF_PROSE: [&str; 14] = [
    "exit",
    "codes",
    "environment",
    "variables",
    "note",
    "notes",
    "see",
    "help",
    "files",
    "configuration",
    "author",
    "more",
    "output",
    "formats",
];

/// Returns what a line among the entries of a section announces if it ends them: the epilog, which click indents like
/// commands, or a group of further commands.
fn inner_heading(words: &str, of: Kind) -> Option<Kind> {
    let kind = heading(words)?;
    let is_title = words.starts_with(char::is_uppercase) && !words.contains("  ");
    match kind {
        Kind::Other if !is_title => None,
        Kind::Other
            if of == Kind::Commands && !has_word(words, &OF_ARGUMENTS) && !has_word(words, &OF_PROSE) =>
        {
            Some(Kind::Commands)
        }
        kind => Some(kind),
    }
}

/// Returns what a line announces if it is a heading: it ends in a colon, is all capitals, or is the name of a section.
fn heading(words: &str) -> Option<Kind> {
    let lower = words.to_lowercase();
    if lower.starts_with("usage:") {
        return Some(Kind::Other);
    }
    let title = lower.trim_matches(|char: char| !char.is_alphanumeric());
    let parts: Vec<&str> = title.split_whitespace().collect();
    let is_example = |part: &&str| ["example", "examples"].contains(part);
    let is_option =
        words.starts_with('-') && words.trim_start_matches('-').starts_with(char::is_alphanumeric);
    if !is_option && parts.len() <= 4 && parts.first().into_iter().chain(parts.last()).any(is_example) {
        return Some(Kind::Examples);
    }
    let letters = || words.chars().filter(|char| char.is_alphabetic());
    let capitals = letters().count() >= 4 && letters().all(char::is_uppercase) && !words.starts_with('-');
    let is_name = matches!(lower.as_str(), "commands" | "subcommands");
    if words.len() > MAX_HEADING || !(words.ends_with(':') || capitals || is_name) {
        return None;
    }
    let lists_commands = has_word(words, &["command", "commands", "subcommand", "subcommands", "subgroups"])
        || matches!(title, "topics" | "groups");
    Some(if lower == "positional arguments:" {
        Kind::Positionals
    } else if lists_commands && !has_word(words, &OF_ARGUMENTS) {
        Kind::Commands
    } else {
        Kind::Other
    })
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.to_lowercase().split(|char: char| !char.is_alphanumeric()).any(|word| words.contains(&word))
}
