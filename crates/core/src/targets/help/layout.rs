//! Splits a help page into lines, usage and sections. The other files of this folder interpret these parts.

use super::{boxes, usage};
use std::collections::BTreeSet;
use std::ops::Range;
use strict_json::sanitize;

/// Maximum number of bytes of a page that are read.
const MAX_BYTES: usize = 1 << 20;
/// Maximum length of a heading, in bytes.
const MAX_HEADING: usize = 100;

/// A help page, split into its usage and its sections.
#[derive(Debug, Clone)]
pub struct HelpPage {
    /// Text of the page without escape sequences and boxes.
    pub(super) text: String,
    /// Lines of the page that are not blank.
    pub(super) lines: Vec<PageLine>,
    /// Forms of the usage, such as `tool add TEXT`, each joined with its continuation lines.
    pub(super) usage: Vec<String>,
    /// 0-based numbers of the lines that belong to the usage.
    pub(super) usage_lines: BTreeSet<usize>,
    pub(super) sections: Vec<Section>,
}

#[derive(Debug, Clone)]
pub(super) struct PageLine {
    /// 0-based line number.
    pub(super) number: usize,
    pub(super) indent: usize,
    pub(super) words: String,
    /// Whether a blank line precedes this line.
    pub(super) after_blank: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind {
    Commands,
    /// A section with positional arguments in the style of argparse, which can contain a choice of commands.
    Positionals,
    Examples,
    Other,
}

/// A section of a help page: a heading with the lines up to the next heading.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) kind: SectionKind,
    /// Indentation of the heading, in bytes.
    indent: usize,
    /// Index of the heading in `HelpPage::lines`.
    heading: Option<usize>,
    /// Indices of the lines in `HelpPage::lines`, without the heading.
    lines: Range<usize>,
}

impl Section {
    /// Returns whether the entries of the section can be names of commands.
    pub(super) fn lists_names(&self) -> bool {
        matches!(self.kind, SectionKind::Commands | SectionKind::Positionals)
    }
}

impl HelpPage {
    /// Parses the bytes of a help page.
    pub fn parse(bytes: &[u8]) -> Self {
        let text =
            boxes::without_boxes(&sanitize::strip_terminal_formatting(&bytes[..bytes.len().min(MAX_BYTES)]));
        let (usage, usage_lines) = usage::parse(&text);
        let lines = lines(&text);
        let sections = sections(&lines);
        Self { lines, usage, usage_lines, sections, text }
    }

    pub(super) fn heading(&self, section: &Section) -> Option<&PageLine> {
        section.heading.map(|at| &self.lines[at])
    }

    /// Returns the sections that may list commands although their headings do not say so, such as `Run your scripts:`.
    pub(super) fn untitled_groups(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| {
            let heading = self.heading(section);
            section.kind == SectionKind::Other && heading.is_some_and(|line| can_group_commands(&line.words))
        })
    }

    /// Returns all lines of a section, regardless of their indentation.
    pub(super) fn lines_of(&self, section: &Section) -> &[PageLine] {
        &self.lines[section.lines.clone()]
    }

    /// Returns the lines of a section that are indented more than its heading, each with its indentation.
    pub(super) fn entries(&self, section: &Section) -> Vec<(usize, &str)> {
        let below = self.lines_of(section).iter().filter(|line| line.indent > section.indent);
        below.map(|line| (line.indent, line.words.as_str())).collect()
    }
}

fn lines(text: &str) -> Vec<PageLine> {
    let mut after_blank = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words = line.trim();
        if !words.is_empty() {
            let indent = line.trim_end().len() - words.len();
            lines.push(PageLine { number, indent, words: words.to_owned(), after_blank });
        }
        after_blank = words.is_empty();
    }
    lines
}

/// Splits the lines of a page into sections, at its headings.
fn sections(lines: &[PageLine]) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut current = Section { kind: SectionKind::Other, indent: 0, heading: None, lines: 0..0 };
    // Indentation of the first entry of the current section.
    let mut entries = None;
    for (at, line) in lines.iter().enumerate() {
        let inside = current.kind != SectionKind::Other && line.indent > current.indent;
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

const ARGUMENT_WORDS: [&str; 8] =
    ["option", "options", "flag", "flags", "argument", "arguments", "example", "examples"];
const PROSE_WORDS: [&str; 14] = [
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

/// Returns the kind of section that an indented line in the section `outer` starts; `None` if it starts none. The new
/// section is an epilog, which click indents like commands, or a further group of commands.
fn inner_heading(words: &str, outer: SectionKind) -> Option<SectionKind> {
    let kind = heading(words)?;
    let is_title = words.starts_with(char::is_uppercase) && !words.contains("  ");
    match kind {
        SectionKind::Other if !is_title => None,
        SectionKind::Other if outer == SectionKind::Commands && can_group_commands(words) => {
            Some(SectionKind::Commands)
        }
        kind => Some(kind),
    }
}

/// Returns whether a heading can be that of a group of commands: it names nothing else that help pages list.
fn can_group_commands(words: &str) -> bool {
    !has_word(words, &ARGUMENT_WORDS) && !has_word(words, &PROSE_WORDS)
}

/// Returns the kind of the section that a line starts if it is a heading; else `None`. A heading ends in a colon, is in
/// capitals, or is a known title.
fn heading(words: &str) -> Option<SectionKind> {
    let lower = words.to_lowercase();
    if lower.starts_with("usage:") {
        return Some(SectionKind::Other);
    }
    let title = lower.trim_matches(|char: char| !char.is_alphanumeric());
    let parts: Vec<&str> = title.split_whitespace().collect();
    let is_example = |part: &&str| ["example", "examples"].contains(part);
    let is_option =
        words.starts_with('-') && words.trim_start_matches('-').starts_with(char::is_alphanumeric);
    if !is_option && parts.len() <= 4 && parts.first().into_iter().chain(parts.last()).any(is_example) {
        return Some(SectionKind::Examples);
    }
    let letters = || words.chars().filter(|char| char.is_alphabetic());
    let capitals = letters().count() >= 4 && letters().all(char::is_uppercase) && !words.starts_with('-');
    let is_name = matches!(lower.as_str(), "commands" | "subcommands");
    if words.len() > MAX_HEADING || !(words.ends_with(':') || capitals || is_name) {
        return None;
    }
    let lists_commands = has_word(words, &["command", "commands", "subcommand", "subcommands", "subgroups"])
        || matches!(title, "topics" | "groups");
    Some(if matches!(lower.as_str(), "positional arguments:" | "required arguments:") {
        SectionKind::Positionals
    } else if lists_commands && !has_word(words, &ARGUMENT_WORDS) {
        SectionKind::Commands
    } else {
        SectionKind::Other
    })
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.to_lowercase().split(|char: char| !char.is_alphanumeric()).any(|word| words.contains(&word))
}
