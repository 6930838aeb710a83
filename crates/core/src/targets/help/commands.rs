//! The commands in a help text.

use super::command::Command;
use super::layout::{HelpPage, Kind};
use super::{operands, usage};
use std::collections::{BTreeMap, BTreeSet};

/// More commands than this are not read.
const MOST: usize = 500;
/// The maximum number of words of an entry whose arguments are in small letters.
const MAX_WORDS: usize = 4;

/// Returns the commands on the page of the command `path`, in their order, and the free word of a usage among them.
pub(super) fn read(page: &HelpPage, path: &[&str]) -> (Vec<Command>, Option<String>) {
    let mut found = Found::default();
    // argparse: only a choice with more behind it, `{a,b} ...`, is one of commands.
    let chooses = page.usage.is_empty() || page.usage.iter().any(|form| usage::words(form).contains(&"..."));
    for section in &page.sections {
        match section.kind {
            Kind::Commands => found.listed(&page.entries(section)),
            Kind::Positionals if chooses => found.chosen(&page.entries(section)),
            Kind::Positionals | Kind::Examples | Kind::Other => {}
        }
    }
    found.grammar(&page.text);
    if found.commands.is_empty() {
        found.choice_in_usage(&page.text);
    }
    if found.commands.is_empty() {
        found.forms(&page.usage, path);
    }
    // argparse lists an alias in braces like a command, and names it as an alias below: `list (ls)`.
    let aliases = aliases_in_brackets(page);
    found.commands.retain(|command| !command.about.is_empty() || !aliases.contains(&command.name));
    (found.commands, found.free_word)
}

/// Further names of commands: `list, ls`, `list (ls)`, `[aliases: ls, l]`.
pub(super) fn aliases(page: &HelpPage) -> Vec<String> {
    let mut aliases = Vec::new();
    for section in page.sections.iter().filter(|section| section.lists_names()) {
        for (_, line) in page.entries(section) {
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

/// Further names of commands in the style of argparse: `list (ls, l)`.
fn aliases_in_brackets(page: &HelpPage) -> Vec<String> {
    let sections = page.sections.iter().filter(|section| section.lists_names());
    let heads = sections.flat_map(|section| page.entries(section)).filter_map(|(_, line)| {
        let (head, _) = line.split_once("  ").unwrap_or((line, ""));
        head.split_once(" (")?.1.strip_suffix(')')
    });
    heads.flat_map(|names| names.split(", ")).map(str::to_owned).collect()
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
        let (mut entries, mut named) = (None, false);
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
                // More of what the entry above says.
                if let Some(command) =
                    self.commands.last_mut().filter(|_| named).filter(|last| last.about.is_empty())
                {
                    line.clone_into(&mut command.about);
                }
                continue;
            }
            named = false;
            if let Some(names) = in_braces(line).or_else(|| comma_list(line)) {
                names.into_iter().for_each(|name| self.add(name, ""));
            } else if let Some((name, words, about)) =
                entry(line, column.map(|column| column.saturating_sub(from)))
            {
                let known = self.commands.len();
                self.add_entry(name, &words, about);
                named = self.commands.len() > known;
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
    fn choice_in_usage(&mut self, text: &str) {
        let from = text.to_lowercase().find("usage:").filter(|from| text.is_char_boundary(*from));
        let Some(usage) = from.map(|from| &text[from..]) else { return };
        let usage = usage.split("\n\n").next().unwrap_or_default();
        let choices = usage.split('{').skip(1).filter_map(|piece| piece.split_once('}'));
        for (names, _) in choices
            .filter(|(_, rest)| rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with("..."))
        {
            names.split(',').for_each(|name| self.add(name.trim(), ""));
        }
    }

    /// Forms that begin with different words, in the style of docopt: `tool add TEXT`, `tool list`; or with a choice
    /// of words: `tool list|show`.
    fn forms(&mut self, forms: &[String], path: &[&str]) {
        let starts: Vec<(Vec<&str>, String)> =
            forms.iter().filter_map(|form| command_form(form, path)).collect();
        let names: BTreeSet<&str> = starts.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        if names.len() > 1 && !names.iter().any(|name| VALUES.contains(name)) {
            for (names, rest) in &starts {
                names.iter().for_each(|name| self.add_entry(name, rest, ""));
            }
        }
    }
}

/// Words in small letters that stand for a value in a usage.
const VALUES: [&str; 16] = [
    "destination",
    "dest",
    "dir",
    "directory",
    "file",
    "files",
    "filename",
    "host",
    "input",
    "name",
    "path",
    "pattern",
    "source",
    "src",
    "string",
    "url",
];

/// Returns the commands that a form of the usage begins with behind the program and its options, and the words behind
/// them; `None` if it begins with something else.
fn command_form<'f>(form: &'f str, path: &[&str]) -> Option<(Vec<&'f str>, String)> {
    let words = usage::words(form);
    let words = operands::behind(&words, path)?;
    let mut rest = words.iter().skip_while(|word| word.starts_with('[') || word.starts_with('-'));
    let first = rest.next()?;
    let names = usage::choices(first);
    let all_names = !first.starts_with('[') && names.iter().all(|name| is_name(name));
    all_names.then(|| (names, rest.copied().collect::<Vec<_>>().join(" ")))
}

/// A word that can name a command: it begins with a small letter or a digit, has a letter, and ends in no mark.
fn is_name(word: &str) -> bool {
    word.contains(|char: char| char.is_ascii_alphabetic())
        && word.starts_with(|char: char| char.is_ascii_lowercase() || char.is_ascii_digit())
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

/// Returns the name of the program that each entry of a list of commands repeats.
pub(super) fn program(page: &HelpPage) -> Option<&str> {
    let lists = page.sections.iter().filter(|section| section.kind == Kind::Commands);
    lists.filter_map(|section| repeated_program(&page.entries(section))).next()
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
    // After the name come only other names for it and stand-ins for arguments, never prose. A stand-in may be in small
    // letters where the description is apart by spaces.
    let is_apart = line.contains("  ") && !about.is_empty() && head.split_whitespace().count() <= MAX_WORDS;
    let is_stand_in =
        |word: &str| is_apart && word.chars().all(|char| char.is_alphanumeric() || "_-.|".contains(char));
    let mut arguments = Vec::new();
    for word in words {
        if alias_follows {
            alias_follows = word.ends_with(',');
        } else if word.starts_with(char::is_lowercase) && !is_stand_in(word) {
            return None;
        } else {
            arguments.push(word);
        }
    }
    Some((name, arguments.join(" "), about))
}
