//! Reads a target's help text: which commands and flags it has. A guess, made without knowing the
//! library that wrote the text (clap, argparse, click, cobra, commander, or a person).

mod commands;
mod examples;
mod flags;
mod nested;
mod operands;
mod page;
mod usage;

pub use examples::{Example, Names};
pub use nested::HelpCall;
pub use operands::Operand;
pub use page::Page;

use serde::{Deserialize, Serialize};
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
    /// The options whose values it lists.
    pub choices: Vec<Choices>,
    /// The options that it shows with a variable.
    pub env_flags: Vec<EnvFlag>,
    /// `-h` is something else than help.
    pub other_short_help: bool,
    /// `--output` chooses a format.
    pub output_is_format: bool,
    /// The arguments that seem to ask for a JSON document.
    pub json: Option<Vec<String>>,
    /// The arguments that seem to ask for JSON lines.
    pub jsonl: Option<Vec<String>>,
    /// The arguments that seem to ask for text, where a flag with a value asks for formats.
    pub text: Option<Vec<String>>,
    /// JSON is what comes without a flag.
    pub json_by_default: bool,
    /// What a call needs and takes, up to a subcommand.
    pub operands: Vec<Operand>,
    /// How the help of its commands is asked for, as the text says it; the best way first.
    pub nested: Vec<HelpCall>,
}

/// An option with a closed set of values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// The option with its dashes.
    pub flag: String,
    /// The values, at least two.
    pub values: Vec<String>,
}

/// An option that a variable stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFlag {
    /// The option with its dashes.
    pub flag: String,
    /// The variable.
    pub variable: String,
    /// The option takes a value.
    pub takes_value: bool,
}

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

impl Help {
    /// Reads the bytes of a target's own help text.
    pub fn parse(text: &[u8]) -> Self {
        Self::of_command(text, &[])
    }

    /// Reads the bytes of the help text of the subcommand `path`; of the target itself where it is empty.
    pub fn of_command(text: &[u8], path: &[&str]) -> Self {
        let text = sanitize::plain(&text[..text.len().min(LONGEST)]);
        let flags = flags::read(&text);
        let asked = flags::asking(&flags);
        let (commands, among_commands) = commands::read(&text);
        let free_word = usage::free_positional(&text, &commands).or(among_commands);
        let (mut operands, before_command) = operands::of_page(&text, path);
        if !commands.is_empty() && !before_command {
            operands.clear(); // those of a call without a subcommand
        }
        flags::add_required(&flags, &mut operands);
        Self {
            free_word,
            other_short_help: flags::other_short_help(&flags),
            output_is_format: flags::output_is_format(&flags),
            choices: flags::choices(&flags),
            env_flags: flags::env_flags(&flags),
            flags: flags::names(&flags),
            json: asked.json,
            jsonl: asked.jsonl,
            text: asked.text,
            json_by_default: asked.json_by_default,
            nested: nested::calls(&text, &commands),
            operands,
            commands,
        }
    }
}
