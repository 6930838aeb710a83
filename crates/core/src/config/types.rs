//! The settings, valid: what the rest of the program works with.

use super::{Asking, Conventions, Date, Flag};
use crate::model::{Edition, Level, OutputFormat};
use agentnative_contract::Contract;
use agentnative_helper::Limits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What a configuration is held against: the names that exist, and the day.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// IDs of the checks.
    pub checks: &'a [&'a str],
    /// Names of the bundled contracts.
    pub contracts: &'a [&'a str],
    /// The day that waivers are compared with.
    pub today: Date,
}

/// A valid `agentnative.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The file.
    pub path: PathBuf,
    /// The digest of its bytes: `xxh128:` and 32 hexadecimal digits, as `xxh128sum` prints them. Empty for text
    /// that was not read from a file.
    pub digest: String,
    /// Its folder: what relative paths in it are relative to.
    pub root: PathBuf,
    /// The targets: one without a name, or one or more with names. Never empty.
    pub targets: Vec<TargetConfig>,
    /// The probes, in the order of the file.
    pub probes: Vec<ProbeConfig>,
    /// The services, in the order of the file.
    pub services: Vec<ServiceConfig>,
    /// The waivers, in the order of the file.
    pub waivers: Vec<Waiver>,
    /// Which checks are made, and which warnings fail.
    #[serde(default)]
    pub check: CheckConfig,
}

/// What `[check]` says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckConfig {
    /// Not the checks of these IDs; a `*` stands for any part of an ID (see [`crate::model::matches`]).
    pub skip: Vec<String>,
    /// Levels whose warnings count as failures: `should`, or none.
    pub deny: Vec<Level>,
    /// The edition of the standard.
    #[serde(default)]
    pub edition: Edition,
}

impl Config {
    /// The probes of a target, in the order of the file.
    pub fn probes_of<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = &'a ProbeConfig> {
        self.probes.iter().filter(|probe| probe.target == target.name)
    }

    /// The services of a target, in the order of the file.
    pub fn services_of<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = &'a ServiceConfig> {
        self.services.iter().filter(|service| service.target == target.name)
    }

    /// The waivers that a target can have use for: all but those of another target's probes.
    pub fn waivers_of(&self, target: &TargetConfig) -> Vec<Waiver> {
        let foreign = |name: &String| {
            self.probes.iter().any(|probe| probe.name == *name && probe.target != target.name)
        };
        self.waivers.iter().filter(|waiver| !waiver.probe.as_ref().is_some_and(foreign)).cloned().collect()
    }
}

/// What is said of a target. The default is that of a target without a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetConfig {
    /// The name in `[target.NAME]`; none for `[target]`.
    pub name: Option<String>,
    /// Program and leading arguments, as written: a program with a `/` is relative to
    /// [`Config::root`], another is found on PATH. None: it is found from the manifest.
    pub command: Option<Vec<String>>,
    /// The contract that the whole target is held to: a bundled contract's name, or the path of a contract
    /// folder or schema file as written.
    pub contract: Option<String>,
    /// The conventions of its command line.
    #[serde(flatten)]
    pub conventions: Conventions,
    /// The exit code of its dry runs, where that is not the one of the call.
    pub dry_run_exit: Option<i32>,
    /// The command that builds it, before the first run.
    pub build: Option<Vec<String>>,
    /// The files that its runs find in their fresh home: the path there, and the absolute path of the file.
    pub home: BTreeMap<String, PathBuf>,
    /// Files and folders of its code that print, relative to [`Config::root`]; they are found when none
    /// are named.
    pub output_modules: Vec<String>,
    /// Whether an unknown command is tried; none where its help decides.
    pub unknown_command: Option<bool>,
    /// Variables that its runs get.
    pub env: BTreeMap<String, String>,
    /// Names of the variables of our own environment that its runs get.
    pub pass_env: Vec<String>,
    /// Time limit of a run.
    pub timeout: Duration,
    /// How much a run may use.
    pub limits: Limits,
    /// Whether its runs are confined.
    pub isolation: Isolation,
    /// Its runs have the network of the machine though they are confined.
    pub network: bool,
    /// Its runs write to the folder that they start in.
    pub writes: bool,
    /// What its runs see of the home of the user, as absolute paths.
    pub readable: Vec<PathBuf>,
}

impl Default for TargetConfig {
    /// The usual conventions, ten seconds a run.
    fn default() -> Self {
        Self {
            name: None,
            command: None,
            contract: None,
            conventions: Conventions::default(),
            dry_run_exit: None,
            build: None,
            home: BTreeMap::new(),
            output_modules: Vec::new(),
            unknown_command: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            timeout: Duration::from_secs(10),
            limits: Limits::default(),
            isolation: Isolation::default(),
            network: false,
            writes: false,
            readable: Vec::new(),
        }
    }
}

/// Whether the runs of a target are confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// They are not.
    None,
    /// With Landlock, as far as the kernel can.
    #[serde(alias = "sandbox")]
    Landlock,
    /// With the best that the system has.
    #[default]
    Auto,
    /// With namespaces; without them, nothing is run.
    Require,
}

impl Isolation {
    /// All of them, with their names.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("none", Self::None),
        ("landlock", Self::Landlock),
        ("auto", Self::Auto),
        ("require", Self::Require),
    ];
    /// What it was called before there were several kinds.
    pub const ALIAS: (&'static str, Self) = ("sandbox", Self::Landlock);
}

impl TargetConfig {
    /// Takes over what a contract for the whole target says: how its format is asked for, the error channel,
    /// the exit codes.
    pub fn take(&mut self, contract: &Contract) {
        if let Some(ask) = contract.ask() {
            self.conventions.formats.declare(contract.framing().format(), ask.to_vec());
        }
        self.conventions.errors = contract.errors().unwrap_or(self.conventions.errors);
        let codes = contract.exit_codes();
        if !codes.is_empty() {
            self.conventions.exit_codes = codes;
            self.conventions.exit_codes_declared = true;
        }
    }
}

/// A list that a call prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListConfig {
    /// Where its items are in the json document: an RFC 6901 pointer.
    pub items: String,
    /// How many there are at most without a limit; none where that is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// How the target is called, and what the call is, as it is declared; the same for a probe that is derived from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallConfig {
    /// The arguments, in which an element `"{format}"` may mark the place of the format's.
    pub args: Vec<String>,
    /// The exit code that is expected is an outcome: standard output is data, and nothing is an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub result: bool,
    /// Words of which its message has to contain one, because they help: a command, a setting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedy: Vec<String>,
    /// What its output is held to, by format. A path is absolute once the contract is loaded.
    #[serde(default)]
    pub contract: Contracts,
    /// How it is asked for a format, or that it has none, where that is not as the target says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub asking: BTreeMap<OutputFormat, Asking>,
    /// How common options are spelt in its call, or that it has none, where that is not as the target says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flags: BTreeMap<Flag, Asking>,
    /// It begins to sign in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub login: bool,
    /// It needs the secret of the target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// It works for a while, and can be interrupted once this text was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
    /// Calls of the target that are made before it in its workspace, by their arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Vec<String>>,
    /// Records arrive as they are made.
    pub stream: bool,
    /// The list that it prints; none where it prints none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<ListConfig>,
    /// What is on standard input; none is `/dev/null`.
    pub stdin: Option<Vec<u8>>,
    /// Variables that its runs get; they win over the target's.
    pub env: BTreeMap<String, String>,
    /// Working directory, absolute if the path of the configuration is; none is the target's.
    pub cwd: Option<PathBuf>,
    /// A folder of its own that each run starts in, in the place of a working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Its runs have the network of the machine though they are confined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

/// A declared way to call the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeConfig {
    /// Its name, unique among the probes.
    pub name: String,
    /// Name of the target; none where the target has none.
    pub target: Option<String>,
    /// The call.
    #[serde(flatten)]
    pub call: CallConfig,
    /// The exit code that is expected, 0 to 255.
    pub exit: i32,
    /// The formats that it is run in, as far as the target has them; not empty.
    pub formats: Vec<OutputFormat>,
    /// The exit code of its dry run, where that is not the one of the call.
    pub dry_run_exit: Option<i32>,
    /// What it changes; none where it changes nothing.
    pub effect: Option<EffectConfig>,
    /// Time limit of its runs; none is the target's.
    pub timeout: Option<Duration>,
    /// Its runs write to the folder that they start in.
    pub writes: bool,
}

impl ProbeConfig {
    /// The formats that it is run in, called as a probe of `target`.
    pub fn formats_of<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = OutputFormat> + 'a {
        let asked = |format: &OutputFormat| {
            self.call
                .asking
                .get(format)
                .unwrap_or_else(|| target.conventions.formats.of(*format))
                .args()
                .is_some()
        };
        self.formats.iter().copied().filter(asked)
    }

    /// A probe of these arguments that is expected to succeed, in every format.
    pub fn new(name: impl Into<String>, args: Vec<String>) -> Self {
        Self {
            name: name.into(),
            target: None,
            call: CallConfig { args, ..CallConfig::default() },
            exit: 0,
            formats: OutputFormat::ALL.to_vec(),
            dry_run_exit: None,
            effect: None,
            timeout: None,
            writes: false,
        }
    }
}

/// What stands for the path of the file that holds the secret.
pub const FILE_PLACE: &str = "{file}";

/// What is said of a call that changes something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectConfig {
    /// It has to be confirmed.
    pub destructive: bool,
    /// A second call changes nothing more; `None` where that is not declared.
    pub idempotent: Option<bool>,
    /// The formats that it is run in are declared: it is run in them as a call is that changes nothing, each time in
    /// a folder of its own.
    pub formats_declared: bool,
}

/// The folder that a run starts in, fresh for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Workspace {
    /// An empty one.
    Empty,
    /// A copy of this folder; absolute if the path of the configuration is.
    Copy(PathBuf),
}

/// A program that runs beside the probes of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceConfig {
    /// Name of the target; none where the target has none.
    pub target: Option<String>,
    /// Program and arguments, as written; see [`TargetConfig::command`].
    pub command: Vec<String>,
    /// When it is ready.
    pub ready: Ready,
    /// Variables that the runs of the target get.
    pub env: BTreeMap<String, String>,
}

/// When a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ready {
    /// When a TCP port takes connections: this one, or none for the one that is chosen for it.
    Port(Option<u16>),
    /// When it printed a line that holds this text.
    Line(String),
}

/// What stands for the port that is chosen for a service.
pub const PORT_PLACE: &str = "{port}";
/// What stands in a probe for the address of a server that takes connections and never answers.
pub const STALLED_PLACE: &str = "{stalled}";

/// What the output of a probe is held to, by format: the name of a bundled contract, or the path of
/// a contract folder or schema file as written (see [`agentnative_contract::contract_path`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contracts {
    /// Of the document in `json`.
    pub json: Option<String>,
    /// Of each record, or of the stream, in `jsonl`.
    pub jsonl: Option<String>,
}

impl Contracts {
    /// The names, of json first.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        [&self.json, &self.jsonl].into_iter().flatten()
    }
}

/// A fault that is known and accepted for a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// ID of the check.
    pub check: String,
    /// The probe that it is about; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The format that it is about; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// Why it is accepted; not empty.
    pub reason: String,
    /// The last day that it holds.
    pub expires: Option<Date>,
    /// That day was over when the file was read: it waives nothing any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
}
