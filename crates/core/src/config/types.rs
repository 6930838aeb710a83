//! The settings of a validated configuration.

use super::{CommonOption, Conventions, Date, FormatFlag};
use crate::model::{Edition, Level, OutputFormat};
use agentnative_contract::Contract;
use agentnative_helper::Limits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What the validation of a configuration needs to know: the existing checks and contracts, and the present date.
#[derive(Debug, Clone, Copy)]
pub struct ValidationContext<'a> {
    /// The IDs of all checks.
    pub checks: &'a [&'a str],
    /// The names of the bundled contracts.
    pub contracts: &'a [&'a str],
    /// The date that decides whether a waiver has expired.
    pub today: Date,
}

/// A valid configuration, from `agentnative.toml` or from a table in a manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Path of the configuration file.
    pub path: PathBuf,
    /// Digest of the bytes of the file: `xxh128:` and 32 hexadecimal digits, as `xxh128sum` prints them. Empty for text
    /// that was not read from a file.
    pub digest: String,
    /// Folder of the configuration file. Relative paths in the file are relative to it.
    pub root: PathBuf,
    /// The targets, never empty: a single one without a name, or one or more with names.
    pub targets: Vec<TargetConfig>,
    /// The declared probes, in the order of the file.
    pub probes: Vec<ProbeConfig>,
    /// The services that run during the probes, in the order of the file.
    pub services: Vec<ServiceConfig>,
    /// The accepted problems, in the order of the file.
    pub waivers: Vec<Waiver>,
    /// The settings in the table `[check]`.
    #[serde(default)]
    pub check: CheckConfig,
}

/// The settings in the table `[check]` of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckConfig {
    /// IDs of the checks to omit, or patterns with `*` such as `p2-src-*` ([`crate::model::matches_pattern`]).
    pub skip: Vec<String>,
    /// Levels of checks whose warnings count as failures: `should`, or none.
    pub deny: Vec<Level>,
    /// The edition of the standard that is checked.
    #[serde(default)]
    pub edition: Edition,
}

impl Config {
    /// Returns the probes of this target, in the order of the file.
    pub fn probes_of<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = &'a ProbeConfig> {
        self.probes.iter().filter(|probe| probe.target == target.name)
    }

    /// Returns the services of this target, in the order of the file.
    pub fn services_of<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = &'a ServiceConfig> {
        self.services.iter().filter(|service| service.target == target.name)
    }

    /// Returns the waivers that can apply to this target: all except those that name a probe of another target.
    pub fn waivers_of(&self, target: &TargetConfig) -> Vec<Waiver> {
        let foreign = |name: &String| {
            self.probes.iter().any(|probe| probe.name == *name && probe.target != target.name)
        };
        self.waivers.iter().filter(|waiver| !waiver.probe.as_ref().is_some_and(foreign)).cloned().collect()
    }
}

/// The configuration of a target, the program that is checked. The default value applies to a target without a
/// configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetConfig {
    /// The name in `[target.NAME]`; `None` for `[target]`.
    pub name: Option<String>,
    /// Program and its first arguments, as the configuration contains them. A program with a `/` is relative to
    /// [`Config::root`]; any other is searched on PATH. If `None`, the manifest of the project names the program.
    pub command: Option<Vec<String>>,
    /// The contract of the entire target, as the configuration contains it: the name of a bundled contract, or the path
    /// of a contract folder or schema file.
    pub contract: Option<String>,
    /// How the command line spells options and uses streams and exit codes.
    #[serde(flatten)]
    pub conventions: Conventions,
    /// The exit code of dry runs, if it differs from the exit code of the same call without the dry-run option.
    pub dry_run_exit: Option<i32>,
    /// The command that builds the target before the first run.
    pub build: Option<Vec<String>>,
    /// The files that are copied to the fresh home folder of each run: the path in the home folder, and the absolute
    /// path of the original.
    pub home: BTreeMap<String, PathBuf>,
    /// Source files and folders with the code that prints, relative to [`Config::root`]. If empty, they are detected.
    pub output_modules: Vec<String>,
    /// Whether the target is called with a subcommand that does not exist. If `None`, the help of the target decides.
    pub unknown_command: Option<bool>,
    /// Environment variables that are set for the runs.
    pub env: BTreeMap<String, String>,
    /// Names of the environment variables of this process that the runs inherit.
    pub pass_env: Vec<String>,
    /// Time limit of a run.
    pub timeout: Duration,
    /// Limits on the memory, processes and written bytes of a run.
    pub limits: Limits,
    /// How strongly the runs are confined.
    pub isolation: Isolation,
    /// Whether confined runs have access to the network of the machine.
    pub network: bool,
    /// Whether confined runs of the probes can write to the folder that they start in. If false, their changes to the
    /// folder are discarded.
    pub writes: bool,
    /// Additional absolute paths in the home folder of the user that confined runs can read.
    pub readable: Vec<PathBuf>,
    /// What exploration does not call.
    #[serde(default)]
    pub explore: ExploreConfig,
}

/// The settings of the exploration of a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploreConfig {
    /// Names of the commands that are not called, or patterns with `*` such as `auth *`.
    pub skip: Vec<String>,
}

impl Default for TargetConfig {
    /// Returns the configuration of a target that sets no keys: the default conventions, and ten seconds per run.
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
            explore: ExploreConfig::default(),
        }
    }
}

/// How strongly the runs of a target are confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// No confinement.
    None,
    /// Landlock, as far as the kernel supports it.
    #[serde(alias = "sandbox")]
    Landlock,
    /// The strongest confinement that the system supports.
    #[default]
    Auto,
    /// Namespaces. If the system does not support them, no run is made.
    Require,
}

impl Isolation {
    /// All values, with their names in the configuration.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("none", Self::None),
        ("landlock", Self::Landlock),
        ("auto", Self::Auto),
        ("require", Self::Require),
    ];
    /// The former name of `landlock`, with its value. It dates from when there was only one kind of confinement.
    pub const ALIAS: (&'static str, Self) = ("sandbox", Self::Landlock);
}

impl TargetConfig {
    /// Sets the conventions that a contract for the entire target defines: its format flag, the stream of its errors,
    /// and its exit codes.
    pub fn apply_contract(&mut self, contract: &Contract) {
        if let Some(ask) = contract.format_args() {
            self.conventions.formats.declare(contract.framing().format(), ask.to_vec());
        }
        self.conventions.errors = contract.error_stream().unwrap_or(self.conventions.errors);
        let codes = contract.exit_codes();
        if !codes.is_empty() {
            self.conventions.exit_codes = codes;
            self.conventions.exit_codes_declared = true;
        }
    }
}

/// The list that a call prints: where its items are, and how many there can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListConfig {
    /// RFC 6901 pointer to the array of items in the JSON document.
    pub items: String,
    /// Maximum number of items that the call prints without a limit option; `None` if it is not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// The declared properties of a call of the target. Calls that are derived from it inherit them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallConfig {
    /// The arguments of the call. An element `"{format}"` marks the position of the format flag.
    pub args: Vec<String>,
    /// Whether the expected exit code, even if it is not 0, reports a result instead of an error. Stdout then contains
    /// data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub result: bool,
    /// Words that describe a remedy, such as a command or a setting. The error message has to contain at least one of
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedy: Vec<String>,
    /// The contracts of the output, by format. The path of a contract is absolute once the contract is loaded.
    #[serde(default)]
    pub contract: Contracts,
    /// The arguments that select a format in this call, if they differ from those of the target.
    #[serde(default, rename = "asking", skip_serializing_if = "BTreeMap::is_empty")]
    pub format_flags: BTreeMap<OutputFormat, FormatFlag>,
    /// The arguments that spell common options in this call, if they differ from those of the target.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flags: BTreeMap<CommonOption, FormatFlag>,
    /// Whether the call starts a login of the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub login: bool,
    /// Whether the call needs the secret of the target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// Text in the output of a long-running call after which the call can be interrupted; `None` for any other call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
    /// Arguments of other calls of the target that run before this call in its workspace, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Vec<String>>,
    /// Whether the call prints its records one by one while it works, instead of all at its end.
    pub stream: bool,
    /// The list that the call prints, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<ListConfig>,
    /// Whether the call finds no items, so that its list is empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
    /// Whether the items that the call prints have no order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unordered: bool,
    /// The bytes that the call reads from stdin; if `None`, stdin is `/dev/null`.
    pub stdin: Option<Vec<u8>>,
    /// Environment variables of the runs. They override the environment variables of the target.
    pub env: BTreeMap<String, String>,
    /// Working directory, absolute if the path of the configuration is; if `None`, the working directory of the target.
    pub cwd: Option<PathBuf>,
    /// The fresh folder that each run starts in; `None` if the runs start in a working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Whether confined runs have access to the network of the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

/// A declared probe: a call of the target with its expectations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeConfig {
    /// The name of the probe, unique among the probes.
    pub name: String,
    /// Name of the target that the probe calls; `None` if the target has no name.
    pub target: Option<String>,
    /// The arguments, environment and other properties of the call.
    #[serde(flatten)]
    pub call: CallConfig,
    /// The expected exit code, 0 to 255.
    pub exit: i32,
    /// The formats in which the probe runs, if the target has them; not empty.
    pub formats: Vec<OutputFormat>,
    /// The exit code of a dry run, if it differs from `exit`.
    pub dry_run_exit: Option<i32>,
    /// The effect of a call that changes something; `None` for any other call.
    pub effect: Option<EffectConfig>,
    /// Time limit of a run; if `None`, the time limit of the target.
    pub timeout: Option<Duration>,
    /// Whether confined runs of this probe can write to the folder that they start in. If false, the setting of the
    /// target applies.
    pub writes: bool,
}

impl ProbeConfig {
    /// Returns the formats of the probe that have a format flag, declared in the probe or else in `target`.
    pub fn formats_for<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = OutputFormat> + 'a {
        let has_flag = |format: &OutputFormat| {
            self.call
                .format_flags
                .get(format)
                .unwrap_or_else(|| target.conventions.formats.get(*format))
                .args()
                .is_some()
        };
        self.formats.iter().copied().filter(has_flag)
    }

    /// Creates a probe with these arguments that runs in all formats and is expected to exit with 0.
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

/// Placeholder in arguments for the path of a file that contains the secret.
pub const FILE_PLACEHOLDER: &str = "{file}";

/// The declared effect of a call that changes something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectConfig {
    /// Whether the call destroys something, so that an option has to confirm it.
    pub destructive: bool,
    /// Whether a second call changes nothing more; `None` if this is not declared.
    pub idempotent: Option<bool>,
    /// Whether the probe declares its formats. If so, the call runs in each of them, like a call that changes nothing,
    /// and each run gets a fresh workspace.
    pub formats_declared: bool,
}

/// The fresh folder that each run starts in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Workspace {
    /// An empty folder.
    Empty,
    /// A copy of this folder. The path is absolute if the path of the configuration is.
    Copy(PathBuf),
}

/// A service: a program that runs during the probes of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceConfig {
    /// Name of the target that needs the service; `None` if the target has no name.
    pub target: Option<String>,
    /// Program and arguments of the service, in the form of [`TargetConfig::command`].
    pub command: Vec<String>,
    /// The condition under which the service is ready.
    pub ready: Ready,
    /// Environment variables that the service adds to the runs of the target.
    pub env: BTreeMap<String, String>,
}

/// The condition under which a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ready {
    /// A TCP port accepts connections: this port or, if `None`, the port that is chosen for the service.
    Port(Option<u16>),
    /// The service has printed a line that contains this text.
    Line(String),
}

/// Placeholder for the TCP port that is chosen for a service.
pub const PORT_PLACEHOLDER: &str = "{port}";
/// Placeholder in a probe for the address of a server that accepts connections and never answers.
pub const STALLED_PLACEHOLDER: &str = "{stalled}";

/// The contracts of the output of a probe, as the configuration contains them. Each is the name of a bundled contract,
/// or the path of a contract folder or schema file ([`agentnative_contract::contract_path`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contracts {
    /// The contract of the document that the probe prints in `json`.
    pub json: Option<String>,
    /// The contract of each record, or of all records together, in `jsonl`.
    pub jsonl: Option<String>,
}

impl Contracts {
    /// Returns the names of the contracts, the one for `json` first.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        [&self.json, &self.jsonl].into_iter().flatten()
    }
}

/// A waiver: an accepted problem, with a reason and an optional last day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// ID of the check whose problem is accepted.
    pub check: String,
    /// Name of the probe that the waiver applies to; `None` for all probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The format that the waiver applies to; `None` for all formats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// The reason for accepting the problem; not empty.
    pub reason: String,
    /// The last day on which the waiver applies; `None` if it does not expire.
    pub expires: Option<Date>,
    /// Whether the last day had passed when the file was read, so that the waiver no longer applies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
}
