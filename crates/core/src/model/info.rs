//! The inputs of a check as reports describe them: the target and the configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The target that a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetInfo {
    /// Name of the target in reports: the configured name, else the name of the program.
    pub name: String,
    /// Absolute path of the program, and the arguments that precede those of each probe. Empty if only the code was
    /// read.
    pub command: Vec<String>,
    /// Folder of the project that contains the target, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<String>,
}

/// The configuration that a check used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigInfo {
    /// Name of the configuration file; null without one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// Digest of the bytes of the configuration file: `xxh128:` and 32 hexadecimal digits, as `xxh128sum` prints them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
    /// Options of the command line that add to the configuration or override it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub overrides: Vec<String>,
}
