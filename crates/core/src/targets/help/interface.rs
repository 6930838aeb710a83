//! What a help page says of a target or of one of its commands.

use super::command::{Command, Operand};
use super::formats::{self, FormatArgs};
use super::layout::HelpPage;
use super::nested::{self, HelpCall};
use super::options::{self, Choices, CliOption, EnvFlag};
use super::{commands, operands, usage};

/// What a help page says of a target or of one of its commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its commands, in the order of the page, each name once.
    pub commands: Vec<Command>,
    /// The word of its usage that stands for a value where a command could stand, such as `[prompt]`.
    pub free_word: Option<String>,
    /// Its options, in the order of the page.
    pub options: Vec<CliOption>,
    /// `-h` is something else than help.
    pub other_short_help: bool,
    /// `--output` chooses a format.
    pub output_is_format: bool,
    /// The arguments that seem to ask for each format.
    pub formats: FormatArgs,
    /// What a call needs and takes, up to a subcommand.
    pub operands: Vec<Operand>,
    /// How the help of its commands is asked for, as the page says it; the best way first.
    pub nested: Vec<HelpCall>,
}

impl Interface {
    /// Reads the bytes of a target's own help page.
    pub fn parse(bytes: &[u8]) -> Self {
        Self::of_command(&HelpPage::read(bytes), &[])
    }

    /// Interprets the help page of the subcommand `path`; of the target itself where it is empty.
    pub fn of_command(page: &HelpPage, path: &[&str]) -> Self {
        let mut options = options::read(page);
        let (commands, among_commands) = commands::read(page, path);
        let free_word = usage::free_positional(&page.usage, &commands).or(among_commands);
        let (mut operands, before_command) = operands::of_page(page, path);
        // A page that lists the command itself is that of all commands, as docopt prints it.
        let lists = |commands: &[Command], name: &str| commands.iter().any(|command| command.name == name);
        let is_shared = path.first().is_some_and(|name| lists(&commands::read(page, &[]).0, name));
        if is_shared {
            operands::retain_options(&mut options, page, path);
        } else if !commands.is_empty() && !before_command {
            operands.clear(); // those of a call without a subcommand
        }
        options::add_required(&options, &mut operands);
        Self {
            free_word,
            other_short_help: options::other_short_help(&options),
            output_is_format: formats::output_is_format(&options),
            formats: formats::read(&options),
            nested: nested::calls(page, &commands),
            operands,
            commands,
            options,
        }
    }

    /// Whether it shows an option of this name.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.is_called(name))
    }

    /// The names of its options with their dashes, in the order of the page, each once.
    pub fn option_names(&self) -> Vec<String> {
        options::names(&self.options)
    }

    /// The options whose values it lists, under each of their names.
    pub fn choices(&self) -> Vec<Choices> {
        options::choices(&self.options)
    }

    /// The options that it shows with a variable, by their longest names.
    pub fn env_flags(&self) -> Vec<EnvFlag> {
        options::env_flags(&self.options)
    }
}
