//! Settings of the tools: whether they are offered to the model, how their calls are approved, and which tools are
//! available.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Whether tools are offered to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsMode {
    /// Offer tools, unless the model does not support them.
    #[default]
    Auto,
    /// Offer tools; fail if the model does not support them.
    On,
    /// Offer no tools.
    Off,
}

/// How calls of tools that change something are approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalMode {
    /// Ask the user at the terminal.
    Ask,
    /// Approve all calls.
    #[default]
    Auto,
    /// Reject all calls.
    Never,
}

/// The set of tools that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Tools that read.
    Safe,
    /// Also tools that write.
    #[default]
    Framework,
    /// Also `run_command`.
    Dev,
}

/// Returns the name that an enum value has on the command line, such as `auto`.
pub fn value_name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
