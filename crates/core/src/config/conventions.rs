//! The conventions of a command line: format flags, common options, exit codes and other spellings.

use super::{CommonOptions, FormatFlag, FormatFlags};
use crate::model::{OutputFormat, Stream};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// How the command line of a target spells options and uses streams and exit codes. The checks judge runs by these
/// conventions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conventions {
    /// The arguments that select each format.
    pub formats: FormatFlags,
    /// The format that the target prints without a format flag.
    #[serde(default)]
    pub default_format: OutputFormat,
    /// The arguments that spell the common options.
    #[serde(default)]
    pub flags: CommonOptions,
    /// The stream to which the target writes its error object in a JSON format.
    pub errors: Stream,
    /// The exit codes that the target can return, sorted.
    pub exit_codes: Vec<i32>,
    /// Whether the configuration or a contract declares exit codes other than the default ones. True for an older
    /// recording, which does not contain this field.
    #[serde(default = "default_true")]
    pub exit_codes_declared: bool,
    /// The exit code of the target for invalid usage, such as an unknown option.
    #[serde(default = "default_usage")]
    pub usage: i32,
    /// The arguments of the call that prints the JSON Schema of the output, such as `schema`. Older recordings contain
    /// null if nothing is declared.
    #[serde(default, deserialize_with = "undeclared_if_null")]
    pub schema: FormatFlag,
    /// The features that the configuration declares as missing.
    #[serde(default, rename = "lacks_features", skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Feature>,
    /// The arguments of the call that prints a completion script. They contain
    /// [`SHELL_PLACEHOLDER`](super::SHELL_PLACEHOLDER), such as `completions {shell}`.
    #[serde(default)]
    pub completions: FormatFlag,
    /// The arguments of the call that installs the target's instructions for agents.
    #[serde(default)]
    pub bundle_install: FormatFlag,
    /// Path of the target's own configuration file, relative to the home folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_file: Option<String>,
    /// How the target receives its secret, such as a token; `None` if this is not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretConfig>,
    /// Options, such as `--quiet`, each with the name of the environment variable that can replace it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_flags: BTreeMap<String, String>,
    /// The version of the target that the configuration describes, or the beginning of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
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
    /// Returns the conventions of a target that declares none: all formats with the format flag `--output FORMAT`, and
    /// the exit codes of principle 2.
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
            version: None,
        }
    }
}

/// A feature that a configuration can declare as missing, with the key `lacks`.
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
    /// All features, with their names in the configuration.
    pub const NAMED: [(&'static str, Self); 6] = [
        ("changes", Self::Changes),
        ("lists", Self::Lists),
        ("login", Self::Login),
        ("long-running", Self::LongRunning),
        ("network", Self::Network),
        ("secret", Self::Secret),
    ];

    /// Returns the name of the feature in the configuration, such as `long-running`.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, feature)| *feature == self).map_or("", |(name, _)| name)
    }
}

/// How a target receives its secret, such as a token or a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretConfig {
    /// The environment variable that contains the secret.
    pub env: String,
    /// The arguments that pass the secret in a file; `{file}` stands for the path of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Vec<String>>,
    /// The arguments with which the target reads the secret from stdin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Vec<String>>,
}
