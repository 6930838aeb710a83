//! A command and what a call of it needs.

/// A command of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its name: a word without white space or control characters.
    pub name: String,
    /// What the help says of it in its first line; empty if nothing.
    pub about: String,
    /// The arguments that stand behind its name in the list of commands.
    pub operands: Vec<Operand>,
}

/// A word that a call needs or takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// What the usage calls it, without brackets: `file`.
    pub name: String,
    /// The option whose value it is; none for a positional argument.
    pub option: Option<String>,
    /// A call needs it.
    pub required: bool,
    /// The values that it can have, where the usage lists them.
    pub choices: Vec<String>,
}

/// Whether a word stands for another: `<x>`, `[x]`, `X...`, capitals alone.
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
