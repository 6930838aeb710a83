//! Parses the positional arguments and the required options of a command from its usage.

use super::HelpPage;
use super::command::Argument;
use super::options::{self, CliOption};
use super::usage::{self, Meaning};

const MAX_DEPTH: usize = 8;

/// Nouns that name the output of a command, not an argument: `Show a summary`.
const OUTPUT_NOUNS: [&str; 12] = [
    "brief",
    "description",
    "diff",
    "graph",
    "list",
    "listing",
    "overview",
    "report",
    "short",
    "summary",
    "table",
    "tree",
];
/// Words that can follow the noun of an argument: `Copy a file to the server`.
const FOLLOWERS: [&str; 11] = ["and", "as", "at", "by", "for", "from", "in", "of", "on", "to", "with"];

impl Argument {
    /// Guesses the required argument of a command from its description, if its usage is unknown. The argument is the
    /// noun after `a`, `an` or `one`, directly after the verb or `of`: `host` in `Show the status of a host`.
    pub fn in_description(about: &str) -> Option<Self> {
        let words: Vec<String> = about.split_whitespace().map(str::to_lowercase).collect();
        let mut one = words.iter().enumerate().skip(1).filter(|(at, word)| {
            matches!(&***word, "a" | "an" | "one") && (*at == 1 || words[at - 1] == "of")
        });
        let (at, _) = one.next()?;
        let noun = words.get(at + 1)?.trim_end_matches(['.', ',', ':', ';']);
        let ends = noun.len() < words[at + 1].len();
        let alone = ends || words.get(at + 2).is_none_or(|next| FOLLOWERS.contains(&next.as_str()));
        let is_noun =
            !noun.is_empty() && noun.chars().all(char::is_alphanumeric) && !OUTPUT_NOUNS.contains(&noun);
        (alone && is_noun).then(|| operand(noun, None, true))
    }
}

/// Returns the arguments of the command `path`, according to the usage on its page, and whether a subcommand follows
/// them. `has_commands` tells whether the page lists subcommands.
pub(super) fn of_command(page: &HelpPage, path: &[&str], has_commands: bool) -> (Vec<Argument>, bool) {
    let arguments_of_form = |form: &String| {
        let words = usage::words(form);
        Some(up_to_command(words_after(&words, path)?, has_commands, 0))
    };
    page.usage.iter().find_map(arguments_of_form).unwrap_or_default()
}

/// Removes the options that do not belong to the command `path` from those of a page about several commands. The usage
/// form of the command shows its options, or `[options]` for all.
pub(super) fn retain_options(options: &mut Vec<CliOption>, page: &HelpPage, path: &[&str]) {
    let is_own = |form: &&String| words_after(&usage::words(form), path).is_some();
    let Some(form) = page.usage.iter().find(is_own) else { return };
    let shows_all = usage::words(form).iter().any(|word| {
        matches!(usage::meaning(word), Meaning::Flags)
            && !word.trim_start_matches(['[', '(']).starts_with('-')
    });
    let shown = options::options_in_form(form);
    let is_shown =
        |option: &CliOption| shown.iter().any(|shown| shown.names.iter().any(|name| option.is_called(name)));
    if !shows_all {
        options.retain(is_shown);
    }
}

/// Returns the words of a usage form that follow the program and the command `path`; `None` if the form is about
/// another command.
pub(super) fn words_after<'w, 't>(words: &'w [&'t str], path: &[&str]) -> Option<&'w [&'t str]> {
    let words = words.strip_prefix(&["$"]).unwrap_or(words);
    let is = |word: &str, name: &str| word.split('|').any(|alias| alias == name);
    let program = match words {
        [_, "-m", ..] => 3,
        ["node" | "python" | "python3" | "sh" | "bash", ..] => 2,
        _ => 1,
    };
    let mut rest = words.get(program.min(words.len())..)?;
    for name in path {
        let Some(at) = rest.iter().position(|word| is(word, name)) else {
            // A page can show the command like a program.
            return words.first().filter(|word| is(word, path.last().unwrap_or(name))).map(|_| &words[1..]);
        };
        rest = &rest[at + 1..];
    }
    Some(rest)
}

/// Parses the words of a usage form into arguments; stops at the first word that stands for a subcommand.
pub(super) fn parse(words: &[&str]) -> Vec<Argument> {
    up_to_command(words, true, 0).0
}

/// Like [`parse`], but also returns whether the words contain a subcommand. `depth` is the number of groups around the
/// words.
fn up_to_command(words: &[&str], has_commands: bool, depth: usize) -> (Vec<Argument>, bool) {
    let mut all = Vec::new();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (
                    word,
                    words.next_if(|next| !next.starts_with(['-', '[', '(', '{']) || choices(next).is_some()),
                ),
            };
            if option.trim_start_matches('-').is_empty() {
                continue;
            }
            all.push(operand(value.unwrap_or_default(), Some(option), true));
        } else if let Some(inner) = word.strip_prefix('(') {
            let first = inner.split(['|', ')']).next().unwrap_or_default().trim();
            if depth < MAX_DEPTH {
                all.extend(up_to_command(&usage::words(first), has_commands, depth + 1).0.into_iter().next());
            }
        } else if word.starts_with("[-") || word == "..." {
            // a flag, or a repetition
        } else if let Some(group) = optional_group(word) {
            let inner =
                if depth < MAX_DEPTH { up_to_command(&group, has_commands, depth + 1).0 } else { Vec::new() };
            for operand in inner {
                if !all.iter().any(|known: &Argument| known.name == operand.name) {
                    all.push(Argument { required: false, ..operand });
                }
            }
        } else {
            // argparse shows a choice of commands as a word before `...`, click an argument that can be repeated.
            let chosen = has_commands && depth == 0 && words.peek() == Some(&"...") && !word.starts_with('[');
            match usage::meaning(word) {
                Meaning::Flags => {}
                _ if chosen => return (all, true),
                Meaning::Command if choices(word).is_none() => return (all, true),
                Meaning::Command | Meaning::Rest | Meaning::Value => {
                    all.push(operand(word, None, !word.starts_with('[')));
                }
            }
        }
    }
    (all, false)
}

/// Returns the words in a group of optional positional arguments, such as `[file [line]]` or `[file ...]`; `None` for
/// any other word.
fn optional_group(word: &str) -> Option<Vec<&str>> {
    let words = usage::words(word.strip_prefix('[')?.trim_end_matches('.').strip_suffix(']')?);
    let is_group = words.len() > 1 && !words.contains(&"|");
    let are_values = words.iter().all(|word| !matches!(usage::meaning(word), Meaning::Command));
    (is_group && are_values).then_some(words)
}

fn operand(word: &str, option: Option<&str>, required: bool) -> Argument {
    let name = word.trim_matches(|char: char| "[]<>(){}. ".contains(char)).trim_end_matches("...");
    Argument {
        name: name.to_owned(),
        option: option.map(str::to_owned),
        required,
        choices: choices(word).unwrap_or_default(),
    }
}

fn choices(word: &str) -> Option<Vec<String>> {
    let inner = word.trim_matches(|char: char| "[]<>{}.".contains(char));
    let values: Vec<&str> = match word.trim_start_matches('[').starts_with('{') {
        true => inner.split([',', '|']).collect(),
        false => inner.split('|').collect(),
    };
    let is_value = |value: &&str| {
        !value.is_empty()
            && value.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-')
    };
    // `file|dir` are kinds of values, not values.
    let are_kinds = !word.contains('{') && values.iter().any(|value| usage::VALUE_WORDS.contains(value));
    (values.len() > 1 && !are_kinds && values.iter().all(is_value))
        .then(|| values.iter().map(|&value| value.to_owned()).collect())
}
