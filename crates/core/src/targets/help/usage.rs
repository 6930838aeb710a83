//! The forms of a usage and their words, and whether one takes a free word: an unknown command is then data, such as a
//! prompt.

use super::command::Command;
use std::collections::BTreeSet;

/// Words that stand for a command.
pub(super) const COMMANDS: [&str; 9] =
    ["command", "commands", "subcommand", "subcommands", "cmd", "subcmd", "action", "object", "verb"];
/// Words that may stand beside those, as in `COMMAND_NAME`.
const BESIDE: [&str; 4] = ["name", "group", "sub", "help"];
/// More forms than this are not read.
const MOST: usize = 200;
/// Words that stand for flags.
const FLAGS: [&str; 6] = ["option", "options", "opts", "flag", "flags", "switches"];
/// Words that stand for the arguments of the command before them.
const REST: [&str; 7] = ["arg", "args", "argument", "arguments", "params", "parameters", "rest"];

/// The first word of a usage that stands for a value, where a command could stand: `[prompt]`.
pub(super) fn free_positional(forms: &[String], commands: &[Command]) -> Option<String> {
    forms.iter().find_map(|form| {
        let words = words(form);
        // `python -m NAME` is a name of the program.
        let program = if words.get(1) == Some(&"-m") { 3 } else { 1 };
        free_word(words.get(program..)?, commands)
    })
}

/// The same of the words behind the program's name in one form of the usage.
pub(super) fn free_word(words: &[&str], commands: &[Command]) -> Option<String> {
    let mut after_command = false;
    for (at, word) in words.iter().enumerate() {
        let bare = !word.starts_with(['[', '<', '(', '{']);
        if bare && word.starts_with('-') && word.len() > 2 {
            return None; // Without that flag a call is not of this form.
        }
        let is_command = |name: &str| commands.iter().any(|command| command.name == name);
        if !word.starts_with(['[', '<']) && choices(word).into_iter().all(is_command) {
            return None; // The form of these commands alone.
        }
        // A word before `...` is how argparse shows a choice of commands.
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

/// The words in `a|b`, `(a | b)` or `{a|b}`; one word alone.
pub(super) fn choices(word: &str) -> Vec<&str> {
    word.trim_matches(['(', ')', '{', '}']).split('|').map(str::trim).collect()
}

/// What a word of a usage stands for.
pub(super) enum Meaning {
    Flags,
    Command,
    /// The arguments of the command before it.
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
    let is_command = |part: &str| are(part, &[&COMMANDS[..], &BESIDE].concat()) && !are(part, &BESIDE[..3]);
    // In braces is one of a few words: others are refused. typer shows a value as `{name}`.
    if parts().all(is_command) || word.starts_with('{') && inner.contains([',', '|']) {
        Meaning::Command
    } else if words(inner).last().is_some_and(|last| FLAGS.contains(&last.as_str())) {
        Meaning::Flags
    } else if are(inner, &REST) {
        Meaning::Rest
    } else {
        Meaning::Value
    }
}

/// The forms of the usage, a line each with those that continue it, and the numbers of its lines. Alternatives,
/// `add TEXT | list`, are forms of their own.
pub(super) fn read(text: &str) -> (Vec<String>, BTreeSet<usize>) {
    let mut forms: Vec<String> = Vec::new();
    let mut of_usage = BTreeSet::new();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().enumerate().peekable();
    while forms.len() < MOST
        && let Some((at, line)) = lines.next()
    {
        let lower = line.trim().to_lowercase();
        let first = match (lower.strip_prefix("usage:"), lower.as_str()) {
            (Some(_), _) => &line[line.find(':').unwrap_or_default() + 1..],
            (None, "usage" | "synopsis") => "",
            _ => continue,
        };
        of_usage.insert(at);
        let (mut program, mut column) = (first.split_whitespace().next(), None);
        if !first.trim().is_empty() {
            forms.push(first.trim().to_owned());
        } else {
            while lines.next_if(|(_, next)| next.trim().is_empty()).is_some() {}
        }
        let continues = |(_, next): &(usize, &str)| indent(next) > indent(line) && !next.trim().is_empty();
        while forms.len() < MOST
            && let Some((at, next)) = lines.next_if(continues)
        {
            of_usage.insert(at);
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
    if let (true, Some((at, form))) = (forms.is_empty(), first_line(text)) {
        of_usage.insert(at);
        forms.push(form);
    }
    let forms = forms.iter().flat_map(|form| alternatives(form)).take(MOST).collect();
    (forms, of_usage)
}

/// Returns the first line of a page, with its number, if it is a usage without that word, as yargs prints it:
/// `tool show <name>`.
fn first_line(text: &str) -> Option<(usize, String)> {
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
    let own = rest.split(|word| *word == "|").filter(|words| !words.is_empty()).take(MOST);
    own.map(|words| [common, words].concat().join(" ")).collect()
}

/// The words of a form; what is in brackets is one.
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
