//! The types of an interface.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the format of `interface.json`.
const VERSION: u32 = 1;

/// The interface of a program. What is absent is not stated by the source of the interface, such as a help page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "The interface of a program")]
pub struct ProgramInterface {
    /// Version of the format: 1.
    #[serde(default = "current_version")]
    #[schemars(extend("const" = VERSION))]
    interface: u32,
    /// The commands by their words, such as `remote add`. The empty name stands for the program itself.
    pub commands: BTreeMap<String, CommandInterface>,
}

/// The interface of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CommandInterface {
    /// How the options and arguments were read; absent if only the name of the command is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<InterfaceReader>,
    /// Description of the command.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Other names of the command: its last word.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub aliases: BTreeSet<String>,
    /// True if the help does not list the command.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// True if the command is deprecated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// The options by their first long name, else by their short name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, OptionInterface>,
    /// The global options of the commands above that this command does not have.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub without: BTreeSet<String>,
    /// The positional arguments in their order; absent if the usage has several forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<ArgumentInterface>>,
    /// Options, and last words of subcommands, that vanished from the help, and for which a call shows neither that they
    /// are accepted nor rejected.
    #[serde(skip)]
    pub unclear: BTreeSet<String>,
    /// The exit codes with their meaning; the meaning of a code is empty if only a probe shows the code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub exit_codes: BTreeMap<String, String>,
}

/// An option of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OptionInterface {
    /// Further long names.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub long: BTreeSet<String>,
    /// Short names.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub short: BTreeSet<String>,
    /// Description of the option.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Name of the value; absent if the option takes no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// True if the value can be omitted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub value_optional: bool,
    /// The allowed values; empty if they are not listed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub values: BTreeSet<String>,
    /// Values that the help does not list, and that the command accepts.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub hidden_values: BTreeSet<String>,
    /// The default value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether each call needs the option. If absent, the option can be omitted if the command was read from a
    /// specification or from a help page of argparse, clap or click; else it is not stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Whether the option can be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeatable: Option<bool>,
    /// True if all commands below have the option, except those that list it in `without`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub global: bool,
    /// True if the help does not list the option, but the command accepts it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// True if the option is deprecated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// The environment variable that sets the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
}

/// A positional argument of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArgumentInterface {
    /// Name of the argument.
    pub name: String,
    /// True if each call needs the argument.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// True if the argument can be repeated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// The allowed values; empty if they are not listed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub values: BTreeSet<String>,
}

/// The source of the options and arguments of a command: a specification, a completion script, or the style of its
/// help page, which is that of an argument parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceReader {
    /// A help page of argparse.
    Argparse,
    /// A help page of cac.
    Cac,
    /// A help page of clap.
    Clap,
    /// A help page of click or typer.
    Click,
    /// A help page of cobra.
    Cobra,
    /// A help page of commander.
    Commander,
    /// A completion script.
    Completion,
    /// A help page of fire.
    Fire,
    /// A help page of oclif.
    Oclif,
    /// A help page of another style.
    Plain,
    /// A specification in the format of `usage`.
    Usage,
    /// A help page of yargs.
    Yargs,
}

impl InterfaceReader {
    /// Returns the name of the reader in `interface.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Argparse => "argparse",
            Self::Cac => "cac",
            Self::Clap => "clap",
            Self::Click => "click",
            Self::Cobra => "cobra",
            Self::Commander => "commander",
            Self::Completion => "completion",
            Self::Fire => "fire",
            Self::Oclif => "oclif",
            Self::Plain => "plain",
            Self::Usage => "usage",
            Self::Yargs => "yargs",
        }
    }
}

impl InterfaceReader {
    /// Returns whether the reader marks each option that a call needs, so that all others can be omitted.
    pub const fn states_required(self) -> bool {
        matches!(self, Self::Argparse | Self::Clap | Self::Click | Self::Usage)
    }
}

impl ProgramInterface {
    /// Creates an interface with these commands.
    pub const fn new(commands: BTreeMap<String, CommandInterface>) -> Self {
        Self { interface: VERSION, commands }
    }
}

impl OptionInterface {
    /// Returns all names of the option; `name` is its key in [`CommandInterface::options`].
    pub fn names<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        std::iter::once(name).chain(self.long.iter().chain(&self.short).map(String::as_str))
    }

    /// Returns a value that the option probably accepts.
    pub fn any_value(&self) -> &str {
        self.values.first().or(self.default.as_ref()).map_or("1", String::as_str)
    }
}

/// Returns whether an option name is a short one, such as `-q`.
pub fn is_short(name: &str) -> bool {
    !name.starts_with("--") && name.chars().count() == 2
}

const fn current_version() -> u32 {
    VERSION
}
