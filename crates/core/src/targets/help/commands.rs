//! Finds the commands on a help page.

use super::arguments;
use super::command::Command;
use super::layout::{HelpPage, SectionKind};
use super::usage::{self, Meaning};
use std::collections::{BTreeMap, BTreeSet};

const MAX_COMMANDS: usize = 500;
/// Maximum number of words before the description in a list entry, if lower-case words can be arguments.
const MAX_WORDS: usize = 4;
/// Length of a name below which it is probably an alias.
const MIN_NAME: usize = 3;
/// Number of entries that call a word with an option, so that the word is the name of the program.
const MIN_CALLS: usize = 2;

/// Returns the commands on the page of the command `path`, in the order of the page. If the list of commands contains a
/// usage of the program itself with a positional argument, also returns the placeholder of that argument.
pub(super) fn parse(page: &HelpPage, path: &[&str]) -> (Vec<Command>, Option<String>) {
    let mut found = CommandCollector::default();
    // argparse: a choice is one of commands only if further words follow, `{a,b} ...`.
    let chooses = page.usage.is_empty() || page.usage.iter().any(|form| usage::words(form).contains(&"..."));
    for section in &page.sections {
        match section.kind {
            SectionKind::Commands => found.add_listed(&page.entries(section)),
            SectionKind::Positionals if chooses => found.add_from_positionals(&page.entries(section)),
            SectionKind::Positionals | SectionKind::Examples | SectionKind::Other => {}
        }
    }
    found.add_from_grammar(&page.text);
    if found.commands.is_empty() {
        found.add_from_usage(&page.text);
    }
    if found.commands.is_empty() {
        found.add_from_forms(&page.usage, path);
    }
    // A heading such as `Commands:` without entries is that of the groups below it.
    let has_groups = page
        .sections
        .iter()
        .any(|section| section.kind == SectionKind::Commands && page.lines_of(section).is_empty());
    if has_groups || found.commands.is_empty() && page.usage.iter().any(|form| has_command(form, path)) {
        for section in page.untitled_groups() {
            found.add_listed(&page.entries(section));
        }
    }
    // argparse lists an alias in braces like a command, and below as an alias: `list (ls)`.
    let aliases = aliases_in_brackets(page);
    found.commands.retain(|command| !command.about.is_empty() || !aliases.contains(&command.name));
    (found.commands, found.free_word)
}

/// Returns the aliases of commands on a page, such as `ls` in `list, ls`, `list (ls)` or `[aliases: ls, l]`.
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

/// Returns the aliases of each command in the lists of a page: the words after a comma or `|`, or in brackets, such as
/// `ls` in `list, ls`, `list (ls)` or `[aliases: ls, l]`.
pub(super) fn aliases_by_name(page: &HelpPage) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for section in page.sections.iter().filter(|section| section.lists_names()) {
        // Names that are separated by commas are several commands.
        let entries = page.entries(section).into_iter().filter(|(_, line)| comma_list(line).is_none());
        for (_, line) in entries {
            let (head, about) = line.split_once("  ").unwrap_or((line, ""));
            let mut words = head.split_whitespace().peekable();
            let mut names = Vec::new();
            let mut follows = true;
            while let Some(word) = words.next_if(|word| follows || word.starts_with('(')) {
                names.extend(word.split('|').map(|name| name.trim_matches(['(', ')', ':', ','])));
                follows = word.ends_with(',');
            }
            let noted = ["[alias: ", "[aliases: ", "(alias: ", "(aliases: "].iter();
            let noted = noted.filter_map(|mark| about.split_once(mark)?.1.split([']', ')']).next());
            names.extend(noted.flat_map(|list| list.split(',')).map(str::trim));
            let mut names = names.into_iter().filter(|name| is_name(name)).map(str::to_owned);
            if let Some(name) = names.next() {
                all.push((name, names.collect()));
            }
        }
    }
    all
}

/// Returns the aliases of commands that follow a name in brackets, in the style of argparse: `ls` and `l` in
/// `list (ls, l)`.
fn aliases_in_brackets(page: &HelpPage) -> Vec<String> {
    let sections = page.sections.iter().filter(|section| section.lists_names());
    let heads = sections.flat_map(|section| page.entries(section)).filter_map(|(_, line)| {
        let (head, _) = line.split_once("  ").unwrap_or((line, ""));
        head.split_once(" (")?.1.strip_suffix(')')
    });
    heads.flat_map(|names| names.split(", ")).map(str::to_owned).collect()
}

#[derive(Default)]
struct CommandCollector {
    commands: Vec<Command>,
    /// Placeholder of a positional argument, such as `[prompt]`. The list of commands can contain it in a usage of the
    /// program.
    free_word: Option<String>,
}

impl CommandCollector {
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
        } else if self.commands.len() < MAX_COMMANDS {
            let operands = arguments::parse(&usage::words(words));
            self.commands.push(Command {
                name: name.to_owned(),
                about: about.to_owned(),
                arguments: operands,
            });
        }
    }

    /// Adds the commands in the lines below a heading: one command per line, or names separated by commas. Each line
    /// has its indentation.
    fn add_listed(&mut self, lines: &[(usize, &str)]) {
        let column = about_column(lines);
        let program = repeated_program(lines);
        let (mut entry_indent, mut added) = (None, false);
        for &(indent, line) in lines {
            let mut from = indent;
            let mut line = line;
            if let Some(own) = program.and_then(|program| line.strip_prefix(program)) {
                if own.starts_with("  ") {
                    continue; // the description of the program without a command
                }
                from += line.len() - own.trim_start().len();
                line = own.trim_start();
                if line.starts_with(['[', '<']) {
                    let form = line.split("  ").next().unwrap_or_default();
                    self.free_word = self.free_word.take().or(usage::free_word(&usage::words(form), &[]));
                }
            }
            if entry_indent.is_some_and(|entry_indent| indent > entry_indent) {
                // The description of the entry above continues.
                if let Some(command) =
                    self.commands.last_mut().filter(|_| added).filter(|last| last.about.is_empty())
                {
                    line.clone_into(&mut command.about);
                }
                continue;
            }
            added = false;
            if let Some(names) = in_braces(line).or_else(|| comma_list(line)) {
                names.into_iter().for_each(|name| self.add(name, ""));
            } else if let Some((name, words, about)) =
                split_entry(line, column.map(|column| column.saturating_sub(from)))
            {
                let known = self.commands.len();
                self.add_entry(name, &words, about);
                added = self.commands.len() > known;
                // In `i, install`, the names of other entries are below `install`.
                entry_indent = Some(indent + line.find(name).unwrap_or_default());
            }
        }
    }

    /// Adds the commands among positional arguments in the style of argparse: two columns deeper than the arguments,
    /// below a choice in braces, a word in capitals, or a word such as `<command>`.
    fn add_from_positionals(&mut self, lines: &[(usize, &str)]) {
        let Some(&(arguments, _)) = lines.first() else { return };
        let mut choice = false;
        for &(indent, line) in lines {
            if indent == arguments {
                let first = line.split_whitespace().next().unwrap_or_default();
                choice = first.starts_with('{')
                    || (first.len() > 1 && first.chars().all(|c| !c.is_lowercase()))
                    || matches!(usage::meaning(first), Meaning::Command);
                in_braces(first).into_iter().flatten().for_each(|name| self.add(name, ""));
            } else if let (true, Some((name, _, about))) =
                (choice && indent == arguments + 2, split_entry(line, None))
            {
                self.add(name, about);
            }
        }
    }

    /// Adds the commands in a grammar in the style of iproute2: `a` and `b` in `OBJECT := { a | b }`.
    fn add_from_grammar(&mut self, text: &str) {
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

    /// Adds the commands in a usage in the style of argparse: `a` and `b` in `{a,b} ...`.
    fn add_from_usage(&mut self, text: &str) {
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

    /// Adds the commands of usage forms that begin with different words, in the style of docopt: `tool add TEXT`,
    /// `tool list`; or with a choice of words: `tool list|show`.
    fn add_from_forms(&mut self, forms: &[String], path: &[&str]) {
        let starts: Vec<(Vec<&str>, String)> =
            forms.iter().filter_map(|form| command_form(form, path)).collect();
        let names: BTreeSet<&str> = starts.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        if names.len() > 1 && !names.iter().any(|name| usage::VALUE_WORDS.contains(name)) {
            for (names, rest) in &starts {
                names.iter().for_each(|name| self.add_entry(name, rest, ""));
            }
        }
    }
}

/// Returns the names of commands after the program and its options in a usage form, such as `list|show`, and the words
/// after them; `None` if anything else follows the program.
fn command_form<'f>(form: &'f str, path: &[&str]) -> Option<(Vec<&'f str>, String)> {
    let words = usage::words(form);
    let words = arguments::words_after(&words, path)?;
    let mut rest = words.iter().skip_while(|word| word.starts_with('[') || word.starts_with('-'));
    let first = rest.next()?;
    let names = usage::choices(first);
    let all_names = !first.starts_with('[') && names.iter().all(|name| is_name(name));
    all_names.then(|| (names, rest.copied().collect::<Vec<_>>().join(" ")))
}

/// Returns whether a usage form shows a command after the path, as in `tool [command] [flags]`.
fn has_command(form: &str, path: &[&str]) -> bool {
    let words = usage::words(form);
    let words = arguments::words_after(&words, path).unwrap_or_default();
    words.iter().any(|word| matches!(usage::meaning(word), Meaning::Command))
}

/// Returns whether a word can name a command: it starts with a lower-case letter or a digit, contains a letter, and
/// ends with a letter or digit.
pub(super) fn is_name(word: &str) -> bool {
    word.contains(|char: char| char.is_ascii_alphabetic())
        && word.starts_with(|char: char| char.is_ascii_lowercase() || char.is_ascii_digit())
        && word.ends_with(|char: char| char.is_ascii_alphanumeric())
        && word.chars().all(|char| char.is_ascii_alphanumeric() || "._:+-".contains(char))
        && word.len() <= 60
}

/// Returns the names in a line such as `{a,b,c}`; `None` for any other line.
fn in_braces(line: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = line.strip_prefix('{')?.strip_suffix('}')?.split(',').map(str::trim).collect();
    names.iter().all(|name| is_name(name)).then_some(names)
}

/// Returns the names in a line such as `a, b, c` or `a, b,`; `None` for any other line.
fn comma_list(line: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = line.strip_suffix(',').unwrap_or(line).split(',').map(str::trim).collect();
    (line.contains(',') && names.iter().all(|name| is_name(name))).then_some(names)
}

/// Returns the name of the program, if each entry in a list of commands on the page begins with it.
pub(super) fn program(page: &HelpPage) -> Option<&str> {
    let lists = page.sections.iter().filter(|section| section.kind == SectionKind::Commands);
    lists.filter_map(|section| repeated_program(&page.entries(section))).next()
}

/// Returns the name of the program, if each entry in these lines begins with it, in the style of yargs: `tool add`,
/// `tool list`. Also if several entries are calls with an option, such as `tsc -b`, as the descriptions may then be
/// lines of their own.
fn repeated_program<'t>(lines: &[(usize, &'t str)]) -> Option<&'t str> {
    let outer = lines.iter().map(|(indent, _)| *indent).min()?;
    // yargs wraps a long entry within the brackets of an argument.
    let is_wrapped = |line: &str| {
        let head = line.split("  ").next().unwrap_or_default();
        head.matches(['<', '[']).count() > head.matches(['>', ']']).count()
    };
    let outermost = lines.iter().filter(|(indent, _)| *indent == outer).map(|(_, line)| *line);
    let mut continues = false;
    let mut entries = outermost.clone().filter(|line| !std::mem::replace(&mut continues, is_wrapped(line)));
    let program = entries.next()?.split_whitespace().next()?;
    let has_option = |line: &&str| line.strip_prefix(program).is_some_and(|rest| rest.starts_with(" -"));
    if outermost.filter(has_option).count() >= MIN_CALLS {
        return Some(program);
    }
    let mut others = 0;
    let repeat = entries.all(|line| {
        others += 1;
        line.strip_prefix(program).is_some_and(|rest| rest.starts_with(' '))
    });
    (repeat && others > 0).then_some(program)
}

/// Returns the column at which most descriptions in these lines start; each line has its indentation.
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

/// Splits an entry of a list into the name of the command, its argument placeholders, and its description. A short
/// alias can precede the name, as in `i, install`. The description follows two spaces, ` - ` or `: `, or starts at
/// `column`, like the descriptions of other entries.
/// Returns `None` for a line that is not an entry.
fn split_entry(line: &str, column: Option<usize>) -> Option<(&str, String, &str)> {
    let split_at = |at: usize, width: usize| (&line[..at], line[at + width..].trim_start());
    let aligned = column.filter(|&at| at > 0 && line.is_char_boundary(at) && line[..at].ends_with(' '));
    let (head, about) = if let Some(at) = line.find("  ") {
        split_at(at, 2)
    } else if let Some(at) = aligned.filter(|at| *at < line.len()) {
        split_at(at - 1, 1)
    } else if let Some(at) = line.find(" - ") {
        split_at(at, 3)
    } else if let Some(at) = line.find(": ") {
        split_at(at, 2)
    } else {
        (line, "")
    };
    let mut words = head.split_whitespace();
    let first = words.next()?;
    let mut alias_follows = first.ends_with(',');
    let names = first.trim_end_matches([',', ':']);
    let mut name = names.split(['|', ',']).next().filter(|name| is_name(name))?;
    // Only aliases and argument placeholders follow the name, never prose. A placeholder can be in lower case if spaces
    // separate the description.
    let is_separated =
        line.contains("  ") && !about.is_empty() && head.split_whitespace().count() <= MAX_WORDS;
    let is_placeholder =
        |word: &str| is_separated && word.chars().all(|char| char.is_alphanumeric() || "_-.|".contains(char));
    let mut arguments = Vec::new();
    for word in words {
        if alias_follows {
            alias_follows = word.ends_with(',');
            let alias = word.trim_end_matches([',', ':']);
            if name.len() < MIN_NAME && alias.len() >= MIN_NAME && is_name(alias) {
                name = alias;
            }
        } else if word.starts_with(char::is_lowercase) && !is_placeholder(word) {
            return None;
        } else {
            arguments.push(word);
        }
    }
    Some((name, arguments.join(" "), about))
}
