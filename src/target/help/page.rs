//! A help page with its examples, and what it knows: commands under all their names, flags anywhere in the text.

use super::examples::{self, Example, Names};
use super::usage::{self, Meaning};
use super::{Command, Help, LONGEST, commands};
use std::collections::BTreeSet;
use strict_json::sanitize;

/// Words that say that not all commands are listed, or that others can be added.
const MORE_COMMANDS: [&str; 10] = [
    "all commands",
    "all available commands",
    "available subcommands",
    "commonly used",
    "custom commands",
    "extension",
    "external",
    "more commands",
    "plugin",
    "some common",
];

/// The help page of a target or of one of its commands.
#[derive(Debug, Clone)]
pub struct Page {
    /// What it says.
    pub help: Help,
    /// Its examples.
    pub examples: Vec<Example>,
    /// Other names of its commands.
    aliases: Vec<String>,
    /// The text without its examples.
    text: String,
}

impl Page {
    /// Reads the page of the command `path` of a target with these names and commands; of the target itself where
    /// the path is empty.
    pub fn read(bytes: &[u8], path: &[&str], names: &Names, commands: &[Command]) -> Self {
        let help = Help::of_command(bytes, path);
        let examples = examples::examples(bytes, names, commands);
        let text = sanitize::plain(&bytes[..bytes.len().min(LONGEST)]);
        let aliases = commands::aliases(&text);
        let shown: BTreeSet<usize> = examples.iter().map(|example| example.line).collect();
        let rest = text.lines().enumerate().filter(|(at, _)| !shown.contains(at)).map(|(_, line)| line);
        Self { text: rest.collect::<Vec<_>>().join("\n"), help, examples, aliases }
    }

    /// Whether it lists a command by this name.
    pub fn has_command(&self, name: &str) -> bool {
        name == "help"
            || self.help.commands.iter().any(|command| command.name == name)
            || self.aliases.iter().any(|alias| alias == name)
    }

    /// Whether a word where a command stands has to be one that it lists.
    pub fn lists_all_commands(&self) -> bool {
        let text = self.text.to_lowercase();
        !self.help.commands.is_empty()
            && self.help.free_word.is_none()
            && !MORE_COMMANDS.iter().any(|words| text.contains(words))
            && !text
                .lines()
                .any(|line| line.split_once("common ").is_some_and(|(_, rest)| rest.contains("commands")))
    }

    /// Whether it names a long flag.
    pub fn has_flag(&self, flag: &str) -> bool {
        let is_part = |char: char| char.is_alphanumeric() || char == '-' || char == '_';
        let names = |flag: &str| {
            self.text.match_indices(flag).any(|(at, _)| {
                !self.text[..at].ends_with(is_part) && !self.text[at + flag.len()..].starts_with(is_part)
            })
        };
        let negated = |name: &str| names(&format!("--[no-]{name}")) || names(&format!("--(no-){name}"));
        let name = flag.trim_start_matches("--no-").trim_start_matches("--");
        ["--help", "--version"].contains(&flag)
            || self.help.flags.iter().any(|known| known == flag)
            || names(flag)
            || negated(name)
    }

    /// Whether what follows its positional arguments may be another program's: `[ARGS]...`.
    pub fn passes_on(&self) -> bool {
        usage::forms(&self.text).iter().any(|form| {
            let words = usage::words(form);
            words.iter().any(|word| {
                word.contains("..") && matches!(usage::meaning(word), Meaning::Rest | Meaning::Command)
            })
        })
    }
}
