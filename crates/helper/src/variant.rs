//! Variants: the conditions under which a probe runs, such as a terminal or a slow reader of stdout.

use crate::added_variables::{
    AGENTS_AND_CI, ASCII, ASCII_LOCALE, COLOUR, DEBUG, Environment, HOSTILE_ENVIRONMENTS, LOCALE, NARROW,
    TURKISH, TURKISH_LOCALE, Variables,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A condition under which a probe runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Pipes that are read immediately, stdin at `/dev/null`.
    Plain,
    /// Stdout is a terminal; stderr remains a pipe.
    Tty,
    /// The reader of stdout pauses before it reads.
    SlowReader,
    /// Stdout is a regular file.
    File,
    /// The read end of stdout is closed before the first byte.
    ClosedPipe,
    /// Environment variables that change the output of tools: colour, debug, locale, CI, agents and width.
    HostileEnv,
    /// The same run as under `plain`, a second time.
    Repeat,
    /// Stdin is an open pipe without data, on which a prompt waits.
    OpenStdin,
    /// Stdin is a terminal without input; stdout and stderr are pipes.
    TerminalIn,
    /// Stdin, stdout and stderr are one terminal, without input.
    FullTerminal,
    /// Pipes, as for `plain`, with a `TERM` that supports colours.
    ColourPipe,
    /// Stdout is a terminal, and the environment disables colours.
    NoColour,
    /// Stdout is a terminal, and `PAGER` is empty, which disables pagers.
    NoPager,
    /// Stdout is `/dev/full`: every write to it fails.
    Full,
    /// No home folder; or a home folder that contains a configuration file that no parser accepts.
    Bare,
    /// The XDG variables name folders outside the home.
    Xdg,
    /// The call was made before in the same home.
    UsedHome,
    /// The home cannot be written to.
    ReadOnlyHome,
    /// The home does not contain the configuration file of the target.
    Unconfigured,
}

/// Age of old files in the home. Tools usually look for an update once per day or week.
pub const OLD: Duration = Duration::from_hours(30 * 24);

const XTERM: Variables = &[("TERM", "xterm-256color")];
const TERMINAL: &[Environment] = &[("", &[XTERM])];
const TTY: &[Environment] = &[("", &[XTERM]), ("colour, debug, locale", &[XTERM, COLOUR, DEBUG, LOCALE])];
const SLOW_READER: &[Environment] = &[
    ("", &[]),
    ("agents and CI", &[AGENTS_AND_CI]),
    ("agents and CI, 20 columns, ASCII, old home", &[AGENTS_AND_CI, NARROW, ASCII]),
];
const FILE: &[Environment] =
    &[("", &[]), ("open stdin", &[]), ("open stdin, Turkish, used home", &[TURKISH])];
const NO_COLOUR: &[Environment] =
    &[("NO_COLOR", &[XTERM, &[("NO_COLOR", "1")]]), ("TERM=dumb", &[&[("TERM", "dumb")]])];
const NO_PAGER: &[Environment] = &[("PAGER=", &[XTERM, &[("PAGER", "")]])];
const BARE: &[Environment] = &[("no home", &[]), ("invalid configuration", &[])];
const USED_HOME: &[Environment] = &[("second run", &[]), ("third run, old files", &[])];

impl Variant {
    /// Returns the name of the variant in reports, such as `slow-reader`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Tty => "tty",
            Self::SlowReader => "slow-reader",
            Self::File => "file",
            Self::ClosedPipe => "closed-pipe",
            Self::HostileEnv => "hostile-env",
            Self::Repeat => "repeat",
            Self::OpenStdin => "open-stdin",
            Self::TerminalIn => "terminal-in",
            Self::FullTerminal => "full-terminal",
            Self::ColourPipe => "colour-pipe",
            Self::NoColour => "no-colour",
            Self::NoPager => "no-pager",
            Self::Full => "full",
            Self::Bare => "bare",
            Self::Xdg => "xdg",
            Self::UsedHome => "used-home",
            Self::ReadOnlyHome => "read-only-home",
            Self::Unconfigured => "unconfigured",
        }
    }

    /// Returns the environments of this variant, in each of which it adds other variables.
    /// [`Job::environment`](crate::Job::environment) is an index into them. Empty if the variant adds no variables.
    pub const fn environments(self) -> &'static [Environment] {
        match self {
            Self::HostileEnv => HOSTILE_ENVIRONMENTS,
            Self::Tty => TTY,
            Self::SlowReader => SLOW_READER,
            Self::File => FILE,
            Self::TerminalIn | Self::FullTerminal | Self::ColourPipe => TERMINAL,
            Self::NoColour => NO_COLOUR,
            Self::NoPager => NO_PAGER,
            Self::Bare => BARE,
            Self::UsedHome => USED_HOME,
            _ => &[],
        }
    }

    /// Returns the names and values of the variables that the environment with index `nth` adds.
    pub fn added_variables(self, nth: u8) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (_, groups) = self.environments().get(usize::from(nth)).copied().unwrap_or_default();
        groups.iter().copied().flatten().copied()
    }

    /// Whether stdin is an open pipe without data in the environment with index `nth`.
    pub const fn opens_stdin(self, nth: u8) -> bool {
        matches!(self, Self::OpenStdin) || matches!(self, Self::File) && nth > 0
    }

    /// Whether most calls behave differently under this condition than when another program reads their output.
    /// Outcomes under such a condition are used only by checks that need it.
    pub const fn is_special(self) -> bool {
        use Variant::{
            Bare, ColourPipe, Full, FullTerminal, NoColour, NoPager, ReadOnlyHome, TerminalIn, Unconfigured,
            Xdg,
        };
        matches!(
            self,
            TerminalIn
                | FullTerminal
                | ColourPipe
                | NoColour
                | NoPager
                | Full
                | Bare
                | Xdg
                | ReadOnlyHome
                | Unconfigured
        )
    }

    /// Whether stdout is a terminal under this condition.
    pub const fn has_terminal_out(self) -> bool {
        matches!(self, Self::Tty | Self::FullTerminal | Self::NoColour | Self::NoPager)
    }

    /// Whether the environment with index `nth` has a locale that only the checks of locales judge.
    pub const fn has_rare_locale(self, nth: u8) -> bool {
        matches!(self, Self::HostileEnv) && matches!(nth, ASCII_LOCALE | TURKISH_LOCALE)
    }

    /// Returns how often the call is made in the same home before the run, in the environment with index `nth`.
    pub const fn earlier_calls(self, nth: u8) -> usize {
        match (self, nth) {
            (Self::UsedHome, 0) | (Self::File, 2) => 1,
            (Self::UsedHome, 1) | (Self::SlowReader, 2) => 2,
            _ => 0,
        }
    }

    /// Whether the files in the home are made [`OLD`] before the run in the environment with index `nth`.
    pub const fn has_old_files(self, nth: u8) -> bool {
        self.earlier_calls(nth) == 2
    }

    /// Whether a run has no home folder in the environment with index `nth`.
    pub const fn lacks_home(self, nth: u8) -> bool {
        matches!(self, Self::Bare) && nth == 0
    }
}
