//! Which runs the selected checks need: probes, declared and derived, and the plan over them.

mod derive;
mod plan;

pub use derive::{UNKNOWN_COMMAND, UNKNOWN_FLAG, UNKNOWN_FORMAT, derived};
pub use plan::plan;

use crate::report::catalogue::Derived;
use crate::report::{OutputFormat, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The element of a probe's arguments that stands for those that ask for the format.
pub const FORMAT_PLACE: &str = "{format}";

/// One way to call the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its name, unique in a plan.
    pub name: String,
    /// Why it is there.
    pub role: Role,
    /// Arguments; [`FORMAT_PLACE`] marks where those that ask for a format go.
    pub args: Vec<String>,
    /// Whether the arguments that ask for a format are still to be added.
    pub asks_format: bool,
    /// The exit code that it is expected to end with, where one is expected.
    pub exit: Option<i32>,
    /// The formats that it is run in.
    pub formats: Vec<OutputFormat>,
    /// Its JSON lines are made one after the other, not at once.
    pub stream: bool,
    /// Bytes on standard input; none is a null input.
    pub stdin: Option<Vec<u8>>,
    /// Further environment variables.
    pub env: BTreeMap<String, String>,
    /// Working directory; none is the target's.
    pub cwd: Option<PathBuf>,
    /// When a run is ended by force.
    pub timeout: Duration,
}

/// Why a probe is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The configuration or the command line declares it.
    Declared,
    /// It is made.
    Derived {
        /// What it is.
        kind: Derived,
        /// The declared probe that it is made from, if from one.
        of: Option<String>,
    },
}

/// What a target promises about itself, as far as judging needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promises {
    /// How each format is asked for.
    pub formats: BTreeMap<OutputFormat, Vec<String>>,
    /// Where the error object goes in a JSON mode.
    pub errors: Stream,
    /// The exit codes that it has.
    pub exit_codes: Vec<i32>,
    /// How it prints its schema.
    pub schema: Option<Vec<String>>,
    /// Its help lists commands.
    pub has_commands: bool,
}

impl Promises {
    /// The arguments that ask for `format`.
    pub fn asking(&self, format: OutputFormat) -> &[String] {
        self.formats.get(&format).map_or(&[], Vec::as_slice)
    }

    /// Whether formats are asked for with `--output FORMAT`.
    pub fn default_flag(&self, format: OutputFormat) -> bool {
        self.asking(format) == ["--output", format.name()]
    }
}

impl Probe {
    /// Whether the configuration or the command line declares it.
    pub fn is_declared(&self) -> bool {
        self.role == Role::Declared
    }

    /// Whether it is derived, and of this kind.
    pub fn is(&self, kind: Derived) -> bool {
        matches!(&self.role, Role::Derived { kind: own, .. } if *own == kind)
    }

    /// The declared probe that it was made from.
    pub fn of(&self) -> Option<&str> {
        match &self.role {
            Role::Derived { of, .. } => of.as_deref(),
            Role::Declared => None,
        }
    }

    /// The arguments of a run in `format`.
    pub fn call(&self, format: OutputFormat, promises: &Promises) -> Vec<String> {
        if self.asks_format { self.args_with(promises.asking(format)) } else { self.args.clone() }
    }

    /// Its arguments with `asking` in their place: at [`FORMAT_PLACE`], else before a literal `--`,
    /// else at the end.
    pub fn args_with(&self, asking: &[String]) -> Vec<String> {
        let place = self.args.iter().position(|arg| arg == FORMAT_PLACE);
        let rest = match place {
            Some(place) => place + 1,
            None => self.args.iter().position(|arg| arg == "--").unwrap_or(self.args.len()),
        };
        let mut args = self.args[..place.unwrap_or(rest)].to_vec();
        args.extend_from_slice(asking);
        args.extend_from_slice(&self.args[rest..]);
        args
    }
}
