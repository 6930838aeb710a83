//! Common options, such as quiet and dry run, and how a target or probe spells them (`--quiet`, `-q`).

use super::formats::FormatFlag;
use super::section::Section;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// An option that many tools have under different spellings, such as quiet (`--quiet`, `-q`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommonOption {
    /// Prints only data and errors.
    Quiet,
    /// Limits the number of printed items.
    Limit,
    /// Disables prompts.
    NoInput,
    /// Disables the pager.
    NoPager,
    /// Shows what a call would change, without changing it.
    DryRun,
    /// Confirms a destructive call.
    Confirm,
    /// Limits the duration of a call.
    Timeout,
    /// Prints more details.
    Verbose,
}

/// A common option: its key in the configuration, its default arguments (empty if it has none), and the placeholder for
/// its value in these arguments.
type FlagRow = (&'static str, &'static [&'static str], Option<&'static str>);

impl CommonOption {
    /// All common options, in the order in which the documentation lists them.
    pub const ALL: [Self; 8] = [
        Self::Quiet,
        Self::Limit,
        Self::NoInput,
        Self::NoPager,
        Self::DryRun,
        Self::Confirm,
        Self::Timeout,
        Self::Verbose,
    ];

    const fn row(self) -> FlagRow {
        match self {
            Self::Quiet => ("quiet", &["--quiet"], None),
            Self::Limit => ("limit", &["--limit", "{n}"], Some("{n}")),
            Self::NoInput => ("no_input", &[], None),
            Self::NoPager => ("no_pager", &[], None),
            Self::DryRun => ("dry_run", &["--dry-run"], None),
            Self::Confirm => ("confirm", &["--yes"], None),
            Self::Timeout => ("timeout", &["--timeout", "{seconds}"], Some("{seconds}")),
            Self::Verbose => ("verbose", &["--verbose"], None),
        }
    }

    /// Returns the key of the option in the configuration, such as `dry_run`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    fn default_spelling(self) -> FormatFlag {
        match self.row().1 {
            [] => FormatFlag::Unspecified,
            words => FormatFlag::Given(words.iter().map(|word| (*word).to_owned()).collect()),
        }
    }

    /// Returns `args`, which spell this option, with `value` in place of the placeholder: `--limit {n}` becomes
    /// `--limit 5`.
    pub fn with_value(self, args: &[String], value: &str) -> Vec<String> {
        let fill = |arg: &String| {
            self.row().2.map_or_else(|| arg.clone(), |placeholder| arg.replace(placeholder, value))
        };
        args.iter().map(fill).collect()
    }
}

/// The arguments with which a target spells each common option. The default value has the usual spellings, such as
/// `--quiet`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommonOptions(BTreeMap<CommonOption, FormatFlag>);

impl Default for CommonOptions {
    fn default() -> Self {
        Self(CommonOption::ALL.into_iter().map(|flag| (flag, flag.default_spelling())).collect())
    }
}

impl CommonOptions {
    /// Returns the arguments that spell `flag`, or that they are absent or unspecified.
    pub fn get(&self, flag: CommonOption) -> &FormatFlag {
        // A recording may be older than the flag.
        self.0.get(&flag).unwrap_or(&FormatFlag::Unspecified)
    }
}

/// Removes the key `flags.dry_run.exit` from a section and returns its value, if there is one. The table
/// `flags.dry_run` is replaced by its `args`.
pub(super) fn take_dry_run_exit(section: &mut Section<'_>) -> Option<i32> {
    let mut flags = section.take("flags")?;
    let dry_run = flags.get_mut("dry_run").map(Json::take);
    let exit = dry_run.as_ref().and_then(|table| i32::try_from(table.get("exit")?.as_i64()?).ok());
    if let Some(mut dry_run) = dry_run {
        flags["dry_run"] = dry_run.get_mut("args").map(Json::take).unwrap_or(dry_run);
    }
    section.set("flags", flags);
    exit
}

/// Placeholder for the name of a shell, such as `bash`, in the arguments that print a completion script.
pub const SHELL_PLACEHOLDER: &str = "{shell}";
