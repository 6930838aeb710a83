//! Interfaces of programs: the commands, options and arguments that a program accepts. `agentnative contract lock`
//! stores the interface of a target in `interface.json`, and [`compare_interfaces`] finds the changes that break calls.

mod arguments;
mod compare;
mod comparer;
#[cfg(feature = "usage")]
mod file;
mod lookup;
pub(crate) mod model;
mod options;
mod renames;
mod shared;
#[cfg(feature = "usage")]
mod usage;
mod vanished;

pub use compare::{InterfaceComparison, compare_interfaces};
#[cfg(feature = "usage")]
pub use file::read_interface_file;
pub use model::{
    ArgumentInterface, CommandInterface, InterfaceReader, OptionInterface, ProgramInterface, is_short,
};
pub use vanished::{VanishedOption, vanished_commands, vanished_options};
