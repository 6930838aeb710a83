//! The commands in a help text.

use super::{Command, operands, usage};
use std::collections::BTreeMap;

/// More commands than this are not read.
const MOST: usize = 500;

/// What the lines under a heading are.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Commands.
    Commands,
    /// Arguments in the style of argparse, among which may be a choice of commands.
    Positional,
    /// Something else.
    Other,
}

/// The lines under a heading, with their indentation; none of them is blank.
struct Section<'t> {
    kind: Kind,
    lines: Vec<(usize, &'t str)>,
}

/// The commands, in the order of the text, and the free word of a usage among them.
pub(super) fn read(text: &str) -> (Vec<Command>, Option<String>) {
    let mut found = Found::default();
    // argparse: only a choice with more behind it, `{a,b} ...`, is one of commands.
    let forms = usage::forms(text);
    let chooses = forms.is_empty() || forms.iter().any(|form| usage::words(form).contains(&"..."));
    for section in sections(text) {
        match section.kind {
            Kind::Commands => found.listed(&section.lines),
            Kind::Positional if chooses => found.chosen(&section.lines),
            Kind::Positional | Kind::Other => {}
        }
    }
    found.grammar(text);
    if found.commands.is_empty() {
        found.usage(text);
    }
    (found.commands, found.free_word)
}

/// Cuts the text at its headings.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { kind: Kind::Other, lines: Vec::new() }];
    let mut heading_indent = 0;
    for line in text.lines() {
        let line = line.trim_end();
        let words = line.trim_start();
        let indent = line.len() - words.len();
        let current = sections.last_mut().expect("it began with one and only grows");
        let inside = current.kind != Kind::Other && indent > heading_indent;
        if words.is_empty() {
        } else if let (false, Some(kind)) = (inside, heading(words)) {
            heading_indent = indent;
            sections.push(Section { kind, lines: Vec::new() });
        } else if indent > heading_indent {
            current.lines.push((indent, words));
        }
    }
    sections
}

/// What a line announces, if it is a heading: it ends in a colon, or is all capitals.
fn heading(words: &str) -> Option<Kind> {
    let lower = words.to_lowercase();
    if lower.starts_with("usage:") {
        return Some(Kind::Other);
    }
    let letters = || words.chars().filter(|char| char.is_alphabetic());
    let capitals = letters().count() >= 4 && letters().all(char::is_uppercase) && !words.starts_with('-');
    let bare = matches!(lower.as_str(), "commands" | "subcommands");
    if words.len() > 100 || !(words.ends_with(':') || capitals || bare) {
        return None;
    }
    let has = |word: &str| lower.split(|char: char| !char.is_alphanumeric()).any(|other| other == word);
    let about_commands = ["command", "commands", "subcommand", "subcommands"].into_iter().any(has);
    let about_else = ["option", "options", "flag", "flags", "argument", "arguments", "example", "examples"];
    if lower == "positional arguments:" {
        Some(Kind::Positional)
    } else if about_commands && !about_else.into_iter().any(has) {
        Some(Kind::Commands)
    } else {
        Some(Kind::Other)
    }
}

/// Whether a line is a heading; then whether commands stand below it.
pub(super) fn is_heading(words: &str) -> Option<bool> {
    heading(words).map(|kind| kind == Kind::Commands)
}

/// Further names of commands: `list, ls`, `list (ls)`, `[aliases: ls, l]`.
pub(super) fn aliases(text: &str) -> Vec<String> {
    let mut aliases = Vec::new();
    for section in sections(text).iter().filter(|section| section.kind != Kind::Other) {
        for (_, line) in &section.lines {
            let (head, about) = line.split_once("  ").unwrap_or((line, ""));
            let in_brackets = ["[alias", "(alias"].iter().find_map(|mark| Some(about.split_once(mark)?.1));
            let listed = in_brackets.unwrap_or_default().split([']', ')']).next().unwrap_or_default();
            let words =
                head.split([' ', ',', '|', '(', ')']).skip(1).chain(listed.split([' ', ',', ':']).skip(1));
            aliases.extend(words.filter(|word| is_name(word)).map(str::to_owned));
        }
    }
    aliases
}

#[derive(Default)]
struct Found {
    commands: Vec<Command>,
    /// What the program itself takes, where its usage stands among its commands: `[prompt]`.
    free_word: Option<String>,
}

impl Found {
    fn add(&mut self, name: &str, about: &str) {
        self.add_entry(name, "", about);
    }

    fn add_entry(&mut self, name: &str, words: &str, about: &str) {
        if !is_name(name) {
            return;
        }
        if let Some(known) = self.commands.iter_mut().find(|command| command.name == name) {
            if known.about.is_empty() {
                about.clone_into(&mut known.about);
            }
        } else if self.commands.len() < MOST {
            let operands = operands::read(&usage::words(words));
            self.commands.push(Command { name: name.to_owned(), about: about.to_owned(), operands });
        }
    }

    /// Lines under a heading about commands: an entry each, or names with commas between them.
    fn listed(&mut self, lines: &[(usize, &str)]) {
        let column = about_column(lines);
        let program = repeated_program(lines);
        let mut entries = None;
        for &(indent, line) in lines {
            let mut from = indent;
            let mut line = line;
            if let Some(own) = program.and_then(|program| line.strip_prefix(program)) {
                if own.starts_with("  ") {
                    continue; // what it does without a command
                }
                from += line.len() - own.trim_start().len();
                line = own.trim_start();
                if line.starts_with(['[', '<']) {
                    let form = line.split("  ").next().unwrap_or_default();
                    self.free_word = self.free_word.take().or(usage::free_word(&usage::words(form), &[]));
                }
            }
            if entries.is_some_and(|entries| indent > entries) {
                continue; // more of what the entry above says
            }
            if let Some(names) = in_braces(line).or_else(|| comma_list(line)) {
                names.into_iter().for_each(|name| self.add(name, ""));
            } else if let Some((name, words, about)) =
                entry(line, column.map(|column| column.saturating_sub(from)))
            {
                self.add_entry(name, &words, about);
                entries = Some(indent);
            }
        }
    }

    /// Arguments in the style of argparse: the commands are two columns deeper than the arguments,
    /// below a choice in braces or a word in capitals.
    fn chosen(&mut self, lines: &[(usize, &str)]) {
        let Some(&(arguments, _)) = lines.first() else { return };
        let mut choice = false;
        for &(indent, line) in lines {
            if indent == arguments {
                let first = line.split_whitespace().next().unwrap_or_default();
                choice =
                    first.starts_with('{') || (first.len() > 1 && first.chars().all(|c| !c.is_lowercase()));
                in_braces(first).into_iter().flatten().for_each(|name| self.add(name, ""));
            } else if let (true, Some((name, _, about))) =
                (choice && indent == arguments + 2, entry(line, None))
            {
                self.add(name, about);
            }
        }
    }

    /// A grammar in the style of iproute2: `OBJECT := { a | b }`.
    fn grammar(&mut self, text: &str) {
        let mut pieces = text.split(":= {");
        let mut before = pieces.next().unwrap_or_default();
        for piece in pieces {
            let name = before.split_whitespace().next_back().unwrap_or_default();
            if matches!(name, "OBJECT" | "COMMAND" | "SUBCOMMAND" | "CMD" | "ACTION") {
                let body = piece.split('}').next().unwrap_or_default();
                body.split('|').for_each(|name| self.add(name.trim(), ""));
            }
            before = piece;
        }
    }

    /// A usage in the style of argparse: `{a,b} ...`.
    fn usage(&mut self, text: &str) {
        let from = text.to_lowercase().find("usage:").filter(|from| text.is_char_boundary(*from));
        let Some(usage) = from.map(|from| &text[from..]) else { return };
        let usage = usage.split("\n\n").next().unwrap_or_default();
        let choices = usage.split('{').skip(1).filter_map(|piece| piece.split_once('}'));
        for (names, _) in choices.filter(|(_, rest)| rest.trim_start().starts_with("...")) {
            names.split(',').for_each(|name| self.add(name.trim(), ""));
        }
    }
}

/// A word that can name a command: it begins with a small letter or a digit, and ends in no mark.
fn is_name(word: &str) -> bool {
    word.starts_with(|char: char| char.is_ascii_lowercase() || char.is_ascii_digit())
        && word.ends_with(|char: char| char.is_ascii_alphanumeric())
        && word.chars().all(|char| char.is_ascii_alphanumeric() || "._:+-".contains(char))
        && word.len() <= 60
}

/// The names in `{a,b,c}`, if that is all there is.
fn in_braces(line: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = line.strip_prefix('{')?.strip_suffix('}')?.split(',').map(str::trim).collect();
    names.iter().all(|name| is_name(name)).then_some(names)
}

/// The names in `a, b, c` or `a, b,`, if that is all there is.
fn comma_list(line: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = line.strip_suffix(',').unwrap_or(line).split(',').map(str::trim).collect();
    (line.contains(',') && names.iter().all(|name| is_name(name))).then_some(names)
}

/// The program's name, where each entry repeats it in front of its command, in the style of yargs.
fn repeated_program<'t>(lines: &[(usize, &'t str)]) -> Option<&'t str> {
    let outer = lines.iter().map(|(indent, _)| *indent).min()?;
    let mut entries = lines.iter().filter(|(indent, _)| *indent == outer).map(|(_, line)| *line);
    let program = entries.next()?.split_whitespace().next()?;
    let mut others = 0;
    let repeat = entries.all(|line| {
        others += 1;
        line.strip_prefix(program).is_some_and(|rest| rest.starts_with(' '))
    });
    (repeat && others > 0).then_some(program)
}

/// The column at which most entries begin to say what they do.
fn about_column(lines: &[(usize, &str)]) -> Option<usize> {
    let mut counts = BTreeMap::<usize, usize>::new();
    for (indent, line) in lines {
        if let Some(gap) = line.find("  ") {
            *counts.entry(indent + line.len() - line[gap..].trim_start().len()).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(column, count)| (*count, std::cmp::Reverse(*column)));
    most.map(|(column, _)| column)
}

/// Name of an entry, the words that stand for its arguments, and its description. Name and description are apart by two spaces, ` - ` or `: `, or the
/// description begins at `column`, where those of its neighbours do.
fn entry(line: &str, column: Option<usize>) -> Option<(&str, String, &str)> {
    let cut = |at: usize, width: usize| (&line[..at], line[at + width..].trim_start());
    let aligned = column.filter(|&at| at > 0 && line.is_char_boundary(at) && line[..at].ends_with(' '));
    let (head, about) = if let Some(at) = line.find("  ") {
        cut(at, 2)
    } else if let Some(at) = aligned.filter(|at| *at < line.len()) {
        cut(at - 1, 1)
    } else if let Some(at) = line.find(" - ") {
        cut(at, 3)
    } else if let Some(at) = line.find(": ") {
        cut(at, 2)
    } else {
        (line, "")
    };
    let mut words = head.split_whitespace();
    let first = words.next()?;
    let mut alias_follows = first.ends_with(',');
    let names = first.trim_end_matches([',', ':']);
    let name = names.split(['|', ',']).next().filter(|name| is_name(name))?;
    // After the name come only other names for it and stand-ins for arguments, never prose.
    let mut arguments = Vec::new();
    for word in words {
        if alias_follows {
            alias_follows = word.ends_with(',');
        } else if word.starts_with(char::is_lowercase) {
            return None;
        } else {
            arguments.push(word);
        }
    }
    Some((name, arguments.join(" "), about))
}
