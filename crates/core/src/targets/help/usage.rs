//! Parses the forms of a usage, and finds a positional argument in the place of a command: an unknown command is then
//! data, such as a prompt.

use super::command::Command;
use std::collections::BTreeSet;

pub(super) const COMMAND_WORDS: [&str; 9] =
    ["command", "commands", "subcommand", "subcommands", "cmd", "subcmd", "action", "object", "verb"];
/// Words that can be combined with one of [`COMMAND_WORDS`], as in `COMMAND_NAME`.
const COMMAND_PARTS: [&str; 4] = ["name", "group", "sub", "help"];
const MAX_FORMS: usize = 200;
const FLAG_WORDS: [&str; 6] = ["option", "options", "opts", "flag", "flags", "switches"];
/// Placeholder words that stand for all arguments of the command before them.
const REST_WORDS: [&str; 7] = ["arg", "args", "argument", "arguments", "params", "parameters", "rest"];

/// Lower-case words that stand for a value in a usage, not for a command.
pub(super) const VALUE_WORDS: [&str; 16] = [
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

/// Returns the placeholder of a positional argument that can stand where a command could, such as `[prompt]`. It is
/// that of the first usage form with one.
pub(super) fn free_positional(forms: &[String], commands: &[Command]) -> Option<String> {
    forms.iter().find_map(|form| {
        let words = words(form);
        // `python -m NAME` is the name of the program.
        let program = if words.get(1) == Some(&"-m") { 3 } else { 1 };
        free_word(words.get(program..)?, commands)
    })
}

/// Like [`free_positional`], for the words after the program in a single usage form.
pub(super) fn free_word(words: &[&str], commands: &[Command]) -> Option<String> {
    let mut after_command = false;
    for (at, word) in words.iter().enumerate() {
        let bare = !word.starts_with(['[', '<', '(', '{']);
        if bare && word.starts_with('-') && word.len() > 2 {
            return None; // The form requires this flag.
        }
        let is_command = |name: &str| commands.iter().any(|command| command.name == name);
        if !word.starts_with(['[', '<']) && choices(word).into_iter().all(is_command) {
            return None; // The form is that of these commands only.
        }
        // argparse shows a choice of commands as a word before `...`.
        let chosen = bare && words.get(at + 1) == Some(&"...");
        match meaning(word) {
            Meaning::Flags => {}
            Meaning::Command => after_command = true,
            _ if chosen => after_command = true,
            Meaning::Rest if after_command => {}
            Meaning::Rest | Meaning::Value => return Some((*word).to_owned()),
        }
    }
    None
}

/// Returns the alternatives in `a|b`, `(a | b)` or `{a|b}`. A word without alternatives is returned as the only one.
pub(super) fn choices(word: &str) -> Vec<&str> {
    word.trim_matches(['(', ')', '{', '}']).split('|').map(str::trim).collect()
}

/// What a word in a usage stands for.
pub(super) enum Meaning {
    Flags,
    Command,
    /// All arguments of the command before the word.
    Rest,
    Value,
}

pub(super) fn meaning(word: &str) -> Meaning {
    let inner = word.trim_matches(|char: char| "[]<>(){}. ".contains(char));
    if inner.is_empty() || inner.starts_with(['-', '+']) {
        return Meaning::Flags;
    }
    let parts = || inner.split(['|', ',']).map(|part| part.trim_matches([' ', '<', '>', '[', ']']));
    let words = |part: &str| -> Vec<String> {
        let words = part.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let are = |part: &str, known: &[&str]| words(part).iter().all(|word| known.contains(&word.as_str()));
    let is_command = |part: &str| {
        are(part, &[&COMMAND_WORDS[..], &COMMAND_PARTS].concat()) && !are(part, &COMMAND_PARTS[..3])
    };
    // Braces with alternatives are a closed choice. typer shows a value as `{name}`.
    if parts().all(is_command) || word.starts_with('{') && inner.contains([',', '|']) {
        Meaning::Command
    } else if words(inner).last().is_some_and(|last| FLAG_WORDS.contains(&last.as_str())) {
        Meaning::Flags
    } else if are(inner, &REST_WORDS) {
        Meaning::Rest
    } else {
        Meaning::Value
    }
}

/// Finds the usage in the text of a help page. Returns its forms, each joined with its continuation lines, and the
/// 0-based numbers of its lines. Alternatives such as `add TEXT | list` are separate forms.
pub(super) fn parse(text: &str) -> (Vec<String>, BTreeSet<usize>) {
    let mut forms: Vec<String> = Vec::new();
    let mut usage_lines = BTreeSet::new();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().enumerate().peekable();
    while forms.len() < MAX_FORMS
        && let Some((at, line)) = lines.next()
    {
        let lower = line.trim().to_lowercase();
        let first = match (lower.strip_prefix("usage:"), lower.as_str()) {
            (Some(_), _) => &line[line.find(':').unwrap_or_default() + 1..],
            (None, "usage" | "synopsis") => "",
            _ => continue,
        };
        usage_lines.insert(at);
        let (mut program, mut column) = (first.split_whitespace().next(), None);
        if !first.trim().is_empty() {
            forms.push(first.trim().to_owned());
        } else {
            while lines.next_if(|(_, next)| next.trim().is_empty()).is_some() {}
        }
        let continues = |(_, next): &(usize, &str)| {
            indent(next) > indent(line) && !next.trim().is_empty() && !is_option_entry(next.trim())
        };
        while forms.len() < MAX_FORMS
            && let Some((at, next)) = lines.next_if(continues)
        {
            usage_lines.insert(at);
            let words = next.trim().strip_prefix("or:").unwrap_or(next.trim()).trim();
            let start = words.split_whitespace().next();
            if words.contains(":=") {
                break;
            }
            let begins = program.is_none() || start == program || column == Some(indent(next));
            match forms.last_mut() {
                Some(form) if !begins => form.extend([" ", words]),
                _ => forms.push(words.to_owned()),
            }
            if program.is_none() {
                (program, column) = (start, Some(indent(next)));
            }
        }
    }
    if let (true, Some((at, form))) = (forms.is_empty(), unmarked_usage(text)) {
        usage_lines.insert(at);
        forms.push(form);
    }
    let forms = forms.iter().flat_map(|form| alternatives(form)).take(MAX_FORMS).collect();
    (forms, usage_lines)
}

/// Returns whether a line below the usage begins a list of options: an option with a description behind a gap, or a
/// heading between dashes.
fn is_option_entry(line: &str) -> bool {
    line.starts_with("---") || line.starts_with('-') && line.contains("  ")
}

/// Returns the first line of a page, with its number, if it is a usage without the word `usage`, as yargs prints it:
/// `tool show <name>`. Else returns `None`.
fn unmarked_usage(text: &str) -> Option<(usize, String)> {
    let (at, line) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    let line = line.trim();
    let words = words(line);
    let in_brackets =
        |word: &&&str| word.starts_with(['<', '[']) && word.trim_end_matches('.').ends_with(['>', ']']);
    let starts = words.first().is_some_and(|word| word.starts_with(char::is_alphanumeric));
    (starts && words[1..].iter().any(|word| in_brackets(&word)) && !line.ends_with([':', ',']))
        .then(|| (at, line.to_owned()))
}

/// Splits `program [OPTIONS] add TEXT | list` into `program [OPTIONS] add TEXT` and `program [OPTIONS] list`.
fn alternatives(form: &str) -> Vec<String> {
    let words = words(form);
    if !words.contains(&"|") {
        return vec![form.to_owned()];
    }
    let options = words.iter().skip(1).take_while(|word| word.starts_with('[')).count();
    let (common, rest) = words.split_at(words.len().min(1 + options));
    let own = rest.split(|word| *word == "|").filter(|words| !words.is_empty()).take(MAX_FORMS);
    own.map(|words| [common, words].concat().join(" ")).collect()
}

/// Splits a usage form into words. Brackets with their contents are one word, such as `[file [line]]`.
pub(super) fn words(form: &str) -> Vec<&str> {
    let (mut words, mut depth, mut start) = (Vec::new(), 0_usize, None);
    for (at, char) in form.char_indices() {
        match char {
            '[' | '<' | '(' | '{' => depth += 1,
            ']' | '>' | ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match start {
            None if !char.is_whitespace() => start = Some(at),
            Some(from) if depth == 0 && char.is_whitespace() => {
                words.push(&form[from..at]);
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|from| &form[from..]));
    words
}
