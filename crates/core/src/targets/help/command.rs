//! A command with its arguments.

/// A command of a target, as a list of commands in its help shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Name of the command: a word without white space or control characters.
    pub name: String,
    /// First line of the command's description; may be empty.
    pub about: String,
    /// Arguments that follow the name in the list of commands.
    pub arguments: Vec<Argument>,
}

/// An argument of a call: a positional argument, or the value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Name of the argument in the usage, without brackets, such as `file`.
    pub name: String,
    /// Option that takes the value; `None` for a positional argument.
    pub option: Option<String>,
    /// Whether a call requires the argument.
    pub required: bool,
    /// Allowed values of the argument; empty if the usage does not list them.
    pub choices: Vec<String>,
}

/// Returns whether a word of a usage stands for a value: `<x>`, `[x]`, `x...`, or a word in capitals.
pub(super) fn is_placeholder(word: &str) -> bool {
    let capitals = || {
        word.chars().any(char::is_uppercase)
            && !word.starts_with('-')
            && !word.chars().any(char::is_lowercase)
    };
    word.starts_with(['<', '[', '{', '('])
        || word.ends_with("...")
        || word.ends_with('\u{2026}')
        || capitals()
}
