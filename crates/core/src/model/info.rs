//! The inputs of a check as reports describe them: the target and the configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The target of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetInfo {
    /// Name in reports: the configured name, else that of the program.
    pub name: String,
    /// Absolute path of the program, and the arguments before those of a probe; empty if only the code was read.
    pub command: Vec<String>,
    /// Folder of the project, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<String>,
}

/// The configuration of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigInfo {
    /// Name of the file; null without a configuration file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// Digest of the bytes of that file: `xxh128:` and 32 hexadecimal digits, as `xxh128sum` prints them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
    /// Options of the command line that add to the file or override it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub overrides: Vec<String>,
}
