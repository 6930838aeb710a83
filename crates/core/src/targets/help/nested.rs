//! How the help page of a subcommand is asked for, as a help page says it.

use super::command::Command;
use super::{HelpPage, usage};

/// How the help page of a subcommand is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpCall {
    /// With this flag after the subcommand: `notes add --help`.
    Flag(String),
    /// With the command `help` in front of it: `notes help add`.
    Command,
}

impl HelpCall {
    /// The arguments that ask for the page of the subcommand `path`.
    pub fn args(&self, path: &[String]) -> Vec<String> {
        match self {
            Self::Flag(flag) => path.iter().cloned().chain([flag.clone()]).collect(),
            Self::Command => std::iter::once("help".to_owned()).chain(path.iter().cloned()).collect(),
        }
    }
}

/// What the libraries say whose subcommands all have `--help`: argparse, click, clap, commander, cac, fire.
const PHRASES: [&str; 6] = [
    "show this help message and exit",
    "show this message and exit",
    "print this message or the help of the given subcommand",
    "display help for command",
    "run any command with the `--help` flag",
    "command is one of the following:",
];

/// How the page says that the help of a subcommand is asked for, the best way first; none where it does not say
/// so. A call that the page does not promise to be a call for help could run the subcommand.
pub(super) fn calls(page: &HelpPage, commands: &[Command]) -> Vec<HelpCall> {
    let lower = page.text.to_lowercase();
    let mut named = None;
    let mut prefix = commands.iter().any(|command| command.name == "help");
    for line in &page.lines {
        let words: Vec<&str> = line.words.split_whitespace().map(bare).collect();
        for pair in words.windows(2) {
            if is_command(pair[0]) && matches!(pair[1], "--help" | "-h") {
                named.get_or_insert_with(|| pair[1].to_owned());
            }
            prefix |= pair[0] == "help" && is_command(pair[1]);
        }
    }
    // cobra: `-h, --help   help for notes`; yargs: `--help  Show help  [boolean]`.
    let of_library = |line: &super::layout::Line| {
        let line = &line.words;
        line.starts_with("-h, --help ") && line.contains("  help for ")
            || line.contains("--help ") && line.contains("Show help") && line.ends_with("[boolean]")
    };
    // oclif: `$ notes [COMMAND]`, and a version that names that of Node.js.
    let by_oclif = page.usage.iter().any(|form| form.starts_with("$ ")) && lower.contains(" node-v");
    let by_library =
        PHRASES.iter().any(|phrase| lower.contains(phrase)) || page.lines.iter().any(of_library) || by_oclif;
    let flag = named.or_else(|| by_library.then(|| "--help".to_owned()));
    flag.map(HelpCall::Flag).into_iter().chain(prefix.then_some(HelpCall::Command)).collect()
}

const QUOTES: [char; 6] = ['\'', '"', '`', '\u{201c}', '\u{201d}', '$'];

/// A word without the quotes and marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(QUOTES).trim_end_matches(MARKS).trim_matches(QUOTES)
}

/// What can follow a word in a sentence.
const MARKS: [char; 4] = ['.', ',', ';', ')'];

/// Whether a word stands for a subcommand: `<command>`, `[subcommand]`, `COMMAND`.
fn is_command(word: &str) -> bool {
    let inner = word.trim_end_matches(MARKS).trim_matches(['<', '>', '[', ']', '{', '}', '.']);
    let marked =
        word.starts_with(['<', '[', '{']) || inner.len() > 2 && inner.chars().all(char::is_uppercase);
    marked && usage::COMMANDS.contains(&inner.to_lowercase().as_str())
}
