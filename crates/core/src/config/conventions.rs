//! The conventions of a command line: how common things are asked for, and what exit codes mean.

use super::{Asking, Flags, Formats};
use crate::model::{OutputFormat, Stream};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The conventions of a target's command line, as far as judging needs them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conventions {
    /// How each format is asked for.
    pub formats: Formats,
    /// The format that comes without a flag.
    #[serde(default)]
    pub default_format: OutputFormat,
    /// How its common options are spelt.
    #[serde(default)]
    pub flags: Flags,
    /// Where the error object of a JSON mode goes.
    pub errors: Stream,
    /// The exit codes that it has, sorted.
    pub exit_codes: Vec<i32>,
    /// Whether the configuration or a contract declares others than usual; an older recording does not tell.
    #[serde(default = "yes")]
    pub exit_codes_declared: bool,
    /// Its exit code for wrong calls.
    #[serde(default = "usage")]
    pub usage: i32,
    /// The arguments that print the schema of its output, or that nothing does; null in older recordings where that is
    /// not declared.
    #[serde(default, deserialize_with = "undeclared_if_null")]
    pub schema: Asking,
    /// What it has nothing of.
    #[serde(default, rename = "lacks_features", skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Feature>,
    /// The arguments that print a completion script, with [`SHELL_PLACE`](super::SHELL_PLACE), or that it prints none.
    #[serde(default)]
    pub completions: Asking,
    /// The arguments that install its instructions for agents, or that nothing does.
    #[serde(default)]
    pub bundle_install: Asking,
    /// Where it looks for its configuration, below the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_file: Option<String>,
    /// How it is given its secret; none where that is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretConfig>,
    /// Options with the variables that stand for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_flags: BTreeMap<String, String>,
}

const fn yes() -> bool {
    true
}

/// The usual exit code for wrong calls.
const fn usage() -> i32 {
    2
}

fn undeclared_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Asking, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Default for Conventions {
    /// Every format with its default flag, and the exit codes of principle 2.
    fn default() -> Self {
        Self {
            formats: Formats::default(),
            default_format: OutputFormat::Text,
            flags: Flags::default(),
            errors: Stream::Stderr,
            exit_codes: vec![0, 1, usage(), 77, 78],
            exit_codes_declared: false,
            usage: usage(),
            schema: Asking::Undeclared,
            lacks: Vec::new(),
            completions: Asking::Undeclared,
            bundle_install: Asking::Undeclared,
            config_file: None,
            secret: None,
            env_flags: BTreeMap::new(),
        }
    }
}

/// What some targets have and others have nothing of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Commands that change something.
    Changes,
    /// Lists that grow with the data.
    Lists,
    /// Calls that work for a while and can be interrupted.
    LongRunning,
    /// Signing in.
    Login,
    /// Requests over the network.
    Network,
    /// Secrets that it is given: tokens, passwords.
    Secret,
}

impl Feature {
    /// All of them, with their names in the file.
    pub const NAMED: [(&'static str, Self); 6] = [
        ("changes", Self::Changes),
        ("lists", Self::Lists),
        ("login", Self::Login),
        ("long-running", Self::LongRunning),
        ("network", Self::Network),
        ("secret", Self::Secret),
    ];

    /// Its name in the file.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, feature)| *feature == self).map_or("", |(name, _)| name)
    }
}

/// The ways in which a target is given a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretConfig {
    /// By this variable.
    pub env: String,
    /// By a file: the arguments with `{file}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Vec<String>>,
    /// By standard input: the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Vec<String>>,
}
