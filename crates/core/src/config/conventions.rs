//! The conventions of a command line: format flags, common options, exit codes and other spellings.

use super::{CommonOptions, FormatFlag, FormatFlags};
use crate::model::{OutputFormat, Stream};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The conventions of a target's command line that judging needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conventions {
    /// The format flags.
    pub formats: FormatFlags,
    /// The format of the output without a format flag.
    #[serde(default)]
    pub default_format: OutputFormat,
    /// The spelling of the common options.
    #[serde(default)]
    pub flags: CommonOptions,
    /// The stream that gets the error object in a JSON format.
    pub errors: Stream,
    /// The exit codes of the target, sorted.
    pub exit_codes: Vec<i32>,
    /// Whether the configuration or a contract declares exit codes other than the default; true for an older recording,
    /// which does not contain this.
    #[serde(default = "default_true")]
    pub exit_codes_declared: bool,
    /// The exit code for invalid usage.
    #[serde(default = "default_usage")]
    pub usage: i32,
    /// The arguments that print the schema of the output, or that there are none. Older recordings contain null if
    /// nothing is declared.
    #[serde(default, deserialize_with = "undeclared_if_null")]
    pub schema: FormatFlag,
    /// The features that the target does not have.
    #[serde(default, rename = "lacks_features", skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Feature>,
    /// The arguments that print a completion script, with [`SHELL_PLACEHOLDER`](super::SHELL_PLACEHOLDER), or that there are none.
    #[serde(default)]
    pub completions: FormatFlag,
    /// The arguments that install the target's instructions for agents, or that there are none.
    #[serde(default)]
    pub bundle_install: FormatFlag,
    /// Path of the target's configuration file, relative to the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_file: Option<String>,
    /// How the target receives its secret; `None` if that is not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretConfig>,
    /// Options, each with the environment variable that can replace it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_flags: BTreeMap<String, String>,
}

const fn default_true() -> bool {
    true
}

/// The default exit code for invalid usage.
const fn default_usage() -> i32 {
    2
}

fn undeclared_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FormatFlag, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Default for Conventions {
    /// All formats with the default format flag, and the exit codes of principle 2.
    fn default() -> Self {
        Self {
            formats: FormatFlags::default(),
            default_format: OutputFormat::Text,
            flags: CommonOptions::default(),
            errors: Stream::Stderr,
            exit_codes: vec![0, 1, default_usage(), 77, 78],
            exit_codes_declared: false,
            usage: default_usage(),
            schema: FormatFlag::Unspecified,
            lacks: Vec::new(),
            completions: FormatFlag::Unspecified,
            bundle_install: FormatFlag::Unspecified,
            config_file: None,
            secret: None,
            env_flags: BTreeMap::new(),
        }
    }
}

/// A feature that not every target has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Commands that change something.
    Changes,
    /// Commands that print lists which grow with the data.
    Lists,
    /// Commands that run for a while and can be interrupted.
    LongRunning,
    /// A login.
    Login,
    /// Requests over the network.
    Network,
    /// Secrets that the target needs, such as tokens and passwords.
    Secret,
}

impl Feature {
    /// All features, with their names in the file.
    pub const NAMED: [(&'static str, Self); 6] = [
        ("changes", Self::Changes),
        ("lists", Self::Lists),
        ("login", Self::Login),
        ("long-running", Self::LongRunning),
        ("network", Self::Network),
        ("secret", Self::Secret),
    ];

    /// Returns the name in the file.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, feature)| *feature == self).map_or("", |(name, _)| name)
    }
}

/// The ways in which a target receives its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretConfig {
    /// The environment variable.
    pub env: String,
    /// The arguments that pass it in a file, with `{file}` for the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Vec<String>>,
    /// The arguments that pass it on stdin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Vec<String>>,
}
