//! The options that many tools share, such as `--quiet`: how a target, or one probe of it, spells them.

use super::formats::Asking;
use super::section::Section;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A common option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// Prints data and errors only.
    Quiet,
    /// Prints at most so many items.
    Limit,
    /// Asks no questions.
    NoInput,
    /// Shows nothing page by page.
    NoPager,
    /// Shows what a call would change, and changes nothing.
    DryRun,
    /// Confirms a call that destroys something.
    Confirm,
    /// Limits the time that a call takes.
    Timeout,
    /// Prints more details.
    Verbose,
}

/// Its key in the file, its default spelling, and what stands for its value in a spelling.
type Row = (&'static str, &'static [&'static str], Option<&'static str>);

impl Flag {
    /// All of them, in the order of the reference.
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

    const fn row(self) -> Row {
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

    /// Its key in the file.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// How it is spelt where nobody says so.
    fn default(self) -> Asking {
        match self.row().1 {
            [] => Asking::Undeclared,
            words => Asking::With(words.iter().map(|word| (*word).to_owned()).collect()),
        }
    }

    /// The arguments of a spelling, with this value in its place.
    pub fn with_value(self, args: &[String], value: &str) -> Vec<String> {
        let fill = |arg: &String| self.row().2.map_or_else(|| arg.clone(), |place| arg.replace(place, value));
        args.iter().map(fill).collect()
    }
}

/// How each common option is spelt. The default is that of a target that does not say so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags(BTreeMap<Flag, Asking>);

impl Default for Flags {
    fn default() -> Self {
        Self(Flag::ALL.into_iter().map(|flag| (flag, flag.default())).collect())
    }
}

impl Flags {
    /// How `flag` is spelt.
    pub fn of(&self, flag: Flag) -> &Asking {
        // A recording may be older than the flag.
        self.0.get(&flag).unwrap_or(&Asking::Undeclared)
    }
}

/// Takes the exit code of a dry run out of the options of a section, where it has one of its own.
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

/// What stands for the name of the shell in the call that prints its completion script.
pub const SHELL_PLACE: &str = "{shell}";
