//! Finds out how to request the help page of a subcommand.

use super::command::Command;
use super::options::CliOption;
use super::{HelpPage, style, usage};

/// A way to request the help page of a subcommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpCall {
    /// With this flag after the subcommand: `notes add --help`.
    Flag(String),
    /// With the command `help` before the subcommand: `notes help add`.
    Command,
}

impl HelpCall {
    /// Returns the arguments that request the page of the subcommand `path`.
    pub fn args(&self, path: &[String]) -> Vec<String> {
        match self {
            Self::Flag(flag) => path.iter().cloned().chain([flag.clone()]).collect(),
            Self::Command => std::iter::once("help".to_owned()).chain(path.iter().cloned()).collect(),
        }
    }
}

/// Returns the documented ways to request the help page of a subcommand, the best first. An undocumented way could run
/// the subcommand.
pub(super) fn help_calls(page: &HelpPage, commands: &[Command], options: &[CliOption]) -> Vec<HelpCall> {
    let mut flag_in_text = None;
    let mut prefix = commands.iter().any(|command| command.name == "help");
    for line in &page.lines {
        let words: Vec<&str> = line.words.split_whitespace().map(bare).collect();
        for pair in words.windows(2) {
            if is_command_placeholder(pair[0]) && HELP_FLAGS.contains(&pair[1]) {
                flag_in_text.get_or_insert_with(|| pair[1].to_owned());
            }
            prefix |= pair[0] == "help" && is_command_placeholder(pair[1]);
        }
    }
    let flag = flag_in_text
        .or_else(|| style::parser_with_help_flag(page).map(|_| "--help".to_owned()))
        .or_else(|| flag_for_commands(options));
    flag.map(HelpCall::Flag).into_iter().chain(prefix.then_some(HelpCall::Command)).collect()
}

/// Flags that print a help page, the best first.
const HELP_FLAGS: [&str; 3] = ["--help", "-help", "-h"];
/// Words between `help` and `command` in the description of a flag that prints the help of any command.
const WORDS_OF_ANY_COMMAND: [&str; 6] = ["for", "of", "a", "any", "given", "specified"];

/// Returns the help flag if its description states that it prints the help of a command as well, as in `-help  Show
/// this help output, or the help for a specified subcommand`.
fn flag_for_commands(options: &[CliOption]) -> Option<String> {
    let states = |option: &&CliOption| {
        let text = option.description().to_lowercase();
        let words: Vec<&str> = text.split_whitespace().map(bare).collect();
        let is_of_command = |after: &[&str]| {
            let mut rest = after.iter().skip_while(|word| WORDS_OF_ANY_COMMAND.contains(word));
            rest.next().is_some_and(|word| usage::COMMAND_WORDS.contains(word))
        };
        (0..words.len()).any(|at| words[at] == "help" && is_of_command(&words[at + 1..]))
    };
    let flag_of = |option: &CliOption| HELP_FLAGS.into_iter().find(|flag| option.is_called(flag));
    options.iter().filter(states).find_map(flag_of).map(str::to_owned)
}

const QUOTES: [char; 6] = ['\'', '"', '`', '\u{201c}', '\u{201d}', '$'];

/// Removes quotes and punctuation around a word.
fn bare(word: &str) -> &str {
    word.trim_matches(QUOTES).trim_end_matches(PUNCTUATION).trim_matches(QUOTES)
}

/// Punctuation that can follow a word.
const PUNCTUATION: [char; 4] = ['.', ',', ';', ')'];

/// Returns whether a word is the placeholder of a subcommand: `<command>`, `[subcommand]`, `COMMAND`.
fn is_command_placeholder(word: &str) -> bool {
    let inner = word.trim_end_matches(PUNCTUATION).trim_matches(['<', '>', '[', ']', '{', '}', '.']);
    let marked =
        word.starts_with(['<', '[', '{']) || inner.len() > 2 && inner.chars().all(char::is_uppercase);
    marked && usage::COMMAND_WORDS.contains(&inner.to_lowercase().as_str())
}
