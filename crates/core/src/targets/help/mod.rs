//! Parses help pages: the commands, options and arguments of a target. The parser is heuristic and does not know which
//! library wrote the text (argparse, clap, click, cobra, commander, docopt, fire, oclif, typer, yargs) or whether a
//! person did. `HelpPage` splits a page into its usage and its sections; `Interface` interprets them.

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
