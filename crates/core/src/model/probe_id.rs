//! The identity of a probe, which does not depend on its name in reports.

use crate::model::OutputFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of derived call. All are harmless: agentnative does not guess commands of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DerivedKind {
    /// `--help`.
    Help,
    /// `-h`, unless the help gives it another meaning.
    HelpShort,
    /// `COMMAND --help` for each command of the declared probes.
    CommandHelp,
    /// `--version`.
    Version,
    /// The target with an unknown flag.
    UnknownFlag,
    /// An unknown command; only for targets whose help lists commands.
    UnknownCommand,
    /// A declared probe without a format flag.
    NoFormat,
    /// A declared probe with an invalid format.
    InvalidFormat,
    /// A declared probe with an unknown flag: shows whether the target ignores unknown flags.
    IgnoredFlag,
    /// A declared probe with an invalid value of an option whose values the help lists.
    InvalidValue,
    /// A declared probe with `--json` or `--jsonl`.
    Alias,
    /// A declared probe with `--raw`.
    Raw,
    /// A declared probe in CSV, TSV and YAML.
    MoreFormats,
    /// A declared probe that prints a list, with a limit of 1, 2 and one more than its maximum.
    Limit,
    /// A declared probe with the option that prints only data and errors.
    Quiet,
    /// A declared probe with the option that disables prompts.
    NoInput,
    /// A declared probe with the option that disables the pager, after and before its arguments.
    NoPager,
    /// A declared probe with a common option before its arguments; if it declares a flag position, also with the format
    /// flag after its arguments.
    GlobalFlag,
    /// The calls that print completion scripts for bash, zsh and fish.
    Completions,
    /// A declared probe with an option that a variable can replace, and with that variable instead.
    EnvFlag,
    /// A declared probe that changes something, with the option that only shows what it would change.
    DryRun,
    /// A declared probe that destroys something, without its confirmation.
    Unconfirmed,
    /// A declared probe that changes something, with its confirmation if it needs one.
    Confirmed,
    /// The same call again in the same folder.
    Again,
    /// A long-running declared probe, interrupted by SIGTERM.
    Interrupted,
    /// The same call after an interrupted one, in the same folder.
    After,
    /// A long-running declared probe, interrupted by SIGINT.
    Sigint,
    /// A declared probe that sends a request to a server that never answers, with a time limit of one second.
    Timeout,
    /// The same call with an unknown flag.
    InvalidRequest,
    /// The same call without the secret that it needs.
    AnonymousRequest,
    /// A declared probe that needs the secret, passed in a file.
    SecretFile,
    /// A declared probe that needs the secret, passed on stdin.
    SecretStdin,
    /// A declared probe that needs the secret, with the option that prints more details.
    Verbose,
    /// An example in the help with an unknown flag; only for commands of the declared probes.
    Example,
    /// The command that installs the instructions for agents.
    BundleInstall,
    /// The command that prints the schema.
    Schema,
    /// A declared probe with the format flag in the flag position in which the target rejects it.
    Refused,
}

/// The identity of a probe. Probes with different calls have different identities, even if their names are equal. The
/// selection of checks does not change an identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProbeId {
    /// A probe that the configuration or the command line declares, by its name.
    Declared(String),
    /// A call that is derived from the target or from a declared probe.
    Derived {
        /// The kind of the derived call.
        kind: DerivedKind,
        /// Name of the declared probe that it is derived from; `None` for a call of the target itself.
        #[serde(default, rename = "from", skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// The case, which distinguishes the calls of one kind and source.
        #[serde(default, skip_serializing_if = "Case::is_only")]
        case: Case,
    },
    /// A call that exploration found, by its arguments.
    Explored {
        /// The arguments.
        explored: Vec<String>,
    },
}

/// Distinguishes the derived calls of one kind and source.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// The only call of its kind and source.
    #[default]
    Only,
    /// With this format.
    Format(OutputFormat),
    /// With this limit of a list.
    Limit(u64),
    /// With these words: a command, an example, an option after the arguments, or a shell.
    Words(Vec<String>),
    /// With these words before the arguments.
    InFront(Vec<String>),
    /// With the option that this environment variable replaces.
    OptionOf(String),
    /// With this environment variable set to this value.
    Variable(String, String),
}

impl Case {
    fn is_only(&self) -> bool {
        *self == Self::Only
    }

    /// Returns the case of these words.
    pub fn words(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::Words(words.into_iter().map(Into::into).collect())
    }
}

impl ProbeId {
    /// Returns the identity of a declared probe.
    pub fn declared(name: impl Into<String>) -> Self {
        Self::Declared(name.into())
    }

    /// Returns the identity of a derived call that is the only one of its kind and source.
    pub const fn derived(kind: DerivedKind, from: Option<String>) -> Self {
        Self::Derived { kind, source: from, case: Case::Only }
    }

    /// Returns the kind of a derived call.
    pub const fn kind(&self) -> Option<DerivedKind> {
        match self {
            Self::Derived { kind, .. } => Some(*kind),
            Self::Declared(_) | Self::Explored { .. } => None,
        }
    }

    /// Returns the name of the declared probe that a derived call comes from.
    pub fn from(&self) -> Option<&str> {
        match self {
            Self::Derived { source: from, .. } => from.as_deref(),
            Self::Declared(_) | Self::Explored { .. } => None,
        }
    }
}
