//! The common options, which many tools share, such as `--quiet`, and their spelling in a target or probe.

use super::formats::FormatFlag;
use super::section::Section;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A common option, which many tools share under different spellings.
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

/// Key in the file, default spelling, and placeholder of the value in a spelling.
type FlagRow = (&'static str, &'static [&'static str], Option<&'static str>);

impl CommonOption {
    /// All common options, in the order of the reference.
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

    /// Returns the key in the file.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    fn default_spelling(self) -> FormatFlag {
        match self.row().1 {
            [] => FormatFlag::Unspecified,
            words => FormatFlag::Given(words.iter().map(|word| (*word).to_owned()).collect()),
        }
    }

    /// Returns the arguments of a spelling with `value` in place of its placeholder.
    pub fn with_value(self, args: &[String], value: &str) -> Vec<String> {
        let fill = |arg: &String| {
            self.row().2.map_or_else(|| arg.clone(), |placeholder| arg.replace(placeholder, value))
        };
        args.iter().map(fill).collect()
    }
}

/// The spelling of each common option. The default applies to a target that declares none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommonOptions(BTreeMap<CommonOption, FormatFlag>);

impl Default for CommonOptions {
    fn default() -> Self {
        Self(CommonOption::ALL.into_iter().map(|flag| (flag, flag.default_spelling())).collect())
    }
}

impl CommonOptions {
    /// Returns the spelling of `flag`.
    pub fn get(&self, flag: CommonOption) -> &FormatFlag {
        // A recording may be older than the flag.
        self.0.get(&flag).unwrap_or(&FormatFlag::Unspecified)
    }
}

/// Removes the exit code of a dry run from the `flags` of a section and returns it, if there is one.
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

/// Placeholder for the name of the shell in the call that prints its completion script.
pub const SHELL_PLACEHOLDER: &str = "{shell}";
