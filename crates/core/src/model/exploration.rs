//! The exploration of a target: calls that agentnative finds by itself, from help pages and examples.

use super::{DerivedKind, OutputFormat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A group of explored calls. The groups are explored in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallGroup {
    /// A command that needs no arguments, as it is; and the help page of a command.
    Commands,
    /// An example from the help, the manual page or the README.
    Examples,
    /// A command with values for its required arguments.
    Arguments,
    /// A call that succeeded, in each format that its help lists.
    Formats,
    /// A call with an unknown option, an invalid value, or an argument too few or too many.
    Invalid,
    /// A call with a value that a language model may invent, such as `../../x` or a control character.
    Hallucinated,
    /// A call with an option that has a known meaning, such as `--dry-run`.
    Options,
}

/// How an explored call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    /// The call exited with 0, and printed something or changed its workspace.
    Succeeded,
    /// The call exited with 0, and neither printed nor changed anything.
    Silent,
    /// The call exited with 0, although its arguments are invalid or were invented.
    Accepted,
    /// The call has invalid arguments and was rejected, as it should be.
    Invalid,
    /// The call failed with a message on stderr and nothing on stdout, such as without a login or a repository.
    Refused,
    /// The call failed in another way. The exit code may be a result, as with `grep`.
    Unexplained,
    /// The call failed because it has no network.
    NotReachable,
    /// The call did not end within its time limit, or waited for input.
    TimedOut,
    /// A signal or a limit of the runs ended the call.
    Died,
    /// The call was not made: a limit of the exploration came first.
    NotMade,
}

impl CallOutcome {
    /// Returns the outcome in words, such as `not reachable`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Silent => "silent",
            Self::Accepted => "accepted",
            Self::Invalid => "invalid",
            Self::Refused => "refused",
            Self::Unexplained => "unexplained",
            Self::NotReachable => "not reachable",
            Self::TimedOut => "timed out",
            Self::Died => "died",
            Self::NotMade => "not made",
        }
    }
}

/// The origin of an explored call. Calls that are derived from it have the same origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExploredOrigin {
    /// Words of the command that is called; empty for the target itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Group of the call.
    pub group: CallGroup,
    /// How the call ended, without a format flag.
    pub outcome: CallOutcome,
    /// Whether the call was selected to run under all conditions. Any other call has only its plain run.
    #[serde(default, rename = "kept", skip_serializing_if = "std::ops::Not::not")]
    pub is_kept: bool,
    /// Whether the command only reads, judging by its name and description.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_reads: bool,
    /// The invalid word of a call of the group [`CallGroup::Invalid`]; `None` if the call lacks a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// Documented values of the option that got an invalid one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// What was found and tried in the exploration of a target, without the calls, which are probes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exploration {
    /// Commands without subcommands, in the order of the help pages; the target itself if it has no commands.
    pub commands: Vec<FoundCommand>,
    /// The formats that no help page lists and that the target rejects or ignores, each with the name of a call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub absent_formats: BTreeMap<OutputFormat, String>,
    /// The features that no help page lists and whose calls the target rejects, each with the name of a rejected call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub absent_features: BTreeMap<DerivedKind, String>,
    /// Maximum number of calls.
    pub budget: usize,
    /// Number of calls that were made, without those of help pages.
    pub made: usize,
    /// Why the exploration ended early, such as a time limit. Nothing passes on explored calls then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Notes for the report, such as on help pages that were not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A command that the help pages of an explored target list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundCommand {
    /// Words of the command; empty for the target itself.
    pub words: Vec<String>,
    /// The names of each option on the page of the command, such as `["-l", "--limit"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Vec<String>>,
    /// Why the command was not called; `None` if it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_called: Option<String>,
    /// Whether the target rejects the command as unknown, although its help lists it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unknown: bool,
}

impl Exploration {
    /// Returns the number of commands that could be called: without those that the target does not know and those that
    /// the configuration excludes.
    pub fn callable(&self) -> usize {
        self.commands.iter().filter(|command| !command.is_unknown && command.not_called.is_none()).count()
    }
}

/// The commands and options of a target that its exploration found and tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorationCoverage {
    /// At least half of the commands have a call that succeeded or was refused.
    pub sufficient: bool,
    /// Why the exploration ended early; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub incomplete: Option<String>,
    /// Number of commands without subcommands.
    pub commands: CommandCounts,
    /// Number of options on the help pages of these commands.
    pub options: OptionCounts,
    /// Number of explored calls.
    pub calls: CallCounts,
    /// Number of explored calls that run under all conditions.
    pub kept: usize,
    /// The commands that were not called.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_reached: Vec<MissedCommand>,
    /// The commands that were called.
    pub by_command: Vec<CommandCoverage>,
    /// Further information on the exploration, such as on help pages that were not read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// Number of commands that an exploration found and called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandCounts {
    /// Commands that the help pages list.
    pub found: usize,
    /// Commands that were called.
    pub called: usize,
    /// Commands with a call that succeeded.
    pub succeeded: usize,
    /// Commands that the target rejects as unknown.
    pub unknown: usize,
}

/// Number of options that an exploration found and tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionCounts {
    /// Options that the help pages list.
    pub found: usize,
    /// Options that occur in a call of their command.
    pub tried: usize,
}

/// Number of explored calls, and of those with each outcome. A call in a further format is counted only in `made`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallCounts {
    /// Calls that were made, without those of help pages.
    pub made: usize,
    /// Maximum number of calls.
    pub budget: usize,
    /// Calls that exited with 0, and printed or changed something.
    pub succeeded: usize,
    /// Calls with invalid arguments that were rejected.
    pub invalid: usize,
    /// Other calls that failed with a message, such as without a login.
    pub refused: usize,
    /// Calls that failed without a network.
    pub not_reachable: usize,
    /// Calls that exceeded their time limit or waited for input.
    pub timed_out: usize,
    /// Calls with another outcome, such as one that was killed by a signal.
    pub other: usize,
}

/// A command that an exploration did not call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissedCommand {
    /// The words of the command; empty for the target itself.
    pub command: String,
    /// Why the command was not called.
    pub reason: String,
}

/// What an exploration tried of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandCoverage {
    /// The words of the command; empty for the target itself.
    pub command: String,
    /// Number of explored calls of the command.
    pub calls: usize,
    /// The best outcome of these calls.
    pub outcome: CallOutcome,
    /// Number of options on the help page of the command.
    pub options: OptionCounts,
    /// Formats of the calls.
    pub formats: Vec<OutputFormat>,
    /// Groups of the calls.
    pub groups: Vec<CallGroup>,
}
