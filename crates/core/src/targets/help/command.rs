//! A command with its arguments.

/// A command of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Name: a word without white space or control characters.
    pub name: String,
    /// First line of its description; may be empty.
    pub about: String,
    /// Arguments after its name in the list of commands.
    pub arguments: Vec<Argument>,
}

/// An argument of a call: a positional argument, or the value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Name in the usage, without brackets: `file`.
    pub name: String,
    /// Option that takes the value; `None` for a positional argument.
    pub option: Option<String>,
    /// Whether a call requires it.
    pub required: bool,
    /// Allowed values, if the usage lists them.
    pub choices: Vec<String>,
}

/// Returns whether a word is a placeholder: `<x>`, `[x]`, `X...`, or capitals.
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
