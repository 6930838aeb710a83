//! A help page with its examples, for checks of calls: commands with aliases, and flags anywhere in the text.

use super::command::Command;
use super::examples::{self, Example, TargetNames};
use super::usage::{self, Meaning};
use super::{HelpPage, Interface, commands};
use std::collections::BTreeSet;

/// Phrases which show that a page does not list all commands, or that commands can be added.
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

/// The help page of a target or of one of its commands, with its examples.
#[derive(Debug, Clone)]
pub struct CommandPage {
    /// Interface that the page describes: its commands, options and arguments.
    pub interface: Interface,
    /// Examples on the page.
    pub examples: Vec<Example>,
    aliases: Vec<String>,
    usage: Vec<String>,
    /// Text of the page without the examples.
    text: String,
}

impl CommandPage {
    /// Parses the help page of the command `path`, or of the target itself if the path is empty. `names` and `commands`
    /// are those of the target.
    pub fn new(page: &HelpPage, path: &[&str], names: &TargetNames, commands: &[Command]) -> Self {
        let examples = examples::parse(page, names, commands);
        let shown: BTreeSet<usize> = examples.iter().map(|example| example.line).collect();
        let rest = page.text.lines().enumerate().filter(|(at, _)| !shown.contains(at)).map(|(_, line)| line);
        Self {
            interface: Interface::of_command(page, path),
            text: rest.collect::<Vec<_>>().join("\n"),
            aliases: commands::aliases(page),
            usage: page.usage.clone(),
            examples,
        }
    }

    /// Returns whether the page lists a command with this name or alias. `help` counts as a command of every page.
    pub fn has_command(&self, name: &str) -> bool {
        name == "help"
            || self.interface.commands.iter().any(|command| command.name == name)
            || self.aliases.iter().any(|alias| alias == name)
    }

    /// Returns whether the page lists all commands, so that any other word in the place of a command is invalid.
    pub fn lists_all_commands(&self) -> bool {
        let text = self.text.to_lowercase();
        !self.interface.commands.is_empty()
            && self.interface.positional_for_command.is_none()
            && !MORE_COMMANDS.iter().any(|words| text.contains(words))
            && !text
                .lines()
                .any(|line| line.split_once("common ").is_some_and(|(_, rest)| rest.contains("commands")))
    }

    /// Returns whether the page contains a long flag, such as `--json`, anywhere in its text. True for `--help` and
    /// `--version` on every page.
    pub fn mentions_flag(&self, flag: &str) -> bool {
        let is_part = |char: char| char.is_alphanumeric() || char == '-' || char == '_';
        let names = |flag: &str| {
            self.text.match_indices(flag).any(|(at, _)| {
                !self.text[..at].ends_with(is_part) && !self.text[at + flag.len()..].starts_with(is_part)
            })
        };
        let negated = |name: &str| names(&format!("--[no-]{name}")) || names(&format!("--(no-){name}"));
        let name = flag.trim_start_matches("--no-").trim_start_matches("--");
        ["--help", "--version"].contains(&flag)
            || self.interface.has_option(flag)
            || names(flag)
            || negated(name)
    }

    /// Returns whether the usage of a command without subcommands shows exactly this number of positional arguments, so
    /// that one more is invalid.
    pub fn has_closed_usage(&self, positional: usize) -> bool {
        let arguments = self.interface.arguments.iter().filter(|argument| argument.option.is_none());
        let is_open = |form: &String| {
            let words = usage::words(form);
            words.iter().any(|word| word.contains("..") || matches!(usage::meaning(word), Meaning::Rest))
        };
        !self.usage.is_empty()
            && self.interface.commands.is_empty()
            && !self.usage.iter().any(is_open)
            && arguments.clone().all(|argument| argument.required)
            && arguments.count() == positional
    }

    /// Returns whether arguments after the positional ones can belong to another program, as in
    /// `run PROGRAM [ARGS]...`. If the page lists commands, arguments after their placeholder are those of the command
    /// instead.
    pub fn forwards_arguments(&self) -> bool {
        let has_commands = !self.interface.commands.is_empty();
        self.usage.iter().any(|form| {
            let words = usage::words(form);
            let mut after_command = false;
            words.iter().any(|word| {
                let meaning = usage::meaning(word);
                let is_command = matches!(meaning, Meaning::Command);
                let repeats = word.contains("..") && !(after_command && has_commands);
                after_command |= is_command;
                repeats && (is_command || matches!(meaning, Meaning::Rest))
            })
        })
    }
}
