//! The identity of a probe, which does not depend on its name in reports.

use crate::model::OutputFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of derived call, which agentnative makes in addition to the declared probes. All kinds are harmless:
/// agentnative does not guess commands of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DerivedKind {
    /// The target with `--help`.
    Help,
    /// The target with `-h`, unless its help gives `-h` another meaning.
    HelpShort,
    /// `COMMAND --help`, for each command that a declared probe calls.
    CommandHelp,
    /// The target with `--version`.
    Version,
    /// The target with an unknown flag.
    UnknownFlag,
    /// The target with an unknown command, if its help lists commands.
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
    /// A declared probe with a common option before its arguments. If the probe declares the position of the format
    /// flag, also with this flag after its arguments.
    GlobalFlag,
    /// The calls that print completion scripts for bash, zsh and fish.
    Completions,
    /// A declared probe with an option that an environment variable can replace, and with this variable instead.
    EnvFlag,
    /// A declared probe that changes something, with the option that only shows what it would change.
    DryRun,
    /// A declared probe that destroys something, without the option that confirms it.
    Unconfirmed,
    /// A declared probe that changes something, with the option that confirms it if it needs one.
    Confirmed,
    /// A declared probe that changes something, called a second time in the same folder.
    Again,
    /// A declared probe that changes something, called twice at the same time in the same folder.
    Concurrent,
    /// A long-running declared probe, interrupted by SIGTERM.
    Interrupted,
    /// A long-running declared probe, called in the folder in which SIGTERM interrupted it before.
    After,
    /// A long-running declared probe, interrupted by SIGINT.
    Sigint,
    /// A declared probe that sends a request to a server that never answers, with a time limit of one second.
    Timeout,
    /// A declared probe that sends a request to a server that never answers, with an unknown flag.
    InvalidRequest,
    /// A declared probe that sends a request to a server that never answers, without the secret that it needs.
    AnonymousRequest,
    /// A declared probe that needs the secret, passed in a file.
    SecretFile,
    /// A declared probe that needs the secret, passed on stdin.
    SecretStdin,
    /// A declared probe that needs the secret, with the option that prints more details.
    Verbose,
    /// An example from the help with an unknown flag, if a declared probe calls the same command.
    Example,
    /// The command that installs the instructions for agents.
    BundleInstall,
    /// The help pages of all subcommands, for the lock of the interface.
    Interface,
    /// An option that vanished from a help page, with an unknown flag: shows whether the target still accepts it.
    VanishedOption,
    /// The command that prints the schema.
    Schema,
    /// A declared probe with the format flag at a position at which the target rejects it.
    Refused,
}

/// The identity of a probe, which does not depend on the selected checks. Probes with different calls have different
/// identities, even if their names are equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProbeId {
    /// A probe that the configuration or `--probe` declares, identified by its name.
    Declared(String),
    /// A derived call: a variation of a declared probe, or a call of the target itself.
    Derived {
        /// The kind of the derived call.
        kind: DerivedKind,
        /// Name of the declared probe that the call is derived from; `None` for a call of the target itself.
        #[serde(default, rename = "from", skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// The case, which distinguishes calls of the same kind and source.
        #[serde(default, skip_serializing_if = "Case::is_only")]
        case: Case,
    },
    /// A call that the exploration of the target's commands found, identified by its arguments.
    Explored {
        /// The arguments of the call.
        explored: Vec<String>,
        /// Name of the sample on stdin; `None` without input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<String>,
    },
}

/// What distinguishes derived calls of the same kind that come from the same declared probe.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// The only call of its kind and source.
    #[default]
    Only,
    /// The call in this format.
    Format(OutputFormat),
    /// The call with this limit for the items of a list.
    Limit(u64),
    /// The call with these words: a command, an example, an option after the arguments, or the name of a shell.
    Words(Vec<String>),
    /// The call with these words before its arguments.
    InFront(Vec<String>),
    /// The call with the option that this environment variable replaces.
    OptionOf(String),
    /// The call with this environment variable (first) set to this value (second).
    Variable(String, String),
    /// The call with an option, and with this environment variable set to another value than that of the option.
    OptionOver(String),
}

impl Case {
    fn is_only(&self) -> bool {
        *self == Self::Only
    }

    /// Creates a case that is identified by these words.
    pub fn words(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::Words(words.into_iter().map(Into::into).collect())
    }
}

impl ProbeId {
    /// Returns the identity of the declared probe with this name.
    pub fn declared(name: impl Into<String>) -> Self {
        Self::Declared(name.into())
    }

    /// Returns the identity of the only call of a kind that is derived from the declared probe `from`. `None` stands
    /// for a call of the target itself.
    pub const fn derived(kind: DerivedKind, from: Option<String>) -> Self {
        Self::Derived { kind, source: from, case: Case::Only }
    }

    /// Returns the kind of a derived call; `None` for any other probe.
    pub const fn kind(&self) -> Option<DerivedKind> {
        match self {
            Self::Derived { kind, .. } => Some(*kind),
            Self::Declared(_) | Self::Explored { .. } => None,
        }
    }

    /// Returns the name of the declared probe that a derived call comes from. `None` for a call of the target itself,
    /// and for a probe that is not derived.
    pub fn from(&self) -> Option<&str> {
        match self {
            Self::Derived { source: from, .. } => from.as_deref(),
            Self::Declared(_) | Self::Explored { .. } => None,
        }
    }
}
