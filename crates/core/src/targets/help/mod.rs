//! Reads a target's help pages: which commands, options and arguments it has. A guess, made without knowing the
//! library that wrote the text (argparse, clap, click, cobra, commander, docopt, fire, oclif, typer, yargs, or a
//! person). A page is cut into its usage and its sections once (`HelpPage`); an `Interface` is what follows from it.

mod boxes;
mod command;
mod commands;
mod examples;
mod exit_codes;
mod formats;
mod interface;
mod layout;
mod nested;
mod operands;
mod options;
mod page;
mod usage;

pub use command::{Command, Operand};
pub use examples::{Example, Names};
pub use exit_codes::documented_exit_codes;
pub use formats::FormatArgs;
pub use interface::Interface;
pub use layout::HelpPage;
pub use nested::HelpCall;
pub use options::{Choices, CliOption, EnvFlag};
pub use page::Page;
