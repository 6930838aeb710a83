//! Parses help pages: the commands, options and arguments of a target. The parser is heuristic and does not know which
//! library wrote the text (argparse, clap, click, cobra, commander, docopt, fire, oclif, typer, yargs) or whether a
//! person did. `HelpPage` splits a page into its usage and its sections; `Interface` interprets them.

mod arguments;
mod boxes;
mod command;
mod commands;
mod described;
mod examples;
mod exit_codes;
mod formats;
mod interface;
mod layout;
mod nested;
mod options;
mod page;
mod style;
mod usage;

pub use command::{Argument, Command};
pub use described::described_command;
pub(crate) use described::{is_deprecated, listed_aliases};
pub use examples::{Example, META_ARGUMENTS, TargetNames, is_path};
pub use exit_codes::{documented_exit_codes, exit_code_meanings};
pub use formats::FormatArgs;
pub use interface::Interface;
pub use layout::HelpPage;
pub use nested::HelpCall;
pub use options::{CliOption, OptionChoices, OptionVariable};
pub use page::CommandPage;
