//! Reads a target's help text: which commands and flags it has. A guess, made without knowing the
//! library that wrote the text (clap, argparse, click, cobra, commander, or a person).

mod commands;
mod flags;
mod usage;

use strict_json::sanitize;

/// No help is longer, in bytes; what follows is not looked at.
const LONGEST: usize = 1 << 20;

/// What a help text says of a target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Help {
    /// Its commands, in the order of the text, each name once.
    pub commands: Vec<Command>,
    /// The word of its usage that stands for a value where a command could stand, such as `[prompt]`.
    pub free_word: Option<String>,
    /// Its flags with their dashes, in the order of the text, each once.
    pub flags: Vec<String>,
    /// `--output` chooses a format.
    pub output_is_format: bool,
    /// The arguments that seem to ask for a JSON document.
    pub json: Option<Vec<String>>,
    /// The arguments that seem to ask for JSON lines.
    pub jsonl: Option<Vec<String>>,
}

/// A command of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its name: a word without white space or control characters.
    pub name: String,
    /// What the help says of it in its first line; empty if nothing.
    pub about: String,
}

impl Help {
    /// Reads the bytes of a help text.
    pub fn parse(text: &[u8]) -> Self {
        let text = sanitize::plain(&text[..text.len().min(LONGEST)]);
        let flags = flags::read(&text);
        let (json, jsonl) = flags::asking(&flags);
        let (commands, among_commands) = commands::read(&text);
        let free_word = usage::free_positional(&text, &commands).or(among_commands);
        let output_is_format = flags::output_is_format(&flags);
        Self { commands, free_word, output_is_format, flags: flags::names(&flags), json, jsonl }
    }
}
