//! The options that many tools share, such as `--quiet`: how a target, or one probe of it, spells them.

use super::formats::Asking;
use super::section::{Section, argv};
use agentnative_contract::spanned_toml::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::de::DeValue;

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
    /// The defaults, but for what is `declared`.
    pub(super) fn declared(declared: BTreeMap<Flag, Asking>) -> Self {
        let mut flags = Self::default();
        flags.0.extend(declared);
        flags
    }

    /// How `flag` is spelt.
    pub fn of(&self, flag: Flag) -> &Asking {
        // A recording may be older than the flag.
        self.0.get(&flag).unwrap_or(&Asking::Undeclared)
    }
}

/// A table of common options, each with its arguments or `false`, at this place of the reference; and the exit code
/// of a dry run, if it has one of its own.
pub(super) fn read(value: &Value<'_>, path: &'static str) -> Option<(BTreeMap<Flag, Asking>, Option<i32>)> {
    let table = value.table("`flags`", "a table, such as flags.quiet = [\"--quiet\"]")?;
    let table = Section::new(table, path);
    let mut exit = None;
    let mut read = |flag: Flag| {
        let value = table.get(flag.name())?;
        if flag != Flag::DryRun || !value.inner.is_table() {
            return spelling(&value, flag.row());
        }
        let path = if path == "target.flags" { "target.flags.dry_run" } else { "probe.flags.dry_run" };
        let table = Section::new(value.table("`dry_run`", "a table with `args`")?, path);
        exit = table.get("exit").and_then(|value| value.exit_code());
        let args = table.require("args", "the arguments of the option, such as args = [\"--check\"]")?;
        spelling(&args, flag.row())
    };
    let flags = Flag::ALL.into_iter().filter_map(|flag| Some((flag, read(flag)?))).collect();
    Some((flags, exit))
}

/// The call that prints completion scripts: its arguments with `{shell}`, or `false`.
pub(super) fn completions(value: &Value<'_>) -> Option<Asking> {
    spelling(value, ("completions", &["completions", SHELL_PLACE], Some(SHELL_PLACE)))
}

/// The call that prints the schema of the output: its arguments, or `false`.
pub(super) fn schema(value: &Value<'_>) -> Option<Asking> {
    spelling(value, ("schema", &["schema"], None))
}

/// The call that installs the instructions for agents: its arguments, or `false`.
pub(super) fn bundle_install(value: &Value<'_>) -> Option<Asking> {
    spelling(value, ("bundle_install", &["skill", "install"], None))
}

/// What stands for the name of the shell in the call that prints its completion script.
pub const SHELL_PLACE: &str = "{shell}";

/// The arguments by which a secret is given: by a file, or by standard input.
pub(super) fn secret_args(
    value: &Value<'_>,
    name: &'static str,
    place: Option<&'static str>,
) -> Option<Vec<String>> {
    let default: &'static [&'static str] =
        if place.is_some() { &["--token-file", "{file}"] } else { &["--token-stdin"] };
    match spelling(value, (name, default, place))? {
        Asking::With(args) => Some(args),
        _ => value.wrong("the arguments by which the secret is given"),
    }
}

fn spelling(value: &Value<'_>, (name, default, place): Row) -> Option<Asking> {
    match value.inner {
        DeValue::Boolean(false) => return Some(Asking::Lacking),
        DeValue::Boolean(true) => {
            return value.wrong("the arguments of the option, or `false` if it does not exist");
        }
        _ => {}
    }
    let args = argv(value)?;
    let used = || args.iter().flat_map(|arg| places(arg));
    if let Some(other) = used().find(|used| Some(*used) != place) {
        let expected = place.map_or_else(|| "no placeholder".to_owned(), |place| format!("only `{place}`"));
        return value.fault(&format!("`{name}` contains the placeholder `{other}`; expected {expected}"));
    }
    match (place, used().count()) {
        (Some(place), 0) => value.fault(&format!(
            "`{name}` does not contain `{place}`, the place of its value; expected such as {default:?}"
        )),
        (Some(place), 2..) => {
            value.fault(&format!("`{name}` contains `{place}` more than once; expected one place"))
        }
        _ => Some(Asking::With(args)),
    }
}

/// The placeholders in an argument: lower-case words in braces.
fn places(arg: &str) -> impl Iterator<Item = &str> {
    arg.match_indices('{').filter_map(|(at, _)| {
        let end = at + arg[at..].find('}')?;
        let word = &arg[at + 1..end];
        let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_word.then(|| &arg[at..=end])
    })
}
