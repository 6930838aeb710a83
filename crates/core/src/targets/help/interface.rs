//! The interface of a target or of one of its commands, as a help page describes it.

use super::command::{Argument, Command};
use super::formats::{self, FormatArgs};
use super::layout::HelpPage;
use super::nested::{self, HelpCall};
use super::options::{self, CliOption, OptionChoices, OptionVariable};
use super::{arguments, commands, usage};

/// The interface of a target or of one of its commands, as a help page describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface {
    /// Commands in the order of the page, each name once.
    pub commands: Vec<Command>,
    /// Placeholder of a positional argument that can stand where a command could, such as `[prompt]`.
    pub positional_for_command: Option<String>,
    /// Options in the order of the page.
    pub options: Vec<CliOption>,
    /// Whether `-h` has another meaning than help.
    pub short_h_is_not_help: bool,
    /// Whether `--output` selects a format.
    pub output_is_format: bool,
    /// Arguments that probably select the formats.
    pub formats: FormatArgs,
    /// Arguments in the usage, up to the first word that stands for a subcommand.
    pub arguments: Vec<Argument>,
    /// Documented ways to request the help page of a subcommand, the best first.
    pub help_calls: Vec<HelpCall>,
}

impl Interface {
    /// Parses the bytes of the main help page of a target.
    pub fn parse(bytes: &[u8]) -> Self {
        Self::of_command(&HelpPage::parse(bytes), &[])
    }

    /// Interprets the help page of the subcommand `path`, or of the target itself if the path is empty.
    pub fn of_command(page: &HelpPage, path: &[&str]) -> Self {
        let mut options = options::parse(page);
        let (commands, positional_in_list) = commands::parse(page, path);
        let free_word = usage::free_positional(&page.usage, &commands).or(positional_in_list);
        let (mut operands, before_command) = arguments::of_command(page, path, !commands.is_empty());
        // A page that lists the command itself is shared by all commands, as with docopt.
        let lists = |commands: &[Command], name: &str| commands.iter().any(|command| command.name == name);
        let is_shared = path.first().is_some_and(|name| lists(&commands::parse(page, &[]).0, name));
        if is_shared {
            arguments::retain_options(&mut options, page, path);
        } else if !commands.is_empty() && !before_command {
            operands.clear(); // They belong to a call without a subcommand.
        }
        options::add_required(&options, &mut operands);
        Self {
            positional_for_command: free_word,
            short_h_is_not_help: options::other_short_help(&options),
            output_is_format: formats::output_is_format(&options),
            formats: formats::parse(&options),
            help_calls: nested::help_calls(page, &commands, &options),
            arguments: operands,
            commands,
            options,
        }
    }

    /// Returns whether the page shows an option of this name, such as `--json`.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.is_called(name))
    }

    /// Returns all names of the options with their dashes, in the order of the page, without duplicates.
    pub fn option_names(&self) -> Vec<String> {
        options::names(&self.options)
    }

    /// Returns the options whose allowed values the page lists, with one entry for each name of an option.
    pub fn choices(&self) -> Vec<OptionChoices> {
        options::choices(&self.options)
    }

    /// Returns the options that an environment variable can set, each by its longest name.
    pub fn env_flags(&self) -> Vec<OptionVariable> {
        options::env_flags(&self.options)
    }
}
