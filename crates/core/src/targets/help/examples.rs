//! Finds the examples on a help page: lines that show a call of the target.

use super::command::{Command, is_placeholder};
use super::layout::{HelpPage, PageLine, SectionKind};
use super::{commands, usage};
use std::collections::BTreeSet;
use std::path::Path;

/// Arguments that print a page even if other arguments are invalid.
pub const META_ARGUMENTS: [&str; 5] = ["help", "--help", "-h", "--version", "-V"];

/// Returns whether an argument is a path or a pattern of paths, and no name of a command.
pub fn is_path(arg: &str) -> bool {
    !arg.starts_with('-') && arg.contains(['.', '/', '*'])
}

/// A call of the target that its help shows as an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// 0-based number of the example's line on the page.
    pub line: usize,
    /// Arguments of the call, up to a pipe or another shell operator.
    pub args: Vec<String>,
}

impl Example {
    /// Parses a line of code as an example; `None` if it does not call the target by one of `names`, or has no
    /// arguments except placeholders. `line` is the 0-based number of the line.
    pub fn from_code_line(line: usize, code: &str, names: &TargetNames) -> Option<Self> {
        let (_, call) = call(code.trim());
        let split = shell_words(call);
        let args = names.arguments_of(&split)?;
        args.iter().any(|arg| !is_placeholder(arg)).then(|| Self { line, args: args.to_vec() })
    }

    /// Returns whether an argument is an option or a path, and not only names of commands.
    fn has_data(&self) -> bool {
        self.args.iter().any(|arg| arg.starts_with('-') || is_path(arg))
    }

    /// Returns whether the arguments contain no placeholders such as `<file>`, so that the example can be run.
    pub fn is_complete(&self) -> bool {
        !self.args.iter().any(|arg| is_placeholder(arg) || arg.contains(['<', '>', '\u{2026}']))
    }
}

/// The names by which a target is called, the longest first. A name has one or more words, such as `python -m tool`.
#[derive(Debug, Clone, Default)]
pub struct TargetNames(Vec<Vec<String>>);

impl TargetNames {
    /// Collects the names from the usage and the list of commands on a page, and from the file name of the program,
    /// with and without a script's extension. `argv` is the command line of the target, without the arguments of a
    /// probe.
    pub fn new(page: &HelpPage, commands: &[Command], argv: &[String]) -> Self {
        let mut names = BTreeSet::new();
        for form in &page.usage {
            let words = usage::words(form);
            let words = words.strip_prefix(&["$"]).unwrap_or(&words);
            let is_module = words.get(1) == Some(&"-m");
            let is_name = |word: &&&str| {
                !word.starts_with('-')
                    && !is_placeholder(word)
                    && !usage::COMMAND_WORDS.contains(&&*word.to_lowercase())
                    && !commands.iter().any(|command| usage::choices(word).contains(&&*command.name))
            };
            let count = if is_module { 3 } else { words.iter().take_while(is_name).count() };
            let name: Vec<String> = words.iter().take(count).map(|word| base_name(word).to_owned()).collect();
            // A word after the first one can be an argument.
            names.extend(name.first().filter(|_| !is_module).map(|first| vec![first.clone()]));
            names.insert(name);
        }
        names.extend(commands::program(page).map(|program| vec![base_name(program).to_owned()]));
        // Options can follow the name of a script or a module.
        let last = argv.iter().rev().find(|word| !word.starts_with('-')).map(|word| base_name(word));
        let stem = last.and_then(|name| Some(Path::new(name).file_stem()?.to_string_lossy().into_owned()));
        names.extend(last.map(str::to_owned).into_iter().chain(stem).map(|name| vec![name]));
        names.insert(argv.iter().map(|word| base_name(word).to_owned()).collect());
        let mut names: Vec<Vec<String>> = names.into_iter().filter(|name| !name.is_empty()).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        Self(names)
    }

    /// Returns the first word of each name, which is a program.
    pub fn programs(&self) -> BTreeSet<&str> {
        self.0.iter().filter_map(|name| name.first().map(String::as_str)).collect()
    }

    /// Returns the words that follow a name of the target; `None` if `words` does not begin with a name.
    fn arguments_of<'w>(&self, words: &'w [String]) -> Option<&'w [String]> {
        let begins = |name: &Vec<String>| {
            let same = |(at, (expected, word)): (usize, (&String, &String))| match at {
                0 => expected == base_name(word),
                _ => expected == word,
            };
            words.len() > name.len() && name.iter().zip(words).enumerate().all(same)
        };
        let name = self.0.iter().find(|name| begins(name))?;
        Some(&words[name.len()..])
    }
}

/// Returns the examples on a help page. `names` and `commands` are those of the target.
pub(super) fn parse(page: &HelpPage, names: &TargetNames, commands: &[Command]) -> Vec<Example> {
    let mut found = Vec::new();
    for section in &page.sections {
        found.extend(page.heading(section).and_then(|heading| in_line(heading, names)));
        let first_option = page.lines_of(section).iter().find(|line| line.words.starts_with('-'));
        let mut lines = page.lines_of(section).iter();
        while let Some(line) = lines.next() {
            let full_line = with_continuation(line, &mut lines);
            if page.usage_lines.contains(&line.number) {
                continue;
            }
            if let Some(example) = in_line(line, names) {
                found.push(example);
                continue;
            }
            let (prompted, call) = call(&full_line);
            let mut parts = std::iter::once(call).chain(later_commands(&full_line)).map(shell_words);
            let Some(args) = parts.find_map(|words| Some(names.arguments_of(&words)?.to_vec())) else {
                continue;
            };
            let example = Example { line: line.number, args };
            let is_description = first_option.is_some_and(|option| line.indent > option.indent);
            let is_listed = section.lists_names();
            let shown = prompted
                || section.kind == SectionKind::Examples
                || is_introduced(page, line)
                || is_listed && !full_line.contains("  ") && example.is_complete() && example.has_data()
                || !is_listed && !is_prose(&example.args, &full_line, commands, is_description);
            if shown && example.args.iter().any(|arg| !is_placeholder(arg)) {
                found.push(example);
            }
        }
    }
    found
}

/// Returns the commands of a pipeline behind the first one.
fn later_commands(line: &str) -> impl Iterator<Item = &str> {
    line.split(" | ").skip(1).map(str::trim_start)
}

/// Returns whether a line stands alone below a sentence that ends in a colon, such as `To list all files:`.
fn is_introduced(page: &HelpPage, line: &PageLine) -> bool {
    let Ok(at) = page.lines.binary_search_by_key(&line.number, |line| line.number) else { return false };
    let before = at.checked_sub(1).and_then(|at| page.lines.get(at));
    line.after_blank
        && before.is_some_and(|before| before.words.ends_with(':') && before.indent < line.indent)
        && page.lines.get(at + 1).is_none_or(|next| next.indent < line.indent)
}

/// Joins a line that ends in a backslash with the lines that continue it.
fn with_continuation<'p>(line: &PageLine, rest: &mut impl Iterator<Item = &'p PageLine>) -> String {
    let mut full_line = line.words.clone();
    while full_line.ends_with('\\')
        && let Some(next) = rest.next()
    {
        full_line.pop();
        full_line.push_str(&next.words);
    }
    full_line
}

/// Returns the example in a line such as `Example: grep -i x file`.
fn in_line(line: &PageLine, names: &TargetNames) -> Option<Example> {
    let (title, call) = line.words.split_once(':')?;
    let is_title = ["example", "examples", "e.g.", "for example", "for instance"]
        .contains(&title.to_lowercase().as_str());
    Example::from_code_line(line.number, call, names).filter(|_| is_title)
}

/// Removes bullets, prompts and variable assignments from the start of a line. Returns whether there was a prompt, and
/// the remaining text, which may be a call.
fn call(words: &str) -> (bool, &str) {
    let mut rest = words;
    for mark in ["- ", "* ", "\u{2022} "] {
        rest = rest.strip_prefix(mark).map_or(rest, str::trim_start);
    }
    rest = rest.trim_start_matches('`');
    let prompt = ["$ ", "> ", "% "].iter().find_map(|prompt| rest.strip_prefix(prompt));
    let mut call = prompt.unwrap_or(rest).trim_start();
    while let Some((word, after)) = call.split_once(' ')
        && is_assignment(word)
    {
        call = after.trim_start();
    }
    (prompt.is_some(), call)
}

fn is_assignment(word: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && !name.starts_with(|char: char| char.is_ascii_digit()) && name.chars().all(is_part)
    })
}

/// Splits a call into words. Stops at two spaces, a comment, a pipe, a redirection or another call.
fn shell_words(call: &str) -> Vec<String> {
    let (mut quote, mut end) = (None, call.len());
    for (at, char) in call.char_indices() {
        match quote {
            Some(open) if char == open => quote = None,
            None if char == '\'' || char == '"' => quote = Some(char),
            None if char == '`' || call[at..].starts_with("  ") => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let call = &call[..end];
    let plain = || call.split_whitespace().map(str::to_owned).collect();
    let mut words: Vec<String> = shlex::split(call).unwrap_or_else(plain);
    let operator = |word: &String| {
        let word = word.trim_start_matches(|char: char| char.is_ascii_digit());
        word.starts_with(['|', '>', ';'])
            || word == "&"
            || word.starts_with("&&")
            || word.starts_with("&>")
            || word.starts_with('<') && !word.contains('>')
    };
    if let Some(end) = words.iter().position(operator) {
        words.truncate(end);
    }
    if let Some(end) = words.iter().position(|word| word.len() > 1 && word.ends_with(';')) {
        words.truncate(end + 1);
        words[end].pop();
    }
    words
}

/// Returns whether a line that begins with the name of the target is a sentence instead of a call: it ends like a
/// sentence, or consists of words only. In the description of an option, a single word suffices.
fn is_prose(args: &[String], line: &str, commands: &[Command], is_description: bool) -> bool {
    // In a title, a dash separates the name from the description.
    let is_word = |word: &str| word == "-" || word.chars().all(|char| char.is_alphabetic() || char == '\'');
    let last = line.split_whitespace().next_back().unwrap_or_default();
    let closes = last.ends_with(')') && !last.contains('(');
    let ends = closes || last.len() > 2 && last.ends_with(['.', ',', ':', ';', '!', '?']);
    let is_command = |word: &String| commands.iter().any(|command| command.name == *word);
    // A version line, such as `tool v1.2`.
    let is_number =
        |word: &String| word.trim_start_matches('v').starts_with(|char: char| char.is_ascii_digit());
    let is_version = |word: &String| is_number(word) && (args.len() == 1 || word.contains('.'));
    ends || args.first().is_some_and(is_version)
        || (args.len() > 1 || is_description)
            && !args.first().is_some_and(is_command)
            && args.iter().all(|word| is_word(word.trim_end_matches(['.', ',', ':', ';', '!', '?'])))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
